"""The watchdog of our own event loop: what it measures is never charged to a bot."""

from __future__ import annotations

import asyncio
import time

from arena_server.referee.clocks import Now
from arena_server.referee.pressure import Pressure

PERIOD = 0.01
"""Seconds between two beats."""
LOOK_EVERY = 5
"""Beats between two looks at the counters of the machine, which cost as much as a tenth of a move."""
TOLERANCE = 0.02
"""Lateness of a beat that is no stall. On a busy machine everyone waits for a core now and then, and the margin covers
it; counted as stalls, such moments would add up to a void in every long game."""


class Stalls:
    """Counts how long the running loop was kept from running, and beside it what the machine says of its load.

    Attributes:
        pressure: where that comes from.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.pressure = Pressure()
        self._stolen, self._waited = self.pressure.stolen(), self.pressure.waited()
        self._beats = 0
        self._total = 0.0
        self._due = time.monotonic() + PERIOD
        self._timer = self._loop.call_later(PERIOD, self._beat)

    def now(self) -> Now:
        """This instant, an unfinished stall included."""
        return self.instant(time.monotonic())

    def instant(self, at: float) -> Now:
        """The instant `at`, which must not lie before the last beat by more than a reading."""
        return Now(at, self._total + self._lateness(at), self._stolen, self._waited)

    def stop(self) -> None:
        """Ends the watch."""
        self._timer.cancel()
        self.pressure.close()

    def _lateness(self, at: float) -> float:
        late = at - self._due
        return late if late > TOLERANCE else 0.0

    def _beat(self) -> None:
        at = time.monotonic()
        self._total += self._lateness(at)
        self._beats += 1
        if self._beats % LOOK_EVERY == 0:
            self._stolen, self._waited = self.pressure.stolen(), self.pressure.waited()
        self._due = at + PERIOD
        self._timer = self._loop.call_later(PERIOD, self._beat)
