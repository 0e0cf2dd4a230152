"""Answers that many ask for, made once for all of them and anew when something is recorded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from arena_server.service.answering import Desk
from arena_server.store.database import Changes

FRESH_S = 1.0
"""Seconds that an answer holds at most: other processes write to the database, too."""
RENEWALS = 6
"""How often an answer is made anew before it is asked for again: a question costs so many times itself at most."""
GAP_S = 0.02
"""Seconds between two renewals; who asks in between waits for what he asks for."""
MAX_KEPT = 8
"""Answers, so that a stranger who asks for many different ones has few of them renewed."""

_Answer = TypeVar("_Answer")


@dataclass(eq=False)
class _Kept(Generic[_Answer]):
    """An answer, and what it is the answer to.

    Attributes:
        asked: when somebody asked last.
        renewals: how often it is still made anew unasked.
        begun: when the answer was begun to be made.
        change: the last change before that.
    """

    question: Callable[[], _Answer]
    asked: float
    renewals: int = RENEWALS
    answer: _Answer | None = None
    begun: float = 0.0
    change: object = None
    making: asyncio.Task[None] | None = None


class KeptAnswers(Generic[_Answer]):
    """Answers from memory, as long as this process has recorded nothing since.

    What is asked again and again is made anew as soon as something is recorded, so that few wait for it.

    Args:
        desk: answers what is not known.
        changes: of the database that is asked.
    """

    def __init__(self, desk: Desk, changes: Changes) -> None:
        self._desk = desk
        self._changes = changes
        self._kept: dict[bytes, _Kept[_Answer]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._renewed = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Makes no more answers."""
        self._changes.listeners.discard(self._tell)
        if self._timer is not None:
            self._timer.cancel()

    async def ask(self, key: bytes, question: Callable[[], _Answer]) -> _Answer:
        """The answer to a question, of which nothing is missing that was recorded before it was asked.

        Args:
            key: what sets it apart from other questions.
            question: blocks; what it raises is raised here.
        """
        self._listen()
        began = time.monotonic()
        if key not in self._kept and len(self._kept) >= MAX_KEPT:
            del self._kept[min(self._kept, key=lambda known: self._kept[known].asked)]
        kept = self._kept.setdefault(key, _Kept(question, began))
        kept.asked, kept.renewals = began, RENEWALS
        while (answer := self._held(kept, began)) is None:
            await asyncio.shield(self._make(kept))
        return answer

    def _held(self, kept: _Kept[_Answer], asked: float) -> _Answer | None:
        holds = kept.change is self._changes.last and asked - kept.begun < FRESH_S
        return kept.answer if holds or kept.begun >= asked else None

    def _make(self, kept: _Kept[_Answer]) -> asyncio.Task[None]:
        if kept.making is None:
            kept.making = asyncio.create_task(self._answer(kept))
            kept.making.add_done_callback(_look_at)
        return kept.making

    async def _answer(self, kept: _Kept[_Answer]) -> None:
        try:
            begun, change = time.monotonic(), self._changes.last
            kept.answer = await self._desk.ask(kept.question)
            kept.begun, kept.change = begun, change
        finally:
            kept.making = None

    def _listen(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._changes.listeners.add(self._tell)

    def _tell(self) -> None:
        """In the thread that has recorded."""
        assert self._loop is not None
        with suppress(RuntimeError):  # a loop that has ended: nobody asks any more
            self._loop.call_soon_threadsafe(self._renew_soon)

    def _renew_soon(self) -> None:
        if self._timer is None and self._kept:
            assert self._loop is not None
            self._timer = self._loop.call_later(max(0.0, self._renewed + GAP_S - time.monotonic()), self._renew)

    def _renew(self) -> None:
        self._timer, self._renewed = None, time.monotonic()
        for key, kept in list(self._kept.items()):
            kept.renewals -= 1
            if kept.renewals < 0:
                del self._kept[key]
            else:
                self._make(kept)


def _look_at(making: asyncio.Task[None]) -> None:
    """What went wrong is raised where somebody waits; where nobody does, it is tried again when somebody asks."""
    if not making.cancelled():
        making.exception()
