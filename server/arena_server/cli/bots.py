"""`arena bots`: who may play on a standing server. Works on its database, also while it runs, or through its socket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from arena_server.cli.options import AsJson, Ca, Db, Insecure, OfTournament, Server, Socket, group

if TYPE_CHECKING:
    from arena_server.store.registry import Registered

bots = group("Register, list, show and retire bots that play on a standing server.")

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
    from arena_server.cli.output import administrator, say, show, show_json

    with administrator(db, server, quiet=as_json) as office:
        found = office.bots()
    if as_json:
        show_json({"bots": [asdict(one) for one in found]})
        return
    columns = (
        Column("bot", left=True),
        Column("version", left=True),
        Column("owner", left=True, spare=1),
        Column("added", left=True, spare=3),
        Column("open", left=True, spare=2),
        Column("tokens", left=True, wraps=True, spare=4),
        Column("state", left=True, cut=True),
    )
    show(Grid(columns, [_row(one) for one in found]))
    if any(one.admission.startswith("failed") for one in found):
        print()
        say("all about a test that failed: arena bots admission BOT")


def _row(one: Registered) -> Sequence[str]:
    from arena_server.cli.tables import day

    state = one.admission if one.retired is None else f"retired {day(one.retired)}"
    hints = " ".join(f"{hint}..." for hint in one.tokens)
    return one.bot, one.version, one.owner, day(one.created), "open" if one.is_open else "", hints, state


@bots.command()
def admission(
    bot: Bot,
    *,
    version: Annotated[str | None, typer.Option(help="Which one.  [default: the newest]")] = None,
    server: Socket = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Show the admission tests of a version.

    Of the last one that failed, the game is shown, too.
    """
    from arena_server.cli.game_report import report_dict, report_text
    from arena_server.cli.grids import Column, Grid
    from arena_server.cli.output import administrator, show, show_json
    from arena_server.cli.tables import moment
    from arena_server.store.records import unlisted

    with administrator(db, server, quiet=as_json) as office:
        found = office.admission(bot, version)
    games = [one.game for one in found]
    if as_json:
        reports = [None if game is None else report_dict(unlisted(game), game, listed=False) for game in games]
        told = [
            {"version": one.version, "at": one.at, "passed": one.passed, "why": one.why, "game": report}
            for one, report in zip(found, reports, strict=True)
        ]
        show_json({"bot": bot, "tests": told})
        return
    if not found:
        print(f"{bot} was not tested yet")
        return
    columns = (
        Column("version", left=True, spare=1),
        Column("at (UTC)", left=True),
        Column("result", left=True, wraps=True),
    )
    show(Grid(columns, [(one.version, moment(one.at), one.why or "passed") for one in found]))
    for game in games:
        if game is not None:
            print(f"\n{report_text(unlisted(game), game, listed=False)}")


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


@bots.command()
def show(  # noqa: PLR0913 - each option is one of the reader's choices
    bot: Annotated[
        str, typer.Argument(metavar="BOT", help="A name (in a season: the version that plays), or name and version.")
    ],
    *,
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many games.")] = 20,
    before: Annotated[int | None, typer.Option(min=1, max=10**9, help="Only games before this number.")] = None,
    tournament: OfTournament = None,
    server: Server = None,
    ca: Ca = None,
    insecure: Insecure = False,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Show how a bot does in a tournament.

    That is its rank, its opponents, its last games, and how long it takes for a move.
    """
    from arena_server.cli.bot_report import print_report, report_dict
    from arena_server.cli.output import reader, show_json

    with reader(db, server, ca, insecure=insecure, quiet=as_json) as source:
        page = source.bot(tournament, bot, before=before, limit=limit)
    if as_json:
        show_json(report_dict(page))
    else:
        print_report(page)


@bots.command("open")
def open_(bot: Bot, *, server: Socket = None, db: Db = None, as_json: AsJson = False) -> None:
    """Let its games be watched while they are played.

    That holds where all bots of a game are open; house bots, too, are so only once this was said of them.
    """
    _set_open(bot, db, server, is_open=True, as_json=as_json)


@bots.command()
def hide(bot: Bot, *, server: Socket = None, db: Db = None, as_json: AsJson = False) -> None:
    """Hide its games until they are over.

    So it is with every bot at first.
    """
    _set_open(bot, db, server, is_open=False, as_json=as_json)


def _set_open(bot: str, db: str | None, server: str | None, *, is_open: bool, as_json: bool) -> None:
    from arena_server.cli.output import administrator, show_json

    with administrator(db, server, quiet=as_json) as office:
        office.set_open(bot, is_open=is_open)
    if as_json:
        show_json({"bot": bot, "open": is_open})
    elif is_open:
        print(f"games of {bot} may be watched while they are played, where the other bots are open, too")
    else:
        print(f"games of {bot} are hidden until they are over")
