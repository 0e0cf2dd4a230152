"""``games.csv``: a row for every game of the plan, in schedule order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from arena_engine.game import SEATS
from arena_engine.record import GameRecord
from arena_server.model import Result
from arena_server.report.columns import Column, Table, Value
from arena_server.report.contents import Game

_US = 1e6
_MICROSECONDS = 6


def _of_record(value: Callable[[GameRecord], Value]) -> Callable[[Game], Value]:
    return lambda game: None if game.record is None else value(game.record)


def _of_result(value: Callable[[Result], Value]) -> Callable[[Game], Value]:
    return lambda game: None if game.result is None else value(game.result)


def _deal(record: GameRecord) -> str:
    return json.dumps(dict(record.deal), sort_keys=True, ensure_ascii=False)


def _reason(record: GameRecord) -> str:
    return record.failed.reason if record.failed else ""


COLUMNS: tuple[Column[Game], ...] = (
    Column("id", str, "the game's id, as every command takes it", lambda game: game.summary.id),
    Column("number", int, "place in the schedule, from 1", lambda game: game.summary.number),
    Column("stage", int, "stage of the format (a Swiss round), from 1", lambda game: game.summary.stage),
    Column("pairing", int, "games of one pairing share the deal", lambda game: game.summary.pairing),
    Column("status", str, "planned, finished, abandoned or cancelled", lambda game: game.summary.status),
    Column("attempt", int, "the attempt that counts, from 1", _of_record(lambda record: record.attempt)),
    Column("deal", str, "the deal, a JSON object; empty before the game", _of_record(_deal)),
    Column("ending", str, "why it ended: normal, or a kind of failure", lambda game: game.summary.ending),
    Column("winner", str, "the seat that is first alone", _of_record(lambda record: record.winner)),
    Column("blamed", str, "the seats to blame for the ending", _of_record(lambda record: "".join(record.blamed))),
    Column("reason", str, "the failure in words", _of_record(_reason)),
    Column("plies", int, "plies played", lambda game: game.summary.plies),
    Column("moves", int, "moves played", _of_record(lambda record: len(record.moves))),
    Column("started", str, "when it started, UTC", _of_record(lambda record: record.date)),
    Column("seconds", float, "how long it took", _of_record(lambda record: record.seconds)),
    Column("stalled_seconds", float, "stalls of the arena in it", _of_result(lambda result: result.stalled_us / _US)),
    Column("position", str, "the last position, in the game's notation", _of_result(lambda result: result.position)),
)

_Seated = Callable[[int], Callable[[Game], Value]]


def _label(seat: int) -> Callable[[Game], Value]:
    return lambda game: game.summary.seats[seat]


def _score(seat: int) -> Callable[[Game], Value]:
    return lambda game: game.summary.scores[seat] if game.summary.scores else None


def _rank(seat: int) -> Callable[[Game], Value]:
    return lambda game: game.summary.ranks[seat] if game.summary.ranks else None


def _thought(seat: int) -> Callable[[Game], Value]:
    def seconds(record: GameRecord) -> float:
        moves = zip(record.movers, record.times, strict=True)
        return round(sum(time for mover, time in moves if mover == SEATS[seat]), _MICROSECONDS)

    return _of_record(seconds)


SEAT_COLUMNS: tuple[tuple[str, type[str | int | float], str, _Seated], ...] = (
    ("bot", str, "who sat there: name, version, and what else tells it apart", _label),
    ("score", int, "its points; of a forfeited game those of the last position", _score),
    ("rank", int, "1 is best", _rank),
    ("seconds", float, "its thinking time as charged", _thought),
)
"""What each seat has: name, type, meaning, where its value comes from."""


def columns(seats: int) -> tuple[Column[Game], ...]:
    """All of a game of so many seats: the names of a seat's own end in its letter, ``score_a``."""
    own = tuple(
        Column(f"{name}_{SEATS[seat]}", kind, meaning, value(seat))
        for seat in range(seats)
        for name, kind, meaning, value in SEAT_COLUMNS
    )
    return COLUMNS + own


def row(game: Game, all_columns: Iterable[Column[Game]]) -> tuple[Value, ...]:
    """A game's values."""
    return tuple(column.value(game) for column in all_columns)


def table(seats: int, rows: list[tuple[Value, ...]]) -> Table:
    """The file's content."""
    known = columns(seats)
    return Table(tuple(one.name for one in known), tuple(one.kind for one in known), rows)
