"""`arena token`: what a registered bot proves with who it is. On the server's database or through its socket."""

from __future__ import annotations

from typing import Annotated

import typer

from arena_server.cli.options import AsJson, Db, Socket, group

token = group("Give a registered bot a token, change it or take it away.")

Bot = Annotated[str, typer.Argument(metavar="BOT", help="Name of the registered bot.")]


@token.command()
def new(bot: Bot, *, server: Socket = None, db: Db = None, as_json: AsJson = False) -> None:
    """Give the bot one more token. It is shown this once, and stored as its SHA-256."""
    _give(bot, db, server, instead=False, as_json=as_json)


@token.command()
def rotate(bot: Bot, *, server: Socket = None, db: Db = None, as_json: AsJson = False) -> None:
    """Give the bot a token in place of all that it has."""
    _give(bot, db, server, instead=True, as_json=as_json)


@token.command()
def revoke(
    bot: Bot,
    beginning: Annotated[
        str, typer.Argument(metavar="TOKEN", help="The one that is meant, or its first 12 characters; nothing: all.")
    ] = "",
    *,
    server: Socket = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Make tokens good no more. A bot that is connected with one of them has to leave."""
    from arena_server.cli.output import administrator, show_json

    with administrator(db, server, quiet=as_json) as office:
        revoked = office.revoke(bot, beginning)
    if as_json:
        show_json({"bot": bot, "revoked": revoked})
    else:
        print(f"{revoked} {'token' if revoked == 1 else 'tokens'} of {bot} revoked")


def _give(bot: str, db: str | None, server: str | None, *, instead: bool, as_json: bool) -> None:
    from arena_server.cli.output import administrator, show_json

    with administrator(db, server, quiet=as_json) as office:
        given = office.new_token(bot, instead=instead)
    if as_json:
        show_json({"bot": bot, "token": given})
    else:
        print(f"the token of {bot}, which is not shown again: {given}")
