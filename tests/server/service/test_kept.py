"""Answers that are kept until something is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from threading import Event

import pytest

from arena_server.model import ArenaError
from arena_server.service import kept
from arena_server.service.answering import Desk
from arena_server.service.kept import RENEWALS, KeptAnswers
from arena_server.store.database import Changes


class Asked:
    """A database with a number in it, and who asks for it.

    Attributes:
        times: how often the database was asked.
    """

    def __init__(self, answers: KeptAnswers[int], changes: Changes) -> None:
        self.answers = answers
        self.changes = changes
        self.number = 0
        self.times = 0
        self.may_go_on = Event()
        self.may_go_on.set()

    def question(self) -> int:
        self.times += 1
        number = self.number
        assert self.may_go_on.wait(10)
        return number

    async def ask(self, key: bytes = b"the number") -> int:
        return await self.answers.ask(key, self.question)

    async def record(self) -> None:
        self.number += 1
        await asyncio.to_thread(self.changes.tell)

    async def asked(self, times: int) -> None:
        async with asyncio.timeout(10):
            while self.times < times:
                await asyncio.sleep(0.005)


@contextmanager
def asked() -> Iterator[Asked]:
    desk, changes = Desk(), Changes()
    answers = KeptAnswers[int](desk, changes)
    try:
        yield Asked(answers, changes)
    finally:
        answers.close()
        desk.close()


def run(test: Callable[[Asked], Coroutine[None, None, None]]) -> None:
    with asked() as opened:
        asyncio.run(test(opened))


def test_what_nothing_has_changed_is_asked_once() -> None:
    async def test(asked: Asked) -> None:
        assert [await asked.ask() for _ in range(5)] == [0] * 5
        assert asked.times == 1

    run(test)


def test_many_who_ask_at_once_wait_for_one_answer() -> None:
    async def test(asked: Asked) -> None:
        assert await asyncio.gather(*(asked.ask() for _ in range(50))) == [0] * 50
        assert asked.times == 1

    run(test)


def test_what_was_recorded_before_it_was_asked_is_in_the_answer() -> None:
    async def test(asked: Asked) -> None:
        for number in range(1, 50):
            await asked.record()
            assert await asked.ask() == number

    run(test)


def test_an_answer_that_was_begun_before_is_not_taken() -> None:
    async def test(asked: Asked) -> None:
        asked.may_go_on.clear()
        first = asyncio.ensure_future(asked.ask())
        await asked.asked(1)
        await asked.record()
        second = asyncio.ensure_future(asked.ask())
        await asyncio.sleep(0.05)
        asked.may_go_on.set()
        assert await second == 1
        assert await first in {0, 1}

    run(test)


def test_it_is_made_anew_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "FRESH_S", 100.0)

    async def test(asked: Asked) -> None:
        await asked.ask()
        await asked.record()
        await asked.asked(2)
        await asyncio.sleep(0.05)
        assert await asked.ask() == 1
        assert asked.times == 2

    run(test)


def test_nobody_works_for_who_has_left() -> None:
    async def test(asked: Asked) -> None:
        await asked.ask()
        for _ in range(RENEWALS + 5):
            await asked.record()
            await asyncio.sleep(1.5 * kept.GAP_S)
        assert asked.times == 1 + RENEWALS

    run(test)


def test_what_other_processes_record_is_seen_a_little_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "FRESH_S", 0.05)

    async def test(asked: Asked) -> None:
        await asked.ask()
        asked.number = 7
        await asyncio.sleep(0.1)
        assert await asked.ask() == 7

    run(test)


def test_an_error_is_told_to_all_who_wait_and_not_kept() -> None:
    async def test(asked: Asked) -> None:
        def fail() -> int:
            asked.times += 1
            raise ArenaError("the disk failed")

        asking = [asked.answers.ask(b"key", fail) for _ in range(3)]
        for outcome in await asyncio.gather(*asking, return_exceptions=True):
            assert isinstance(outcome, ArenaError)
        assert asked.times == 1
        with pytest.raises(ArenaError):
            await asked.answers.ask(b"key", fail)

    run(test)


def test_few_questions_are_kept() -> None:
    async def test(asked: Asked) -> None:
        for number in range(10 * kept.MAX_KEPT):
            await asked.ask(str(number).encode())
        before = asked.times
        await asked.record()
        await asyncio.sleep(3 * kept.GAP_S)
        assert asked.times <= before + kept.MAX_KEPT

    run(test)


def test_who_stops_waiting_takes_the_answer_from_nobody() -> None:
    async def test(asked: Asked) -> None:
        asked.may_go_on.clear()
        impatient, patient = asyncio.ensure_future(asked.ask()), asyncio.ensure_future(asked.ask())
        await asked.asked(1)
        impatient.cancel()
        asked.may_go_on.set()
        assert await patient == 0

    run(test)
