"""The round-robin that decides a season: its games wait long for whoever is away."""

from __future__ import annotations

import math
import time

from arena_server.coordinator.coordinator import Turn
from arena_server.coordinator.served import Floor, Served
from arena_server.coordinator.watching import Watcher
from arena_server.store import Store, Tournament

REMEMBER_EVERY = 60.0
"""Seconds between two notes of how long games have waited: so much of it a server that ends forgets."""


class Closing(Served):
    """Plays it on the floor of a server. A game is given up only where a bot of it was away for its whole patience.

    Only time in which a server played counts, over all its runs: without one, no bot can be there.
    """

    def __init__(self, store: Store, tournament: Tournament, watcher: Watcher, floor: Floor) -> None:
        super().__init__(store, tournament, watcher, floor)
        self._remembered = math.inf  # nothing is noted before it is known what was

    async def _fill(self) -> bool:
        """Knows how long its games have waited before."""
        waits = await self._recorder.call(self._store.waits, self.tournament)
        self._remembered = now = time.monotonic()
        self._away.update((number, now - waited) for number, waited in waits.items())
        return await super()._fill()

    def _is_left(self, turn: Turn) -> bool:  # noqa: ARG002 - whoever it is
        """Who leaves may come back: this is the last chance of all."""
        return False

    async def _remember(self) -> None:
        now = time.monotonic()
        if now - self._remembered >= REMEMBER_EVERY:
            self._remembered = now
            numbers = [turn.planned.number for turn in self._queue if turn.planned.number in self._away]
            waits = {number: now - self._away[number] for number in numbers}
            await self._recorder.call(self._store.note_waits, self.tournament, waits)
