"""Five bugs, planted into the arena one at a time: the tests of the tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest import mock

from sqlalchemy import Connection

from arena_server.coordinator.recorder import Recorder
from arena_server.model import Result
from arena_server.referee.clocks import Now, Reading, SeatClock
from arena_server.store import GameStatus, Recorded, entries, folding, writer
from simulated.script import draw
from simulated.search import failure, quiet

Patch = AbstractContextManager[Any]


def _lost_record() -> Patch:
    """Games are reported before they are on disk."""
    record = Recorder.record

    async def hasty(self: Recorder, result: Result) -> Recorded:
        writing = asyncio.ensure_future(record(self, result))
        writing.add_done_callback(lambda done: done.cancelled() or done.exception())
        planned, token = result.assignment.planned, result.assignment.token
        return Recorded(planned.number, token.attempt, GameStatus(entries.game_columns(result)["status"]))

    return mock.patch.object(Recorder, "record", hasty)


def _double_count() -> Patch:
    """The fold takes the game at the watermark once more."""
    finished = folding.finished

    def again(connection: Connection, tournament_id: int, after: int, last: int) -> list[folding.RatedGame]:
        return finished(connection, tournament_id, max(0, after - 1), last)

    return mock.patch.object(folding, "finished", again)


def _arrival_order() -> Patch:
    """The games that become contiguous are folded in the order of their commits."""
    finished = folding.finished

    def arrived(connection: Connection, tournament_id: int, after: int, last: int) -> list[folding.RatedGame]:
        order = connection.exec_driver_sql("SELECT number, sequence FROM attempt ORDER BY sequence")
        place = {number: sequence for number, sequence in order}  # noqa: C416 - rows are no pairs to mypy
        return sorted(finished(connection, tournament_id, after, last), key=lambda game: place[game[0]])

    return mock.patch.object(folding, "finished", arrived)


def _unfenced() -> Patch:
    """A result is taken whoever gave its game out."""
    refusal = writer._Batch._refusal

    def blind(self: writer._Batch, result: Result) -> str:
        token = replace(result.assignment.token, epoch=self._tournament.epoch)
        return refusal(self, replace(result, assignment=replace(result.assignment, token=token)))

    return mock.patch.object(writer._Batch, "_refusal", blind)


def _charged_stall() -> Patch:
    """The arena's own stalls are charged to whoever is thinking."""
    read = SeatClock.read

    def strict(self: SeatClock, now: Now, cpu_us: int | None = None) -> Reading:
        return read(self, now if self.started is None else now._replace(stalled=self.started.stalled), cpu_us)

    return mock.patch.object(SeatClock, "read", strict)


BUGS: Mapping[str, Callable[[], Patch]] = {
    "a lost record": _lost_record,
    "a double count": _double_count,
    "arrival-order ratings": _arrival_order,
    "an unfenced late result": _unfenced,
    "a charged stall": _charged_stall,
}


def seeds_until_caught(bug: str, most: int = 200) -> int | None:
    """How many seeds it takes to find the bug; None where so many do not."""
    for seed in range(most):
        script = draw(seed)
        quiet(script.quiet)  # of the sound arena, and remembered
        with BUGS[bug]():
            found = failure(script)
        if found.startswith(("Violation", "ArenaError")):
            return seed + 1
        assert not found, found  # planted wrongly
    return None
