"""A coordinator of a standing server: its bots come and go, so games wait for them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from arena_engine.game import Game
from arena_server.coordinator.coordinator import Coordinator, Turn
from arena_server.coordinator.seating import Seating
from arena_server.coordinator.watching import Watcher
from arena_server.executors import Executor
from arena_server.model import Assignment, Ending, Entrant, Result
from arena_server.referee.guests import Guests, Present
from arena_server.store import Store, Tournament

TICK = 1.0
"""Seconds between two looks at what changes without a call."""
AWAY = 30.0
"""Seconds for which a planned game waits for a bot that is lost; then it is abandoned, and counts for nobody. Ratings,
which go on in schedule order, wait as long."""


@dataclass(frozen=True, slots=True)
class Floor:
    """Where the tournaments of a server are played, and who is there.

    Attributes:
        house: the bots that the server launches itself; always there.
        guests: those that come from elsewhere.
        seating: who sits where.
        awaited: in how many open side events each bot plays: it is not sent away before.
    """

    game: Game
    executor: Executor
    house: tuple[Present, ...]
    guests: Guests
    seating: Seating
    awaited: Counter[Entrant] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Whoever comes or goes may make a game begin."""
        self.guests.changed = self.seating.wake

    def present(self) -> list[Present]:
        """Everybody that can be given games."""
        return [*self.house, *self.guests.present()]


class Served(Coordinator):
    """Plays a tournament on the floor of a server, to its end or until it is told to stop.

    Args:
        tournament: as its lock gives it.
        floor: where, and with whom.

    Attributes:
        patience: seconds for which a planned game waits for a bot that is away.
    """

    def __init__(self, store: Store, tournament: Tournament, watcher: Watcher, floor: Floor) -> None:
        super().__init__(store, tournament, floor.game, floor.executor, watcher)
        self.floor = floor
        self.patience = AWAY
        self._party = floor.seating.join(self._wake.set, beside=tournament.purpose.beside)
        self._away: dict[int, float] = {}  # since when a seat of a planned game is, by its number

    @property
    def waiting(self) -> int:
        """Games that are planned and not begun."""
        return len(self._queue)

    async def run(self) -> None:
        """As of a coordinator."""
        try:
            await super().run()
        finally:
            self._party.leave()

    # Giving out

    def _next(self) -> Turn | None:
        """The first turn that may sit down; before it one that has waited too long, to be abandoned."""
        here, ready = self._places(), dict[int, tuple[Turn, list[Present]]]()
        for turn in () if self._stopping else self._queue:
            number, seats = turn.planned.number, turn.planned.seats
            if all(seat in here for seat in seats):
                self._away.pop(number, None)
                ready[number] = turn, [here[seat] for seat in seats]
            elif self._has_waited(turn):
                self._queue.remove(turn)
                return turn
        number_seated = self._party.seat((number, bots) for number, (_, bots) in ready.items())
        if number_seated is None:
            return None
        turn, _ = ready[number_seated]
        self._queue.remove(turn)
        return turn

    def _has_waited(self, turn: Turn) -> bool:
        """Whether a turn has waited long enough for a bot that is away."""
        waited = time.monotonic() - self._away.setdefault(turn.planned.number, time.monotonic())
        return waited > self.patience or self._is_left(turn)

    def _release(self, turn: Turn) -> None:
        super()._release(turn)
        self._party.rise(turn.planned.number)

    def _is_left(self, turn: Turn) -> bool:
        """Whether a bot of it has said that it leaves: no use to wait."""
        entrants = self.tournament.spec.entrants
        return any(self.floor.guests.leaves(entrants[seat]) for seat in turn.planned.seats)

    async def _play(self, turn: Turn) -> Result:
        if turn.planned.number in self._away:
            return self._nobody(turn)
        return await super()._play(turn)

    def _nobody(self, turn: Turn) -> Result:
        """An attempt at a game whose bots did not come."""
        planned = turn.planned
        start = self.game.start(planned.deal, len(planned.seats))
        began = datetime.now(UTC).isoformat(timespec="seconds")
        reason = "a bot has left" if self._is_left(turn) else f"a bot was away for over {self.patience:g} s"
        return Result(self._assign(turn), Ending.VOID, None, (), (), start.text, began, 0, reason=reason)

    def _assign(self, turn: Turn) -> Assignment:
        return replace(super()._assign(turn), alone=False, anonymous=True)

    # Who is there

    def _places(self) -> dict[int, Present]:
        """The entrants that are there, by index."""
        places = self.tournament.spec.places
        return {places[one.entrant]: one for one in self.floor.present() if one.entrant in places}

    async def _lead(self) -> str:
        return ""  # it would read every game, again and again

    async def _watch(self) -> None:
        """Looks again now and then: nobody tells when a bot was away for too long."""
        while True:
            await asyncio.sleep(TICK)
            self._wake.set()
            await self._remember()

    async def _remember(self) -> None:
        """Notes what a next run must know; nothing here, where games wait for moments."""
