"""A format's own table: a Swiss by points, a knockout by who got how far, a ladder by rungs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena_server.cli.grids import Grid
    from arena_server.formats import Place
    from arena_server.service.reading import Table
    from arena_server.store import Tournament
    from arena_server.store.views import Leaderboard


def print_places(board: Leaderboard, table: Table | None) -> None:
    """Prints it as of the last closed stage; nothing where the ratings are all there is."""
    from arena_server.cli.output import show

    if table is not None:
        print()
        print(_title(board.tournament, table.stages))
        show(places_grid(board, table.rows))


def places_dict(tournament: Tournament, table: Table | None) -> dict[str, Any]:
    """The JSON form, under the key ``places``; empty where the ratings are all there is."""
    if table is None:
        return {}
    entrants, names = tournament.spec.entrants, tournament.spec.labels
    return {
        "places": [
            {"rank": row.rank, "label": names[row.entrant], **entrants[row.entrant].as_dict(), **row.marks}
            for row in table.rows
        ]
    }


def places_grid(board: Leaderboard, table: Sequence[Place]) -> Grid:
    """Rank, bot, and what the rank rests on."""
    from arena_server.cli.grids import Column, Grid
    from arena_server.cli.tables import marked_bot

    standings = dict(zip(board.places, board.standings, strict=True))
    bots = [marked_bot(standings[row.entrant]) for row in table]
    rows = [(str(row.rank), bot, *row.marks.values()) for row, bot in zip(table, bots, strict=True)]
    return Grid((Column("#"), Column("bot", left=True), *map(Column, table[0].marks)), rows)


def _title(tournament: Tournament, stages: int) -> str:
    spec = tournament.spec
    if spec.rounds is None:
        return f"{spec.format} after stage {stages}"
    finished = tournament.status == "finished"
    short = "; no further round is without a repeat" if finished and stages < spec.rounds else ""
    return f"{spec.format} after round {stages} of {spec.rounds}{short}"
