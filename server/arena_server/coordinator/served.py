"""A coordinator of a standing server: its bots come and go, so games wait for them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from arena_engine.game import Game
from arena_server.coordinator.coordinator import Coordinator, Turn
from arena_server.coordinator.watching import Watcher
from arena_server.executors import Executor
from arena_server.model import Assignment, Ending, Result
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
    """

    game: Game
    executor: Executor
    house: tuple[Present, ...]
    guests: Guests

    def present(self) -> list[Present]:
        """Everybody that can be given games."""
        return [*self.house, *self.guests.present()]


class Served(Coordinator):
    """Plays a tournament on the floor of a server.

    Args:
        tournament: as its lock gives it.
        floor: where, and with whom.
    """

    def __init__(self, store: Store, tournament: Tournament, watcher: Watcher, floor: Floor) -> None:
        super().__init__(store, tournament, floor.game, floor.executor, watcher)
        self.floor = floor
        self._away: dict[int, float] = {}  # since when a seat of a planned game is, by its number

    @property
    def waiting(self) -> int:
        """Games that are planned and not begun."""
        return len(self._queue)

    # Giving out

    def _next(self) -> Turn | None:
        """The first turn whose bots are there and free; one that has waited too long is given out to be abandoned."""
        if self._stopping or len(self._on) >= self.executor.capacity:
            return None
        room = self._room()
        for turn in self._queue:
            if self._ready(turn, room):
                self._queue.remove(turn)
                return turn
        return None

    def _ready(self, turn: Turn, room: Counter[int]) -> bool:
        number = turn.planned.number
        if self._places().keys() >= {*turn.planned.seats}:
            self._away.pop(number, None)
            return all(room[entrant] > 0 for entrant in turn.planned.seats)
        waited = time.monotonic() - self._away.setdefault(number, time.monotonic())
        return waited > AWAY or self._is_left(turn)

    def _is_left(self, turn: Turn) -> bool:
        """Whether a bot of it has said that it leaves: no use to wait."""
        entrants = self.tournament.spec.entrants
        return any(self.floor.guests.leaves(entrants[seat]) for seat in turn.planned.seats)

    def _room(self) -> Counter[int]:
        """How many more games each entrant that is there can play now."""
        room = Counter({place: one.games_at_once for place, one in self._places().items()})
        for turn in self._running():
            room.subtract(turn.planned.seats)
        return room

    async def _play(self, turn: Turn) -> Result:
        if turn.planned.number in self._away:
            return self._nobody(turn)
        return await super()._play(turn)

    def _nobody(self, turn: Turn) -> Result:
        """An attempt at a game whose bots did not come."""
        planned = turn.planned
        start = self.game.start(planned.deal, len(planned.seats))
        began = datetime.now(UTC).isoformat(timespec="seconds")
        reason = "a bot has left" if self._is_left(turn) else f"a bot was away for over {AWAY:g} s"
        return Result(self._assign(turn), Ending.VOID, None, (), (), start.text, began, 0, reason=reason)

    def _assign(self, turn: Turn) -> Assignment:
        return replace(super()._assign(turn), alone=False, anonymous=True)

    # Who is there

    def _places(self) -> dict[int, Present]:
        """The entrants that are there, by index."""
        places = self.tournament.spec.places
        return {places[one.entrant]: one for one in self.floor.present() if one.entrant in places}

    def _running(self) -> Iterator[Turn]:
        return (turn for turn in self._turns.values() if turn.planned.number in self._on)

    async def _lead(self) -> str:
        return ""  # it would read every game, again and again

    async def _watch(self) -> None:
        """Looks again now and then: nobody tells when a bot was away for too long."""
        while True:
            await asyncio.sleep(TICK)
            self._wake.set()
