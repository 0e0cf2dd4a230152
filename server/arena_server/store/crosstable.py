"""Who did how well against whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, case, func, literal_column, select

from arena_engine.game import SEATS
from arena_server.model import Ending, Entrant
from arena_server.store.tables import GAME, SEAT
from arena_server.store.views import Tournament


@dataclass(frozen=True, slots=True)
class Score:
    """Results of one entrant against another.

    With more than two seats each two of them are compared by rank. A seat that is to blame for the ending loses.

    Attributes:
        margin_total: sum of the score margins of normally ended games.
        margin_games: how many those are.
    """

    wins: int = 0
    losses: int = 0
    draws: int = 0
    margin_total: int = 0
    margin_games: int = 0

    @property
    def margin(self) -> float | None:
        """Mean score margin; None when there is none."""
        return self.margin_total / self.margin_games if self.margin_games else None

    def __add__(self, other: Score) -> Score:
        return Score(
            self.wins + other.wins,
            self.losses + other.losses,
            self.draws + other.draws,
            self.margin_total + other.margin_total,
            self.margin_games + other.margin_games,
        )


@dataclass(frozen=True, slots=True)
class Cell:
    """A row's entrant against a column's.

    Attributes:
        by_seat: the same split by the seat of the row's entrant, by letter.
    """

    total: Score = field(default_factory=Score)
    by_seat: Mapping[str, Score] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Crosstable:
    """Every entrant against every other, in the order of entry.

    Attributes:
        cells: (row, column) to what the row's entrant achieved; absent where the two did not meet.
    """

    entrants: tuple[Entrant, ...]
    cells: Mapping[tuple[int, int], Cell]


_ME = SEAT.alias("me")
_OTHER = SEAT.alias("other")
_AGAINST = _OTHER.c.entrant + literal_column("0")  # no column: SQLite would walk everybody's games to group by it
_BLAMELESS = _ME.c.failure.is_(None)
_MAX_NUMBER = 10**9  # no game has a greater one
AT_ONCE = 1000
"""Games that one statement adds up: those of readers are stopped after 50 ms."""
_NORMAL = GAME.c.ending == Ending.NORMAL


def crosstable(
    connection: Connection, tournament: Tournament, rows: Iterable[int] | None = None, last: int | None = None
) -> Crosstable:
    """Over the games that the ratings include.

    Args:
        connection: to read from.
        tournament: whose.
        rows: only those of these entrants, by index; statements for each read that entrant's games alone.
        last: only games up to this number.
    """
    of = {"of": tournament.id, "last": _MAX_NUMBER if last is None else last}
    wanted = range(len(tournament.spec.entrants)) if rows is None else rows
    cells: dict[tuple[int, int], Cell] = {}
    for place in wanted:
        for row in _added_up(connection, {**of, "entrant": place}):
            score = Score(row.wins, row.games - row.wins - row.draws, row.draws, row.margin_total, row.margin_games)
            cell, seat = cells.get((place, row.column), Cell()), SEATS[row.seat]
            by_seat = {**cell.by_seat, seat: cell.by_seat.get(seat, Score()) + score}
            cells[place, row.column] = Cell(cell.total + score, dict(sorted(by_seat.items())))
    return Crosstable(tournament.spec.entrants, dict(sorted(cells.items())))


def _added_up(connection: Connection, asked: Mapping[str, int]) -> Iterator[Row[Any]]:
    """By opponent and seat, of so many games at a time."""
    after, last = 0, asked["last"]
    while after < last:
        end = connection.execute(_END, {**asked, "after": after, "skipped": AT_ONCE - 1}).scalar()
        end = last if end is None else min(end, last)
        yield from connection.execute(_ROW, {**asked, "after": after, "last": end})
        after = end


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


# Built once: building it costs more than running it.
_ROW = (
    select(
        _AGAINST.label("column"),
        _ME.c.seat,
        _count(and_(_BLAMELESS, _ME.c.rank < _OTHER.c.rank)).label("wins"),
        _count(and_(_BLAMELESS, _ME.c.rank == _OTHER.c.rank)).label("draws"),
        func.count().label("games"),
        func.sum(case((_NORMAL, _ME.c.score - _OTHER.c.score), else_=0)).label("margin_total"),
        _count(_NORMAL).label("margin_games"),
    )
    .join(GAME, and_(GAME.c.tournament_id == _ME.c.tournament_id, GAME.c.number == _ME.c.number))
    .join(
        _OTHER,
        and_(
            _OTHER.c.tournament_id == _ME.c.tournament_id,
            _OTHER.c.number == _ME.c.number + literal_column("0"),  # or SQLite looks among all numbers of the range
            _OTHER.c.seat != _ME.c.seat,
        ),
    )
    .where(
        _ME.c.tournament_id == bindparam("of"),
        _ME.c.entrant == bindparam("entrant"),
        _ME.c.mu.is_not(None),
        _ME.c.number > bindparam("after"),
        _ME.c.number <= bindparam("last"),
    )
    .group_by(_AGAINST, _ME.c.seat)
    .order_by(_AGAINST, _ME.c.seat)
)
_END = (
    select(SEAT.c.number)
    .where(SEAT.c.tournament_id == bindparam("of"), SEAT.c.entrant == bindparam("entrant"))
    .where(SEAT.c.number > bindparam("after"))
    .order_by(SEAT.c.number)
    .offset(bindparam("skipped"))
    .limit(1)
)
