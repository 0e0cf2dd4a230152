"""How a question is answered: in a thread of the readers' own, a bounded number of them, errors as a call's status."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import grpc

from arena_server.model import ArenaError, UserError
from arena_server.store.database import TooLongError
from arena_server.store.lists import MissingError

THREADS = 2
"""Questions answered at the same time; games are played beside them."""
MAX_WAITING = 64
"""Questions that wait for one of these threads; further ones are refused."""
MAX_TEXT = 300
"""Characters of each part of an error: it travels as metadata, which clients bound."""
ERROR_KEY = "arena-error-bin"
"""Metadata with the parts of an error, as JSON: what, value, fix."""

Context = grpc.aio.ServicerContext[Any, Any]
_Answer = TypeVar("_Answer")


class BusyError(ArenaError):
    """Too many wait for an answer already."""


class Desk:
    """Answers questions to the store, which blocks, beside an event loop."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="query")
        self._waiting = 0

    def close(self) -> None:
        """Ends the threads once they are done."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def ask(self, question: Callable[[], _Answer]) -> _Answer:
        """Asks in one of the threads; raises what the question raises, BusyError where too many wait."""
        if self._waiting >= MAX_WAITING + THREADS:
            raise BusyError("too many questions at once", "", "ask again later")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, question)
        finally:
            self._waiting -= 1

    async def answer(self, context: Context, question: Callable[[], _Answer]) -> _Answer:
        """The same for a call: what goes wrong becomes its status."""
        return await self.tell(context, self.ask(question))

    async def tell(self, context: Context, answer: Awaitable[_Answer]) -> _Answer:
        """What a call is answered, likewise."""
        try:
            return await answer
        except ArenaError as error:
            await refuse(context, error)
            raise AssertionError from error  # refusing raises


async def refuse(context: Context, error: ArenaError) -> None:
    """Ends a call with what went wrong."""
    what, value, fix = (part[:MAX_TEXT] for part in (error.what, str(error.value), error.fix))
    parts = json.dumps({"what": what, "value": value, "fix": fix}).encode()
    told = str(ArenaError(what, value, fix))
    await context.abort(_status(error), told, ((ERROR_KEY, parts),))


def _status(error: ArenaError) -> grpc.StatusCode:
    if isinstance(error, MissingError):
        return grpc.StatusCode.NOT_FOUND
    if isinstance(error, TooLongError):
        return grpc.StatusCode.DEADLINE_EXCEEDED
    if isinstance(error, BusyError):
        return grpc.StatusCode.RESOURCE_EXHAUSTED
    return grpc.StatusCode.INVALID_ARGUMENT if isinstance(error, UserError) else grpc.StatusCode.UNAVAILABLE
