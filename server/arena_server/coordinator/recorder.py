"""Group commit: results that arrive within a moment, or while a commit runs, share the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from arena_server.model import Result
from arena_server.store import AwayError, Recorded, Store

T = TypeVar("T")

GATHER = 0.25
"""Seconds that a finished game waits for others to share its commit: alone it costs three times as much."""

PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6, *[2.0] * 30)
"""Seconds between two tries while the database is away: a restart takes less than a minute."""


class Recorder:
    """Writes to the store from one thread, never on the event loop; a database that is away is waited for.

    Args:
        store: where to.
        tell: told when the database is away, and when it is back.
    """

    def __init__(self, store: Store, tell: Callable[[str], None]) -> None:
        self.store = store
        self._tell = tell
        self._away = False
        self._patient = True
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._pending: list[tuple[Result, asyncio.Future[Recorded]]] = []
        self._flushing: asyncio.Task[None] | None = None

    async def record(self, result: Result) -> Recorded:
        """Returns once the result is on disk; raises ArenaError when it could not be written."""
        done: asyncio.Future[Recorded] = asyncio.get_running_loop().create_future()
        self._pending.append((result, done))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush())
        return await done

    async def call(self, work: Callable[..., T], *arguments: object) -> T:
        """Runs any other store call in the same thread."""
        return await self._try(lambda _again: work(*arguments))

    async def write(self, work: Callable[..., T], *arguments: object) -> T:
        """The same with one that must know whether an earlier try may have been committed: it is told ``again``."""
        return await self._try(lambda again: work(*arguments, again=again))

    def hurry(self) -> None:
        """Waits no more for a database that is away."""
        self._patient = False

    async def close(self) -> None:
        """Waits for what is being written."""
        if self._flushing is not None:
            await self._flushing
        self._thread.shutdown()

    async def _try(self, work: Callable[[bool], T]) -> T:
        """Runs the work, told whether it is tried again, until the database is there or patience is at its end."""
        loop, again = asyncio.get_running_loop(), False
        for pause in (*PAUSES, None):
            try:
                done = await loop.run_in_executor(self._thread, self._do, work, again)
            except AwayError as error:
                if pause is None or not self._patient:
                    raise
                self._note(away=True, line=f"{error.what}: waiting for {self.store.label}")
                again = True
                await asyncio.sleep(pause)
            else:
                break
        self._note(away=False, line=f"{self.store.label} is back")
        return done

    def _do(self, work: Callable[[bool], T], again: bool) -> T:  # noqa: FBT001 - how `_try` tells it
        if self._away:  # before it is told to be back, and nobody else gets in
            self.store.hold()
        return work(again)

    def _note(self, *, away: bool, line: str) -> None:
        if away != self._away:
            self._away = away
            self._tell(line)

    async def _flush(self) -> None:
        await asyncio.sleep(GATHER)
        while self._pending:
            batch, self._pending = self._pending, []
            try:
                recorded = await self._try(partial(self._record, [result for result, _ in batch]))
            except Exception as error:  # noqa: BLE001 - handed to everyone who waits for this commit
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
                continue
            for (_, done), answer in zip(batch, recorded, strict=True):
                if not done.done():
                    done.set_result(answer)

    def _record(self, results: list[Result], again: bool) -> list[Recorded]:  # noqa: FBT001 - how `_try` tells it
        return self.store.record(results, again=again)
