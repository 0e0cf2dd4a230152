"""Side events: what a server plays beside its season, every open challenge and closing of its database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from arena_server.coordinator.closing import Closing
from arena_server.coordinator.coordinator import GRACE, Interrupted
from arena_server.coordinator.recorder import Recorder
from arena_server.coordinator.served import TICK, Floor, Served
from arena_server.coordinator.watching import Watcher
from arena_server.model import BreakdownError, Purpose
from arena_server.store import SideEvent, Store, Tournament, queries
from arena_server.store.lock import TakenError

AT_ONCE = 16
"""Side events that are played at the same time: each has a lock and a thread."""
ABSENCE = 600.0
"""Seconds for which a challenge waits for its bots to be there; then it is called off."""
PATIENCE = 86_400.0
"""Seconds for which a game of a closing waits for a bot that is away, unless the organiser says otherwise."""


class SideEvents:
    """Plays them until it is told to stop. An error in one of them ends that one alone.

    Args:
        floor: where, and with whom.
        watcher: of a side event, by its name.
        facts: what they run with.

    Attributes:
        grace: seconds that running games have to finish once it stops.
        patience: seconds for which a game of a closing waits for a bot that is away.
        served: names, as they count, of all tournaments that servers of this database play and have played.
    """

    def __init__(self, store: Store, floor: Floor, watcher: Callable[[str], Watcher], facts: Mapping[str, Any]) -> None:
        self.grace = GRACE
        self.patience = PATIENCE
        self.served = queries.served(store)
        self._store = store
        self._floor = floor
        self._watcher = watcher
        self._facts = facts
        self._recorder = Recorder(store, watcher("side events").notes)
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._playing: dict[int, Served] = {}
        self._broken: set[int] = set()
        self._at_once = asyncio.Semaphore(AT_ONCE)
        self._stopping = asyncio.Event()

    @property
    def open(self) -> int:
        """Side events that are played, or wait for their bots."""
        return len(self._tasks)

    async def run(self) -> None:
        """Plays on until it is stopped, and what runs is finished.

        Raises:
            BreakdownError: nothing can be played or recorded.
        """
        try:
            while not self._stopping.is_set():
                await self._take_up()
                await self._pause()
                self._collect()
            await asyncio.gather(*self._tasks.values())
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
            await self._recorder.close()

    def stop(self) -> None:
        """Begins no more games; those running have a grace to finish, a second call ends it."""
        self._stopping.set()
        for coordinator in self._playing.values():
            coordinator.stop()

    async def _take_up(self) -> None:
        """Begins with whatever is new."""
        for event in await self._recorder.call(self._store.side_events):
            self.served.add(event.name.casefold())
            if event.id not in self._tasks and event.id not in self._broken:
                self._tasks[event.id] = asyncio.create_task(self._attend(event))

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(TICK):
                await self._stopping.wait()

    def _collect(self) -> None:
        for number in [number for number, task in self._tasks.items() if task.done()]:
            self._tasks.pop(number).result()

    async def _attend(self, event: SideEvent) -> None:
        """All there is to be done about one of them."""
        try:
            held = await self._recorder.call(self._store.tournament, event.id)
            self._floor.awaited.update(held.spec.entrants)
            try:
                await self._wait_for_bots(held)
            finally:
                self._floor.awaited.subtract(held.spec.entrants)
        except TakenError:  # by a command: perhaps it is left unfinished
            return
        except BreakdownError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one, the others go on
            self._broken.add(event.id)
            self._watcher(event.name).notes(f"it is played no more until the server starts again: {error}")

    async def _wait_for_bots(self, held: Tournament) -> None:
        """Plays it once its bots are there, or calls it off after a while."""
        since = time.monotonic()
        while (away := self._away(held)) and not self._stopping.is_set():
            if time.monotonic() - since > ABSENCE:
                verb = "was" if len(away) == 1 else "were"
                why = f"{' and '.join(away)} {verb} not there for {ABSENCE / 60:g} minutes"
                async with self._lock(held) as locked:
                    await self._call_off(locked, why)
                return
            await self._pause()
        async with self._at_once:
            if not self._stopping.is_set():
                async with self._lock(held) as locked:
                    await self._play(locked)

    @asynccontextmanager
    async def _lock(self, held: Tournament) -> AsyncIterator[Tournament]:
        """Takes it for this process; to give it back may take as long as a database that hangs."""
        lock = await self._recorder.call(self._store.lock, held)
        try:
            yield lock.tournament
        finally:
            await asyncio.to_thread(lock.release)

    def _away(self, held: Tournament) -> list[str]:
        """The bots of a challenge that are not there; anything else begins without them."""
        if held.purpose is not Purpose.CHALLENGE:
            return []
        here = {one.entrant for one in self._floor.present()}
        labels = zip(held.spec.entrants, held.spec.labels, strict=True)
        return [label for entrant, label in labels if entrant not in here]

    async def _play(self, held: Tournament) -> None:
        watcher = self._watcher(held.name)
        await self._recorder.write(self._store.begin_run, held, self._facts)
        watcher.notes(f"{' against '.join(held.spec.labels)} begins")
        self._playing[held.id] = coordinator = self._coordinator(held, watcher)
        coordinator.grace = self.grace
        if self._stopping.is_set():  # meanwhile
            coordinator.stop()
        try:
            await coordinator.run()
            watcher.notes("it is over")
        except Interrupted:
            pass
        except BreakdownError:
            raise
        except Exception as error:
            if held.purpose is Purpose.CLOSING:
                raise
            await self._call_off(held, f"it cannot be played: {error}")
        finally:
            del self._playing[held.id]

    def _coordinator(self, held: Tournament, watcher: Watcher) -> Served:
        if held.purpose is not Purpose.CLOSING:
            return Served(self._store, held, watcher, self._floor)
        coordinator = Closing(self._store, held, watcher, self._floor)
        coordinator.patience = self.patience
        return coordinator

    async def _call_off(self, held: Tournament, why: str) -> None:
        await self._recorder.call(self._store.call_off, held, why)
        self._watcher(held.name).notes(f"it is called off: {why}")
