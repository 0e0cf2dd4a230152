"""The world of one script: commands that play its tournament, one after the other, until it is done."""

from __future__ import annotations

import atexit
import os
import random
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

from sqlalchemy import select

from arena_engine import deals
from arena_engine.game import SEATS, find
from arena_server.coordinator import Coordinator, Interrupted, Snapshot
from arena_server.coordinator.coordinator import GRACE
from arena_server.executors import Running
from arena_server.executors.local import LocalExecutor
from arena_server.model import ArenaError, Assignment, Result
from arena_server.store import AwayError, Recorded, Status, Store, Tournament, database, journal
from arena_server.store.tables import ATTEMPT
from arena_server.store.verify import verify
from simulated.bots import Keeper, Network, Refused, Stream
from simulated.checks import Violation, Witness
from simulated.loop import Killed, SimulatedLoop
from simulated.script import LIMIT, MARGIN, Deed, Script, Strike, bots, spec

NAME = "cup"
MAX_COMMANDS = 30
PLACE = "SIMULATED_PLACE"
"""Names a folder to keep databases in."""
STEPS = ("stall", "kill", "stop")
"""Strikes that come at a step of the loop."""


class DiskFull(ArenaError):  # noqa: N818 - named after what happened
    """As the store tells it."""


@dataclass
class Ended:
    """A tournament that is done.

    Attributes:
        board: the leaderboard, bit for bit.
        results: the last attempt at each game, by number.
        trace: what happened, with the simulated instants.
        commands: how many it took.
    """

    board: str
    results: dict[int, Result]
    trace: list[tuple[float, str]]
    commands: int

    def compare(self, quiet: Ended) -> None:
        """Raises Violation where it differs from the run without faults."""
        for number in sorted(self.results.keys() | quiet.results.keys()):
            if number not in self.results or number not in quiet.results:
                raise Violation(f"game {number} is in one of the runs alone")
            if self._outcome(number) != quiet._outcome(number):
                raise Violation(
                    f"game {number} ended otherwise: {self._outcome(number)}, quiet {quiet._outcome(number)}"
                )
        if self.board != quiet.board:
            raise Violation(f"the leaderboard is {self.board}, quiet {quiet.board}")

    def _outcome(self, number: int) -> object:
        """What must not depend on faults."""
        result = self.results[number]
        moves = sorted((move.ply, move.seat, move.move) for move in result.moves)  # those of a ply as they came
        return result.ending.rated and (result.ending, result.outcome, moves, result.blamed, result.position)


class World:
    """Plays one script. It is also the watcher of its commands, and their store's chaos."""

    def __init__(self, script: Script, quiet: Ended | None = None) -> None:
        self.script = script
        self.quiet = quiet
        self.spec = spec(script.kind)
        self.game = find(self.spec.game)
        self.dice = random.Random(f"world {script.seed}")
        self.witness = Witness(script)
        self.trace: list[tuple[float, str]] = []
        self.absent = {deed.number for deed in script.deeds if deed.kind == "absent"}
        self.deeds: dict[tuple[int, str, int], list[Deed]] = defaultdict(list)
        for deed in script.deeds:
            self.deeds[deed.number, deed.seat, deed.ply].append(deed)
        secret = deals.public_secret(self.spec.seed or "")
        letters = SEATS[: self.spec.seats]
        self.seats = {
            deals.bot_seed(secret, number, seat): (number, seat) for number in range(1, 50) for seat in letters
        }
        self.lobby: Any = None
        self.loop: SimulatedLoop
        strikes = sorted(script.strikes, key=lambda strike: strike.at)
        self._by_step = [strike for strike in strikes if strike.kind in STEPS]
        self._by_count = [strike for strike in strikes if strike.kind not in STEPS]
        self._steps = self._writes = self._records = self._reports = 0
        self._at = 1000.0
        self._in_flight: dict[tuple[int, int], Assignment] = {}
        self._streams: list[Stream] = []
        self._coordinator: Coordinator | None = None
        self._stops: list[float] = []  # when this command was asked to stop
        self._executor: LocalExecutor
        self._store: Store

    # What is seen

    def note(self, what: str) -> None:
        self.trace.append((self.loop.time() if hasattr(self, "loop") else self._at, what))

    def asked(self, number: int, seat: str, ply: int, lost: float) -> None:
        self.note(f"game {number}: seat {seat} is asked for ply {ply}")
        self.witness.asked(number, seat, ply, self.loop.time(), lost)

    def answered(self, number: int, seat: str, ply: int, move: str) -> None:
        self.note(f"game {number}: seat {seat} answers ply {ply}: {move}")
        self.witness.answered(number, seat, ply, at=self.loop.time(), legal=move != "never a move")

    def heard(self, number: int, seat: str, message: Any) -> None:
        self.note(f"game {number}: seat {seat} is told the end")
        self.witness.told(number, seat, message)

    def stands(self, snapshot: Snapshot) -> None:
        """Nobody looks."""

    def notes(self, line: str) -> None:
        self.note(line)

    def ended(self, result: Result) -> None:
        planned, token = result.assignment.planned, result.assignment.token
        self.note(f"game {planned.number}.{token.attempt} is reported: {result.ending}")
        self.witness.report(result)
        self._reports += 1
        for strike in self._due("delivered again", self._reports):
            self.loop.arrive(strike.amount, partial(self._deliver, result, "delivered again"))

    # What befalls

    def later(self, least: float, most: float, callback: Callable[[], object]) -> None:
        self.loop.arrive(self.dice.uniform(least, most), callback)

    def stall(self, seconds: float) -> None:
        self.note(f"the arena stalls for {seconds:.3f} s")
        self.loop.stall(seconds)

    def brink(self, number: int, seat: str, ply: int) -> float:
        """Seconds until its time and the margin are all but used; few where its clock began before it was asked."""
        ask = self.witness.asks[number, self.attempt(number), seat, ply]
        return 0.001 if ask.delayed else ask.sent + LIMIT + MARGIN - 0.0005 - self.loop.time()

    def plays(self, number: int, attempt: int) -> bool:
        return (number, attempt) in self._in_flight

    def attempt(self, number: int) -> int:
        return self.witness.current[number].token.attempt

    def serve(self, stream: Stream) -> None:
        self._streams.append(stream)
        self.loop.create_task(self._served(stream))

    async def _served(self, stream: Stream) -> None:
        try:
            await self.lobby.play(None, stream)
        except Refused as reason:  # of a bot that it stops; one that plays would be missed
            self.note(f"{stream.client.process.bot} is refused: {reason}")
            stream.reset()

    def _due(self, kind: str, count: int) -> list[Strike]:
        """Takes the strikes of that kind whose time has come."""
        found = [strike for strike in self._by_count if strike.kind == kind and strike.at <= count]
        self._by_count = [strike for strike in self._by_count if strike not in found]
        return found

    def _step(self) -> None:
        self._steps += 1
        while self._by_step and self._by_step[0].at <= self._steps:
            self._strike(self._by_step.pop(0))

    def _strike(self, strike: Strike) -> None:
        if strike.kind == "stall":
            self.stall(strike.amount)
            return
        self.note(strike.kind)
        if strike.kind == "kill":
            raise Killed
        if self._coordinator is not None:
            self._stops.append(self.loop.time())
            self._coordinator.stop()

    def _write(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """A write of the store, on a bad day."""
        self._writes += 1
        if self._due("kill before", self._writes):
            self.note("kill -9 before a commit")
            raise Killed
        if self._due("disk full", self._writes):
            self.note("the disk is full")
            raise DiskFull("the disk is full")
        answer = work(*arguments)
        if self._due("kill after", self._writes):
            self.note("kill -9 after a commit")
            raise Killed
        return answer

    def _commit(self, work: Callable[[], Any]) -> Any:
        """A commit, from which the database may be away."""
        self._records += 1
        if self._due("away before", self._records):
            self.note("the database is away before a commit")
            raise AwayError("away")
        done = self._write(work)
        if self._due("away after", self._records):
            self.note("the database is away after a commit")
            raise AwayError("away")
        return done

    def _deliver(self, result: Result, why: str) -> None:
        """A result that was recorded, or that a dead command gave out, comes in once more."""
        planned, token = result.assignment.planned, result.assignment.token
        (answer,) = Store.record(self._store, [result])
        self.note(f"game {planned.number}.{token.attempt} of epoch {token.epoch} {why}: {answer.refused or 'taken'}")
        if not answer.refused:
            raise Violation(f"a result was taken that was {why}: game {planned.number}.{token.attempt}")

    # The executor: the real one, watched

    @property
    def capacity(self) -> int:
        return self._capacity

    def running(self) -> Sequence[Running]:
        return self._executor.running()

    async def play(self, assignment: Assignment) -> Result:
        planned, token = assignment.planned, assignment.token
        self.note(f"game {planned.number}.{token.attempt} is given out in epoch {token.epoch}")
        self.witness.given(assignment, self.loop.time())
        self._in_flight[planned.number, token.attempt] = assignment
        result = await self._executor.play(assignment)
        self.note(f"game {planned.number}.{token.attempt} ends: {result.ending} {''.join(result.blamed)}")
        self.witness.judge(result, self._connected(result), self.loop.time(), self.loop.stalls)
        del self._in_flight[planned.number, token.attempt]
        return result

    def _connected(self, result: Result) -> dict[str, bool]:
        """Whether there was a stream to tell each seat on."""
        of = (result.assignment.planned.number, result.assignment.token.attempt)
        return {
            playing.seat: stream.client.stream is stream and stream.welcomed and not stream.broken
            for stream in self._streams
            for playing in stream.client.games.values()
            if (playing.number, playing.attempt) == of
        }

    # Commands

    def run(self) -> Ended:
        """Runs commands until one of them finds the tournament done."""
        path = _folder() / "arena.db"
        path.write_bytes(_empty_database())
        with mock.patch("arena_server.store.database._engine", _engine):
            for command in range(1, MAX_COMMANDS + 1):
                if self._command(path):
                    return self._end(path, command)
        raise Violation(f"not done after {MAX_COMMANDS} commands")

    def _command(self, path: Path) -> bool:
        """One command; whether it came to the end."""
        self.loop = SimulatedLoop(self._at, self._step)
        self.loop.delay = lambda: self.dice.uniform(0.0005, 0.01)
        self._streams.clear()
        self._stops.clear()
        try:
            with (
                FrailStore.open(str(path)) as store,
                mock.patch("arena_server.referee.referee.Server", partial(Network, self)),
            ):
                store.commit = self._commit
                self._store = store
                self.loop.run(self._play(store))
            done = True
        except (Killed, Interrupted, DiskFull) as end:
            self.note(f"the command ends: {type(end).__name__}")
            done = False
        except AwayError:
            if not self._hurries():
                raise
            self.note("the command ends: it waits no more for the database")
            done = False
        finally:
            self._coordinator = None
            self._at = self.loop.time() + 1.0
        if self.loop.errors:
            raise Violation(f"nobody caught it: {self.loop.errors[0]}")
        return done

    def _hurries(self) -> bool:
        """Whether the command was asked to stop for so long, or so often, that it waits for nothing."""
        return len(self._stops) > 1 or bool(self._stops and self.loop.time() >= self._stops[0] + GRACE)

    async def _play(self, store: Store) -> None:
        with store.lock(store.enter(self.spec, name=NAME).tournament) as lock:
            self.note(f"a command begins, epoch {lock.tournament.epoch}")
            self._deliver_late()
            await self._coordinate(store, lock.tournament)

    def _deliver_late(self) -> None:
        """What the command before gave out is played to its end by somebody, and comes in some time."""
        for number, attempt in list(self._in_flight):
            assignment = self._in_flight.pop((number, attempt))
            if self.quiet is not None:
                late = replace(self.quiet.results[number], assignment=assignment)
                self.later(0.0, 1.0, partial(self._deliver, late, "late"))

    async def _coordinate(self, store: Store, tournament: Tournament) -> None:
        self._capacity = self.dice.randint(1, 4)
        players = {bot.entrant: bot for bot in bots(len(self.spec.entrants), self.script.games_at_once)}
        keeper: Any = Keeper(self)
        self._executor = LocalExecutor(self.game, players, keeper, capacity=self._capacity)
        async with self._executor:
            self._coordinator = Coordinator(store, tournament, self.game, self, self)
            await self._coordinator.run()

    def _end(self, path: Path, commands: int) -> Ended:
        """All that was played, once it is sound."""
        with Store.open(str(path)) as store:
            tournament = store.enter(self.spec, name=NAME).tournament
            board = repr(store.standings(tournament))
            report = verify(store, tournament)
            if not report.ok:
                raise Violation(f"verify: {report.first}")
            if tournament.status is not Status.FINISHED:
                raise Violation("it is not finished")
            recorded = list(_journal(store, tournament))
        for number, attempt in self.witness.reported.keys() - {_key(result) for result in recorded}:
            raise Violation(f"attempt {attempt} of game {number} was reported and is not on record")
        ended = Ended(board, {result.assignment.planned.number: result for result in recorded}, self.trace, commands)
        if self.quiet is not None:
            ended.compare(self.quiet)
        return ended


class FrailStore(Store):
    """The store, whose writes something may befall."""

    commit: Callable[[Callable[[], Any]], Any]

    def record(self, results: Sequence[Result], *, again: bool = False) -> list[Recorded]:
        recorded: list[Recorded] = self.commit(partial(super().record, results, again=again))
        return recorded

    def add_stage(self, *arguments: Any, **more: Any) -> None:
        self.commit(partial(super().add_stage, *arguments, **more))

    def finish(self, tournament: Tournament) -> None:
        self.commit(partial(super().finish, tournament))


def _journal(store: Store, tournament: Tournament) -> Iterator[Result]:
    """Every attempt on record, in the order of the commits."""
    query = select(ATTEMPT.c.journal).where(ATTEMPT.c.tournament_id == tournament.id).order_by(ATTEMPT.c.sequence)
    with store.database.read() as connection:
        for entry in connection.execute(query).scalars():
            yield journal.decode(entry, tournament.spec).result


def _key(result: Result) -> tuple[int, int]:
    return result.assignment.planned.number, result.assignment.token.attempt


_engine = cache(database._engine)
"""One engine a path: it forgets its connections when it is closed, but not how to write its statements."""


def place() -> str | None:
    """Where databases are: in memory if that can be had, as the disk itself is not what is tested here."""
    return os.environ.get(PLACE) or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


@cache
def _folder() -> Path:
    """A folder of this process."""
    folder = tempfile.mkdtemp(prefix="simulated", dir=place())
    atexit.register(shutil.rmtree, folder)
    return Path(folder)


@cache
def _empty_database() -> bytes:
    """The file of a database without tournaments: migrating takes longer than playing."""
    path = _folder() / "empty.db"
    Store.open(str(path)).close()
    return path.read_bytes()
