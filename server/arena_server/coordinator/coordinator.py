"""The coordinator: plans stages, gives out games, records results, goes on until the plan is done."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, replace

from arena_engine import deals
from arena_engine.game import Game
from arena_server.coordinator.machine import Strain
from arena_server.coordinator.recorder import Recorder
from arena_server.coordinator.watching import Snapshot, Watcher
from arena_server.executors import Executor
from arena_server.formats import plan
from arena_server.model import ArenaError, Assignment, PlannedGame, Result, Token
from arena_server.store import GameStatus, Parked, Store, Tournament
from arena_server.store.dealing import dealt

GRACE = 5.0
"""Seconds that running games have to finish after an interrupt."""
SHOW_EVERY = 0.5
"""Seconds between two looks at the standings."""
LEAD_EVERY = 5.0
LEAD_SHARE = 50.0
"""How sure the lead is, is computed after so many seconds, or so many times as long as it took."""
BACKLOG = 8
"""Finished games that may wait for their commit, per running game."""


class Interrupted(Exception):  # noqa: N818 - a request, not an error
    """The run was asked to stop; everything finished is recorded."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A game to be given out.

    Attributes:
        voids: void attempts so far; a game with any plays alone.
    """

    planned: PlannedGame
    voids: int = 0


class Coordinator:
    """Plays one tournament to its end.

    Args:
        tournament: as its lock gives it.

    Attributes:
        strain: what this run suffered from the machine.
        grace: seconds that running games have to finish after an interrupt.
    """

    def __init__(self, store: Store, tournament: Tournament, game: Game, executor: Executor, watcher: Watcher) -> None:
        self.tournament = tournament
        self.game = game
        self.executor = executor
        self.grace = GRACE
        self.watcher = watcher
        self.strain = Strain()
        self._recorder = Recorder(store, watcher.notes)
        self._store = store
        self._queue: deque[Turn] = deque()
        self._turns: dict[asyncio.Task[Turn | None], Turn] = {}
        self._on: set[int] = set()  # numbers of the games being played
        self._alone = False
        self._stopping = False
        self._decided = False
        self._wake = asyncio.Event()
        self._ended = 0
        self._began = time.monotonic()
        self._lead_due, self._lead_told = self._began + LEAD_EVERY, ""

    async def run(self) -> None:
        """Plays what is open, then plans on, until the format is done.

        Raises:
            Interrupted: `stop` was called before the plan was done.
            ArenaError: games cannot be played or recorded.
        """
        watching = asyncio.create_task(self._watch())
        watching.add_done_callback(lambda _: self._wake.set())
        try:
            while await self._fill():
                await self._play_queue(watching)
            await self._recorder.call(self._store.finish, self.tournament)
        finally:
            watching.cancel()
            self.watcher.stands(await self._look())
            await self._recorder.close()

    def stop(self) -> None:
        """Gives out no more games; those running have a grace to finish, a second call ends it."""
        if self._stopping:
            self._give_up()
        else:
            self._stopping = True
            asyncio.get_running_loop().call_later(self.grace, self._give_up)
        self._wake.set()

    # Planning

    async def _fill(self) -> bool:
        """Queues the open games of the plan, planning the next stage where there are none; False: all is done."""
        opened = await self._recorder.call(self._store.open_games, self.tournament)
        while not opened and await self._plan_stage():  # all games of a stage may be forfeited
            opened = await self._recorder.call(self._store.open_games, self.tournament)
        self._queue.extend(Turn(planned, voids) for planned, voids in opened)
        return bool(opened)

    async def _plan_stage(self) -> bool:
        closed = await self._recorder.call(self._store.closed_stages, self.tournament)
        pairings = plan(self.tournament.spec, closed)
        if pairings is None:
            return False
        number = len(closed) + 1
        given = dealt(self.tournament.at(number), self.game, closed, pairings)
        await self._recorder.write(self._store.add_stage, self.tournament, number, pairings, given)
        return True

    # Giving out

    async def _play_queue(self, watching: asyncio.Task[None]) -> None:
        try:
            while not self._decided and (self._turns or (self._goes_on() and not self._stopping)):
                await self._plan_on()
                while (turn := self._next()) is not None:
                    self._give(turn)
                await self._wake.wait()
                self._wake.clear()
                self._collect()
                if watching.done():  # it failed
                    watching.result()
        finally:
            self._cancel()
            await asyncio.gather(*self._turns, return_exceptions=True)
        if self._stopping and not self._decided:
            raise Interrupted

    def _goes_on(self) -> bool:
        """Whether there is something to give out, now or later."""
        return bool(self._queue)

    async def _plan_on(self) -> None:
        """Plans while others play, where the format does that."""

    def _next(self) -> Turn | None:
        """Takes the next turn off the queue; None where that has to wait."""
        return self._queue.popleft() if self._queue and self._may_give() else None

    def _collect(self) -> None:
        """Takes in the turns that are done; void games go back to the head of the queue."""
        again = []
        for task in [task for task in self._turns if task.done()]:
            self._release(self._turns.pop(task))  # also where it was cancelled before it began
            again.append(None if task.cancelled() else task.result())
        self._queue.extendleft(turn for turn in again if turn is not None)

    def _may_give(self) -> bool:
        if self._stopping or self._alone or len(self._turns) >= BACKLOG * self.executor.capacity:
            return False
        return not self._on if self._queue[0].voids else len(self._on) < self.executor.capacity

    def _give(self, turn: Turn) -> None:
        self._alone = turn.voids > 0
        self._on.add(turn.planned.number)
        self._turns[asyncio.create_task(self._take(turn))] = turn

    async def _take(self, turn: Turn) -> Turn | None:
        """Plays and records one attempt; the turn to take again after a void one."""
        try:
            result = await self._play(turn)
        finally:
            self._release(turn)
            self._alone = False
            self._wake.set()
        try:
            return await self._record(turn, result)
        finally:
            self._wake.set()

    def _release(self, turn: Turn) -> None:
        """It is no longer played; harmless when told twice."""
        self._on.discard(turn.planned.number)

    async def _play(self, turn: Turn) -> Result:
        return await self.executor.play(self._assign(turn))

    def _assign(self, turn: Turn) -> Assignment:
        planned, tournament = turn.planned, self.tournament
        secret = tournament.at(planned.stage).secret
        return Assignment(
            planned=planned,
            token=Token(tournament.epoch, turn.voids + 1),
            spec=tournament.spec,
            seeds=tuple(deals.bot_seed(secret, planned.number, seat) for seat in planned.letters),
            alone=turn.voids > 0,
        )

    async def _record(self, turn: Turn, result: Result) -> Turn | None:
        recorded = await self._recorder.record(result)
        if recorded.refused and not (recorded.stopped or recorded.needless):
            raise ArenaError("a result was refused", f"game {recorded.number}: {recorded.refused}", "run it again")
        self._ended += 1
        if not recorded.refused:
            self.watcher.ended(result)
            self.strain.note(result)
        for parked in recorded.parked:
            self._park(parked)
        if recorded.stopped:  # nothing is to be played any more, nor to be recorded
            self._decided = True
            self._queue.clear()
            return None
        return Turn(turn.planned, turn.voids + 1) if recorded.status is GameStatus.PLANNED else None

    def _park(self, parked: Parked) -> None:
        """The store has settled all games of this entrant: nothing more is played of them."""
        self._queue = deque(turn for turn in self._queue if parked.entrant not in turn.planned.seats)
        for task, turn in self._turns.items():
            if turn.planned.number in self._on and parked.entrant in turn.planned.seats:
                task.cancel()
        spec = self.tournament.spec
        what = (
            "its remaining games are taken off" if spec.probation.then == "cancel" else "forfeits its remaining games"
        )
        self.watcher.notes(
            f"{spec.labels[parked.entrant]} is parked and {what}: {parked.why}; "
            f"evidence: arena games show {self.tournament.name}/{parked.number}"
        )

    def _give_up(self) -> None:
        self._recorder.hurry()
        self._cancel()

    def _cancel(self) -> None:
        for turn in self._turns:
            turn.cancel()

    # Watching

    async def _watch(self) -> None:
        seen, snapshot = -1, None
        while True:
            if snapshot is None or seen != self._ended:
                seen, snapshot = self._ended, await self._look()
            self.watcher.stands(replace(snapshot, running=self.executor.running()))
            await asyncio.sleep(SHOW_EVERY)

    async def _look(self) -> Snapshot:
        standings = await self._recorder.call(self._store.standings, self.tournament)
        progress = await self._recorder.call(self._store.progress, self.tournament)
        rate = self._ended / (time.monotonic() - self._began) if self._ended else None
        question = await self._recorder.call(self._store.question, self.tournament) or await self._lead()
        return Snapshot(standings, progress, rate, progress.open / rate if rate else None, question)

    async def _lead(self) -> str:
        """How sure the lead is, where no stop rule asks: computed seldom, as it takes all games so far."""
        began = time.monotonic()
        if began >= self._lead_due:
            self._lead_told = await self._recorder.call(self._store.lead, self.tournament)
            self._lead_due = time.monotonic() + max(LEAD_EVERY, LEAD_SHARE * (time.monotonic() - began))
        return self._lead_told
