"""`arena join`: lets a bot on this machine play on a server elsewhere."""

from __future__ import annotations

import os
from math import inf
from typing import Annotated

import typer

from arena_server.cli.options import AsJson


def join(  # noqa: PLR0913 - each option is one of the user's choices
    bot: Annotated[str, typer.Argument(metavar="BOT", help="A folder, a .py file, a zip or an example bot.")],
    *,
    server: Annotated[
        str, typer.Option(envvar="ARENA_SERVER", metavar="HOST:PORT", help="Where the server is.")
    ] = "127.0.0.1:5400",
    token: Annotated[str, typer.Option(envvar="ARENA_TOKEN", help="The bot's; others can read it in --token.")],
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Its name in the registry.  [default: the bot's own]")
    ] = None,
    version: Annotated[str, typer.Option(help="Its version in the registry.  [default: the newest]")] = "",
    ca: Annotated[
        str, typer.Option(envvar="ARENA_CA", metavar="FILE", help="Who vouches for it, PEM.  [default: the system's]")
    ] = "",
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Plain wire beyond this machine.  [default: ARENA_INSECURE]")
    ] = False,
    games: Annotated[int | None, typer.Option(min=1, help="Leave after so many games.")] = None,
    until_sigma: Annotated[float | None, typer.Option(metavar="S", help="Leave once the rating is so sure.")] = None,
    as_json: AsJson = False,
) -> None:
    """Let a bot on this machine play on a server elsewhere.

    Ctrl-C or SIGTERM once finishes its running games and leaves, twice resigns them.
    """
    from arena_server.author.joining import Joining
    from arena_server.cli.output import show_json
    from arena_server.launching.bots import resolve
    from arena_server.model import UserError

    if until_sigma is not None and not 0 < until_sigma < inf:
        raise UserError("not a deviation to leave at", str(until_sigma), "give a number above 0, as --until-sigma 1")
    insecure = insecure or bool(os.environ.get("ARENA_INSECURE"))
    found = resolve(bot)
    joining = Joining(found, server, token, name or found.manifest.name, version, ca, insecure, games, until_sigma)
    code, rated = joining.run()
    if rated is not None and as_json:
        show_json(rated.as_dict())
    elif rated is not None:
        print(rated.told())
    if code:
        raise typer.Exit(code)
