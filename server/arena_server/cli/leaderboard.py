"""`arena leaderboard`. It shows no time, rate or date: equal results give equal bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_server.cli.options import AsJson, Ca, Db, Insecure, OfTournament, Server
from arena_server.model import UserError

if TYPE_CHECKING:
    from arena_server.service.reading import Reader
    from arena_server.store import Standing
    from arena_server.store.views import Leaderboard


def leaderboard(  # noqa: PLR0913 - each option is one of the reader's choices
    *,
    tournament: OfTournament = None,
    full: Annotated[bool, typer.Option("--full", help="How sure it is: Elo, intervals, seats, calibration.")] = False,
    since: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="With --full: only games from this number on.")
    ] = None,
    opponent: Annotated[
        list[str] | None, typer.Option(metavar="BOT", help="With --full: only games of this bot; may be repeated.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="With --full: only bots with this tag; may be repeated.")
    ] = None,
    group: Annotated[
        list[str] | None, typer.Option(metavar="GROUP", help="With --full: only bots of this group; may be repeated.")
    ] = None,
    anchor: Annotated[
        list[str] | None,
        typer.Option(metavar="BOT=ELO", help="With --full: fix a bot's Elo, so that tournaments compare."),
    ] = None,
    all_versions: Annotated[
        bool, typer.Option("--all-versions", help="Of a season, earlier and retired versions of its bots, too.")
    ] = False,
    server: Server = None,
    ca: Ca = None,
    insecure: Insecure = False,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Show the standings of a tournament."""
    from arena_server.cli.output import reader

    choices = {"--since": since, "--opponent": opponent, "--tag": tag, "--group": group, "--anchor": anchor}
    given = [name for name, choice in choices.items() if choice is not None]
    if given and not full:
        raise UserError("an option of --full without it", given[0], "add --full")
    if not full:
        with reader(db, server, ca, insecure=insecure, quiet=as_json) as source:
            print_leaderboard(source, tournament, all_versions=all_versions, as_json=as_json)
        return
    from arena_server.cli.full_leaderboard import print_full
    from arena_server.store import anchors
    from arena_server.store.samples import Sample

    sample = Sample(since, tuple(opponent or ()), tuple(tag or ()), tuple(group or ()))
    with reader(db, server, ca, insecure=insecure, quiet=as_json) as source:
        print_full(source, tournament, sample, anchors.read(anchor or ()), as_json=as_json)


def print_leaderboard(
    source: Reader, name: str | None = None, *, all_versions: bool = False, as_json: bool = False
) -> None:
    """Prints the standings of the tournament of that name, by default of the one started last."""
    from arena_server.cli.output import say, show, show_json
    from arena_server.cli.places import places_dict, print_places
    from arena_server.cli.tables import standings_grid
    from arena_server.store import stopping
    from arena_server.text import clean

    board = source.leaderboard(name, all_versions=all_versions)
    table = source.table(board.tournament)
    if as_json:
        show_json({**leaderboard_dict(board), **places_dict(board.tournament, table)})
        return
    say(f"tournament {board.tournament.name}: {board.progress}")
    if board.tournament.called_off:
        say(f"called off: {clean(board.tournament.called_off)}")
    show(standings_grid(board.standings))
    print_places(board, table)
    if board.hidden:
        print()
        say(f"earlier and retired versions that are not shown: {board.hidden}; --all-versions shows them")
    for standing in board.standings:
        if standing.parked is not None:
            number, why = standing.parked.number, standing.parked.why
            game = f"{board.tournament.name}/{number}"
            print()
            say(f"{clean(standing.label)} is parked since game {number}: {why}; see arena games show {game}")
    for line in board.remarks.lines:
        print()
        say(line)
    if question := stopping.told(board.tournament):
        print()
        say(clean(question))


def leaderboard_dict(board: Leaderboard) -> dict[str, Any]:
    """The JSON form."""
    from arena_server.store import stopping

    progress = board.progress
    return {
        "tournament": board.tournament.name,
        "games": {
            "planned": progress.planned,
            "rated": progress.folded,
            "waiting": progress.waiting,
            "abandoned": progress.abandoned,
            "cancelled": progress.cancelled,
        },
        "called_off": board.tournament.called_off or None,
        "remarks": board.remarks.as_dict(),
        "hidden": board.hidden,
        "stop": stopping.as_dict(board.tournament),
        "standings": [standing_dict(standing) for standing in board.standings],
    }


def standing_dict(standing: Standing) -> dict[str, Any]:
    """One row of the JSON form."""
    return {
        "rank": standing.rank,
        "label": standing.label,
        **standing.entrant.as_dict(),
        "mu": standing.mu,
        "sigma": standing.sigma,
        "conservative": standing.rating.conservative,
        "games": standing.games,
        "wins": standing.wins,
        "losses": standing.losses,
        "draws": standing.draws,
        "margin": standing.margin,
        "failures": dict(standing.failures),
        "withdrawn": standing.withdrawn,
        "parked": standing.parked and {"after": standing.parked.number, "why": standing.parked.why},
    }
