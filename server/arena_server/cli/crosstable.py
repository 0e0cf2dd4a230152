"""`arena crosstable`: every bot against every other, in all and from each seat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena_server.cli.options import AsJson, Ca, Db, Insecure, OfTournament, Server

if TYPE_CHECKING:
    from arena_server.cli.grids import Grid
    from arena_server.store.crosstable import Crosstable, Score


def crosstable(  # noqa: PLR0913 - each option is one of the reader's choices
    *,
    tournament: OfTournament = None,
    server: Server = None,
    ca: Ca = None,
    insecure: Insecure = False,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Show who won against whom, and from which seat."""
    from arena_server.cli.output import reader, show, show_json

    with reader(db, server, ca, insecure=insecure, quiet=as_json) as source:
        board, table = source.crosstable(tournament)
    if as_json:
        show_json(crosstable_dict(board.tournament.name, table))
        return
    print(f"tournament {board.tournament.name}: {board.progress}")
    order = [table.entrants.index(standing.entrant) for standing in board.standings]
    show(matrix(table, order))
    if table.cells:
        print()
        show(pairs(table, order))


def matrix(table: Crosstable, order: Sequence[int]) -> Grid:
    """Wins and losses of the rows against the columns; both in the order of the standings."""
    from arena_server.cli.grids import Column, Grid
    from arena_server.model import labels

    names = labels(table.entrants)
    ranks = [str(rank) for rank in range(1, len(order) + 1)]
    rows = [
        (rank, names[row], *[won_lost(_total(table, row, column)) for column in order])
        for rank, row in zip(ranks, order, strict=True)
    ]
    return Grid((Column("#"), Column("bot", left=True), *map(Column, ranks)), rows)


def pairs(table: Crosstable, order: Sequence[int]) -> Grid:
    """Each two bots that met: the better one's results, also by its seat, and its mean margin."""
    from arena_server.cli.grids import Column, Grid

    letters = sorted({letter for cell in table.cells.values() for letter in cell.by_seat})
    columns = (
        Column("bot", left=True),
        Column("against", left=True),
        Column("W-L"),
        *[Column(f"as {letter}") for letter in letters],
        Column("margin", spare=1),
    )
    return Grid(columns, _pair_rows(table, order, letters))


def _pair_rows(table: Crosstable, order: Sequence[int], letters: Sequence[str]) -> Iterator[Sequence[str]]:
    from arena_server.cli.tables import margin_text
    from arena_server.model import labels

    names = labels(table.entrants)
    for rank, row in enumerate(order):
        for column in order[rank + 1 :]:
            cell = table.cells.get((row, column))
            if cell is not None:
                by_seat = [won_lost(cell.by_seat.get(letter)) for letter in letters]
                margin = margin_text(cell.total.margin)
                yield names[row], names[column], won_lost(cell.total), *by_seat, margin


def _total(table: Crosstable, row: int, column: int) -> Score | None:
    cell = table.cells.get((row, column))
    return None if cell is None else cell.total


def won_lost(score: Score | None) -> str:
    """``12-8``, with draws ``12-8-1``; ``-`` where the two did not meet."""
    if score is None:
        return "-"
    return f"{score.wins}-{score.losses}" + (f"-{score.draws}" if score.draws else "")


def crosstable_dict(name: str, table: Crosstable) -> dict[str, Any]:
    """The JSON form: bots in the order of entry, cells by their places there."""
    from arena_server.model import labels

    return {
        "tournament": name,
        "bots": [
            {"label": label, **entrant.as_dict()}
            for label, entrant in zip(labels(table.entrants), table.entrants, strict=True)
        ],
        "cells": [
            {"bot": row, "against": column, **score_dict(cell.total), "seats": _seats_dict(cell.by_seat)}
            for (row, column), cell in table.cells.items()
        ],
    }


def _seats_dict(by_seat: Mapping[str, Score]) -> dict[str, Any]:
    return {letter: score_dict(score) for letter, score in by_seat.items()}


def score_dict(score: Score) -> dict[str, Any]:
    """The JSON form of results against another."""
    return {"wins": score.wins, "losses": score.losses, "draws": score.draws, "margin": score.margin}
