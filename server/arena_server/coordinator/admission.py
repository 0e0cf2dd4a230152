"""The admission test: what a version of a bot from elsewhere plays, on no record, before it is given rated games.

It plays itself, where it can think about that many games at once, and from every seat a bot that the server launches.
Whoever fails in one of these games hears why, and may come again.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import Protocol

from arena_engine import deals
from arena_server.coordinator.recorder import Recorder
from arena_server.coordinator.served import TICK, Floor
from arena_server.model import (
    MAX_ATTEMPTS,
    Assignment,
    Ending,
    Entrant,
    Failure,
    Pairing,
    PlannedGame,
    Result,
    Spec,
    Token,
)
from arena_server.referee.guests import Present
from arena_server.store import Store, admissions
from arena_server.text import clean

PAUSE = 30.0
"""Seconds after which a test that the arena itself spoiled begins again."""
_NEWCOMER, _TESTER = 0, 1
"""Who sits at a trial, by index of its spec."""


class Witness(Protocol):
    """Is told of tests; called on the event loop, so it must not block."""

    def tested(self, bot: str, outcome: str, why: str) -> None:
        """A test has begun, or is over: passed, failed, unfinished."""

    def notes(self, line: str) -> None:
        """Something that the organiser should read."""


class LeftError(Exception):
    """The bot has left in the middle of its test."""


class SpoiledError(Exception):
    """A test that cannot be played through by the arena's own fault."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """A game of a test.

    Attributes:
        number: within the test, from 1.
        told: which it is, in words.
        seats: who sits there, by index.
    """

    number: int
    told: str
    seats: tuple[int, ...]


class Admission:
    """Tests whoever is new, beside the season, until it is told to stop.

    Args:
        spec: of the season: game, deals and time.
        floor: where it is played.
        tester: the bot that the server launches to play against.
        witness: is told how it goes.
    """

    def __init__(self, store: Store, spec: Spec, floor: Floor, tester: Entrant, witness: Witness) -> None:
        self._store = store
        self._spec = spec
        self._floor = floor
        self._tester = Present(tester, 0, floor.executor.capacity)
        self._witness = witness
        self._recorder = Recorder(store, witness.notes)
        self._wake = asyncio.Event()
        self._party = floor.seating.join(self._wake.set, beside=True)
        self._tests: dict[Entrant, asyncio.Task[None]] = {}
        self._line: dict[int, tuple[Sequence[Present], asyncio.Future[bool]]] = {}
        self._numbers = count(1)
        self._stopping = False

    @property
    def open(self) -> int:
        """Tests that go on, or wait for a table."""
        return len(self._tests)

    async def run(self) -> None:
        """Tests on until it is stopped.

        Raises:
            ArenaError: games cannot be played, or nothing be recorded.
        """
        try:
            while not self._stopping:
                self._collect()
                self._take_up()
                self._seat()
                with suppress(TimeoutError):
                    async with asyncio.timeout(TICK):
                        await self._wake.wait()
                self._wake.clear()
        finally:
            for task in self._tests.values():
                task.cancel()
            await asyncio.gather(*self._tests.values(), return_exceptions=True)
            self._party.leave()
            await self._recorder.close()

    def stop(self) -> None:
        """Breaks off every test: it begins anew at the next server."""
        self._stopping = True
        self._wake.set()

    # Who is tested, and when

    def _collect(self) -> None:
        for entrant in [entrant for entrant, test in self._tests.items() if test.done()]:
            self._tests.pop(entrant).result()

    def _take_up(self) -> None:
        for one in self._floor.guests.newcomers():
            if one.entrant not in self._tests:
                self._tests[one.entrant] = task = asyncio.create_task(self._test(one))
                task.add_done_callback(lambda _task: self._wake.set())

    def _seat(self) -> None:
        """Gives tables to those who wait for one; who has left waits no more."""
        here = {one.entrant for one in (*self._floor.guests.newcomers(), self._tester)}
        for bots, seated in self._line.values():
            if not seated.done() and any(bot.entrant not in here for bot in bots):
                seated.set_result(False)
        waiting = {number: bots for number, (bots, seated) in self._line.items() if not seated.done()}
        while (number := self._party.seat(waiting.items())) is not None:
            del waiting[number]
            self._line[number][1].set_result(True)

    @asynccontextmanager
    async def _table(self, one: Present, bots: Sequence[Present], what: str) -> AsyncIterator[None]:
        """A table for these bots, once there is one; raises LeftError where the newcomer among them has left."""
        number, seated = next(self._numbers), asyncio.get_running_loop().create_future()
        self._line[number] = bots, seated
        self._wake.set()
        try:
            done, _ = await asyncio.wait([seated], timeout=TICK)
            if not done:
                self._tell(one, f"{what} waits for a table")
            if not await seated:
                raise LeftError
            self._tell(one, what)
            yield
        finally:
            del self._line[number]
            self._party.rise(number)

    # A test

    async def _test(self, one: Present) -> None:
        """All of it, from the first notice to what becomes of the bot."""
        label, before = one.entrant.label, await self._failing(one)
        if before.times >= admissions.MAX_FAILED:
            self._turn_away(one, before)
            return
        self._witness.tested(label, "begun", "")
        last = f" (last time it failed: {before.last})" if before.last else ""
        self._tell(one, f"{label} is tested before it plays rated games{last}")
        try:
            failed = await self._play(one)
        except LeftError:
            self._witness.tested(label, "unfinished", "it has left")
            return
        except SpoiledError as error:
            self._witness.tested(label, "unfinished", str(error))
            self._tell(one, f"the test begins again in {PAUSE:g} s: {error}")
            await asyncio.sleep(PAUSE)
            return
        why, game = failed or ("", None)
        await self._recorder.write(admissions.record, self._store.database, one.entrant, why, game)
        self._witness.tested(label, "failed" if why else "passed", why)
        if why:
            self._turn_away(one, await self._failing(one))
        else:
            self._tell(one, f"{label} has passed its test and plays rated games from now on")
            self._floor.guests.let_in(one.entrant)

    async def _play(self, one: Present) -> tuple[str, Result] | None:
        """Plays until the bot fails: why, and in which game; None where it does not."""
        spec = replace(self._spec, entrants=(one.entrant, self._tester.entrant), late=(), withdrawn=())
        for trial in trials(spec, one.games_at_once):
            bots = [(one, self._tester)[seat] for seat in trial.seats]
            async with self._table(one, bots, trial.told):
                result = await self._sound(spec, trial)
            failure = failure_of(result, one.entrant)
            if failure is not None:
                return f"{trial.told}, seat {failure.seat}: {told(failure)}", result
        return None

    async def _sound(self, spec: Spec, trial: _Trial) -> Result:
        """Plays a game until it says something of the newcomer: again where it is void, or the tester fails."""
        for attempt in range(1, MAX_ATTEMPTS + 1):
            result = await self._floor.executor.play(self._assignment(spec, trial, attempt))
            newcomer, tester = (failure_of(result, entrant) for entrant in spec.entrants)
            if newcomer is not None or (tester is None and result.ending is not Ending.VOID):
                return result
        raise SpoiledError(f"the arena could not play {trial.told}: {result.reason or 'the bot of the house failed'}")

    def _assignment(self, spec: Spec, trial: _Trial, attempt: int) -> Assignment:
        secret = secrets.token_bytes(32)
        deal = self._floor.game.deal(dict(spec.deals), spec.seats, deals.shuffler(secret, spec.game, trial.number))
        name = f"admission of {spec.entrants[_NEWCOMER].label}"
        planned = PlannedGame(name, trial.number, 1, trial.number, trial.seats, deal)
        seeds = tuple(deals.bot_seed(secret, trial.number, seat) for seat in planned.letters)
        return Assignment(planned, Token(0, attempt), spec, seeds, anonymous=True, trial=True)

    # What the bot is told

    async def _failing(self, one: Present) -> admissions.Failing:
        return await self._recorder.call(admissions.failing, self._store.database, one.entrant)

    def _tell(self, one: Present, text: str) -> None:
        self._floor.guests.tell(one.entrant, text)

    def _turn_away(self, one: Present, failing: admissions.Failing) -> None:
        left = admissions.MAX_FAILED - failing.times
        if left > 0:
            tries = "once" if left == 1 else f"{left} times"
            what = f"mend it and start it again; within an hour it may try {tries} more"
        else:
            what = f"that was so {failing.times} times within an hour; it may try again after {failing.until}"
        why = f"{one.entrant.label} has failed its admission test: {failing.last}"
        self._floor.guests.turn_away(one.entrant, f"{why} - {what}")


def trials(spec: Spec, games_at_once: int) -> list[_Trial]:
    """The games of a test: who sits where."""
    against = spec.entrants[_TESTER].label
    seatings = [(seats, f"against {against}") for seats in _guarded(spec.seats)]
    if games_at_once >= spec.seats:
        seatings.insert(0, ((_NEWCOMER,) * spec.seats, "against itself"))
    return [
        _Trial(number, f"game {number} of {len(seatings)}, {how}", seats)
        for number, (seats, how) in enumerate(seatings, 1)
    ]


def _guarded(seats: int) -> list[tuple[int, ...]]:
    """The newcomer at every seat in turn, the tester at all others."""
    return Pairing((_NEWCOMER,) + (_TESTER,) * (seats - 1)).rotations()


def failure_of(result: Result, entrant: Entrant) -> Failure | None:
    """The first failure of an entrant in a game; to give up is its right."""
    seats = dict(zip(result.assignment.planned.letters, result.assignment.entrants, strict=True))
    mine = (one for one in result.failures if seats[one.seat] == entrant and one.ending is not Ending.RESIGN)
    return next(mine, None)


def told(failure: Failure) -> str:
    """What a seat did, in a line."""
    reply = "" if failure.reply is None else f" {failure.reply!r}"
    return clean(f"{failure.ending.replace('_', ' ')}{reply}: {failure.reason}")
