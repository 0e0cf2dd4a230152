"""Answers that many ask for: who asks is given the last one at once, and it is made anew behind him."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from arena_server.service.answering import Desk

MAX_AGE_S = 1.0
"""Seconds that an answer may be old when it is given."""
REST_S = 0.02
"""Seconds before the next is begun: what was just given is on its way by then, and a crowd of readers has few made."""
MAX_KEPT = 16
"""Answers: a stranger who asks for many different ones fills no memory."""

_Answer = TypeVar("_Answer")


@dataclass(eq=False)
class _Kept(Generic[_Answer]):
    """An answer, when it was begun to be made, and the next one in the making."""

    answer: _Answer | None = None
    begun: float = -math.inf
    making: asyncio.Task[None] | None = None


class KeptAnswers(Generic[_Answer]):
    """Answers of a second ago at most, where nobody wants fresher ones.

    Args:
        desk: makes them.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._kept: dict[bytes, _Kept[_Answer]] = {}

    async def ask(self, key: bytes, question: Callable[[], _Answer], *, fresh: bool = False) -> _Answer:
        """The answer to a question.

        Args:
            key: what sets it apart from other questions.
            question: blocks; what it raises is raised here, where there is no answer that is young enough.
            fresh: whether one that was begun before this question is too old.
        """
        kept = self._find(key)
        oldest = time.monotonic() - (0.0 if fresh else MAX_AGE_S)
        if kept.begun >= oldest:
            self._make(kept, question, REST_S)
        while kept.begun < oldest:
            await asyncio.shield(self._make(kept, question))
        assert kept.answer is not None
        return kept.answer

    def _find(self, key: bytes) -> _Kept[_Answer]:
        kept = self._kept[key] = self._kept.pop(key, _Kept[_Answer]())
        if len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]  # nobody has asked for it for longest
        return kept

    def _make(self, kept: _Kept[_Answer], question: Callable[[], _Answer], rest_s: float = 0.0) -> asyncio.Task[None]:
        if kept.making is None:
            kept.making = asyncio.create_task(self._making(kept, question, rest_s))
            kept.making.add_done_callback(_look_at)
        return kept.making

    async def _making(self, kept: _Kept[_Answer], question: Callable[[], _Answer], rest_s: float) -> None:
        try:
            await asyncio.sleep(rest_s)
            begun = time.monotonic()
            kept.answer, kept.begun = await self._desk.ask(question), begun
        finally:
            kept.making = None


def _look_at(making: asyncio.Task[None]) -> None:
    """What went wrong is raised where somebody waits; where nobody does, it is tried again when somebody asks."""
    if not making.cancelled():
        making.exception()
