"""Group commit: results that arrive within a moment, or while a commit runs, share the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from arena_server.model import Result
from arena_server.store import Recorded, Store

T = TypeVar("T")

GATHER = 0.25
"""Seconds that a finished game waits for others to share its commit: alone it costs three times as much."""


class Recorder:
    """Writes to the store from one thread, never on the event loop."""

    def __init__(self, store: Store) -> None:
        self.store = store
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
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    async def close(self) -> None:
        """Waits for what is being written."""
        if self._flushing is not None:
            await self._flushing
        self._thread.shutdown()

    async def _flush(self) -> None:
        await asyncio.sleep(GATHER)
        while self._pending:
            batch, self._pending = self._pending, []
            try:
                recorded = await self.call(self.store.record, [result for result, _ in batch])
            except Exception as error:  # noqa: BLE001 - handed to everyone who waits for this commit
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
                continue
            for (_, done), answer in zip(batch, recorded, strict=True):
                if not done.done():
                    done.set_result(answer)
