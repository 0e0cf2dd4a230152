"""A coordinator of a standing server: its bots come and go, so games wait for them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping
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
LOOK_SHARE = 1000.0
"""A look for games that have waited too long is followed by so many times as long without one: clocks run meanwhile."""
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
        self._late: dict[int, Turn] = {}  # waited too long and are to be given out, by number
        self._here = set[int]()  # entrants that were, at the last look
        self._look_due = 0.0

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
        """The first turn that may sit down; before it those that have waited too long, to be abandoned."""
        here = {} if self._stopping else self._places()
        if not self._stopping:
            self._look_who_is_away(here.keys())
        if self._late:
            return self._late.pop(next(iter(self._late)))
        ready = {turn.planned.number: (index, turn) for index, turn in self._ready(here)}
        number = self._party.seat(
            (number, [here[seat] for seat in turn.planned.seats]) for number, (_, turn) in ready.items()
        )
        if number is None:
            return None
        index, turn = ready[number]
        del self._queue[index]
        self._away.pop(number, None)
        return turn

    def _ready(self, here: Mapping[int, Present]) -> Iterator[tuple[int, Turn]]:
        """The turns that may stand in line, each with its place in the queue: those before it leave room at its bots.

        A queue may hold 100,000 turns, and games begin and end all the time: a turn that is passed over costs one look
        into a set, and none is looked at once too few bots have room.
        """
        spec, sits = self.tournament.spec, self._party.sits
        room = Counter({place: one.games_at_once - sits[one.entrant] for place, one in here.items()})
        shut = {place for place in range(len(spec.entrants)) if room[place] < 1}
        turns = enumerate(self._queue)
        while len(spec.entrants) - len(shut) >= spec.seats:
            found = next((one for one in turns if shut.isdisjoint(one[1].planned.seats)), None)
            if found is None:
                return
            seats = found[1].planned.seats
            room.subtract(seats)
            shut.update(seat for seat in seats if room[seat] < 1)
            yield found

    def _look_who_is_away(self, here: Collection[int]) -> None:
        """Finds the turns that have waited too long; looks whenever somebody came or went, else now and then."""
        began = time.monotonic()
        if here == self._here and began < self._look_due:
            return
        away = set(range(len(self.tournament.spec.entrants))).difference(here)
        for turn in self._queue:
            number = turn.planned.number
            if away.isdisjoint(turn.planned.seats):
                self._away.pop(number, None)
            elif began - self._away.setdefault(number, began) > self.patience or self._is_left(turn):
                self._late[number] = turn
        if self._late:
            self._queue = deque(turn for turn in self._queue if turn.planned.number not in self._late)
        now = time.monotonic()
        self._here, self._look_due = set(here), now + max(TICK, LOOK_SHARE * (now - began))

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

    async def _record(self, turn: Turn, result: Result) -> Turn | None:
        again = await super()._record(turn, result)
        if again is None:
            self._away.pop(turn.planned.number, None)
        return again

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
