"""`arena bots`: who may play on a standing server. Works on its database, also while it runs, or through its socket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from arena_server.cli.options import AsJson, Db, Socket, group

if TYPE_CHECKING:
    from arena_server.store.registry import Registered

bots = group("Register, list and retire bots that play on a standing server.")

Bot = Annotated[str, typer.Argument(metavar="BOT", help="Its name: letters, digits, '.', '_' and '-'.")]


@bots.command()
def add(  # noqa: PLR0913 - each option is one of the user's choices
    bot: Bot,
    *,
    owner: Annotated[str, typer.Option(help="Whose it is; bots of one owner do not play rated games.")],
    version: Annotated[str, typer.Option(help="Its version: each is rated for itself.")] = "1",
    retire_old: Annotated[
        bool, typer.Option("--retire-old", help="Take its earlier versions out of the field.")
    ] = False,
    server: Socket = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Register a bot, or a new version of one. A bot that is new gets a token, shown this once."""
    from arena_server.cli.output import administrator, show_json

    with administrator(db, server, quiet=as_json, create=True) as office:
        added = office.add(bot, version, owner, retire_old=retire_old)
    if as_json:
        show_json({"bot": bot, "version": version, "owner": owner, "retired": added.retired, "token": added.token})
        return
    print(f"{bot} {version} of {owner} is registered")
    for old in added.retired:
        print(f"{bot} {old} is retired: what it has played counts")
    if added.token:
        print(f"its token, which is not shown again: {added.token}")


@bots.command("list")
def list_(*, server: Socket = None, db: Db = None, as_json: AsJson = False) -> None:
    """List every version of every bot."""
    from dataclasses import asdict

    from arena_server.cli.grids import Column, Grid
    from arena_server.cli.output import administrator, show, show_json

    with administrator(db, server, quiet=as_json) as office:
        found = office.bots()
    if as_json:
        show_json({"bots": [asdict(one) for one in found]})
        return
    names = ("bot", "version", "owner", "added", "retired", "tokens")
    columns = (*[Column(name, left=True) for name in names], Column("admission", left=True, wraps=True))
    show(Grid(columns, [_row(one) for one in found]))


def _row(one: Registered) -> Sequence[str]:
    hints = " ".join(f"{hint}..." for hint in one.tokens)
    return one.bot, one.version, one.owner, one.created, one.retired or "", hints, one.admission


@bots.command()
def retire(
    bot: Bot,
    *,
    version: Annotated[str | None, typer.Option(help="Which one.  [default: all that play]")] = None,
    server: Socket = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Take a bot, or one version of it, out of the field. What it has played counts."""
    from arena_server.cli.output import administrator, show_json

    with administrator(db, server, quiet=as_json) as office:
        retired = office.retire(bot, version)
    if as_json:
        show_json({"bot": bot, "retired": retired})
        return
    for one in retired:
        print(f"{bot} {one} is retired: what it has played counts")
