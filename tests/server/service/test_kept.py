"""Answers that are kept for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from threading import Event

import pytest

from arena_server.model import ArenaError
from arena_server.service import kept
from arena_server.service.answering import Desk
from arena_server.service.kept import KeptAnswers


class Asked:
    """A database with a number in it, and who asks for it.

    Attributes:
        times: how often the database was asked.
        may_answer: whether it answers, or has who asks wait.
        fails: whether its disk does.
    """

    def __init__(self, desk: Desk) -> None:
        self.answers = KeptAnswers[int](desk)
        self.number = 0
        self.times = 0
        self.fails = False
        self.may_answer = Event()
        self.may_answer.set()

    def question(self) -> int:
        self.times += 1
        number = self.number
        assert self.may_answer.wait(10)
        if self.fails:
            raise ArenaError("the disk failed")
        return number

    async def ask(self, key: bytes = b"the number", *, fresh: bool = False) -> int:
        return await self.answers.ask(key, self.question, fresh=fresh)

    async def asked(self, times: int) -> None:
        """Waits until the database was asked so often, and has answered."""
        async with asyncio.timeout(10):
            while self.times < times:
                await asyncio.sleep(0.005)
        await asyncio.sleep(0.05)


def run(test: Callable[[Asked], Coroutine[None, None, None]]) -> None:
    desk = Desk()
    try:
        asyncio.run(test(Asked(desk)))
    finally:
        desk.close()


def test_many_who_ask_at_once_wait_for_one_answer() -> None:
    async def test(asked: Asked) -> None:
        assert await asyncio.gather(*(asked.ask() for _ in range(50))) == [0] * 50
        assert asked.times == 1

    run(test)


def test_who_asks_again_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MAX_AGE_S", 100.0)

    async def test(asked: Asked) -> None:
        await asked.ask()
        asked.may_answer.clear()
        assert await asyncio.gather(*(asked.ask() for _ in range(50))) == [0] * 50
        await asked.asked(2)
        assert await asked.ask() == 0
        assert asked.times == 2
        asked.may_answer.set()

    run(test)


def test_it_is_made_anew_for_the_next_one_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MAX_AGE_S", 100.0)

    async def test(asked: Asked) -> None:
        await asked.ask()
        for number in range(1, 10):
            asked.number = number
            assert await asked.ask() == number - 1
            await asked.asked(1 + number)

    run(test)


def test_an_answer_that_is_too_old_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MAX_AGE_S", 0.05)

    async def test(asked: Asked) -> None:
        for number in range(10):
            asked.number = number
            assert await asked.ask() == number
            await asyncio.sleep(0.1)

    run(test)


def test_a_fresh_answer_was_begun_after_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MAX_AGE_S", 100.0)

    async def test(asked: Asked) -> None:
        for number in range(20):
            asked.number = number
            assert await asked.ask(fresh=True) == number
            assert await asked.ask() == number  # which has the next one made

    run(test)


def test_a_fresh_answer_is_not_the_one_that_is_being_made() -> None:
    async def test(asked: Asked) -> None:
        asked.may_answer.clear()
        first = asyncio.ensure_future(asked.ask())
        async with asyncio.timeout(10):
            while asked.times < 1:
                await asyncio.sleep(0.005)
        asked.number = 1
        later = [asyncio.ensure_future(asked.ask(fresh=True)) for _ in range(10)]
        await asyncio.sleep(0.05)
        asked.may_answer.set()
        assert await first in {0, 1}
        assert await asyncio.gather(*later) == [1] * 10
        assert asked.times == 2

    run(test)


def test_nothing_is_made_for_who_does_not_ask() -> None:
    async def test(asked: Asked) -> None:
        await asked.ask()
        await asyncio.sleep(10 * kept.REST_S)
        assert asked.times == 1

    run(test)


def test_a_crowd_of_readers_has_few_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MAX_AGE_S", 100.0)
    monkeypatch.setattr(kept, "REST_S", 0.1)

    async def test(asked: Asked) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for _ in range(500):
            await asked.ask()
            await asyncio.sleep(0.001)
        assert 2 <= asked.times <= 2 + (loop.time() - began) / 0.1

    run(test)


def test_an_error_is_told_to_all_who_wait_and_not_kept() -> None:
    async def test(asked: Asked) -> None:
        asked.fails = True
        for outcome in await asyncio.gather(*(asked.ask() for _ in range(3)), return_exceptions=True):
            assert isinstance(outcome, ArenaError)
        assert asked.times == 1
        asked.fails = False
        assert await asked.ask() == 0

    run(test)


def test_an_error_that_nobody_waits_for_takes_no_answer_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MAX_AGE_S", 100.0)

    async def test(asked: Asked) -> None:
        await asked.ask()
        asked.fails = True
        for times in range(1, 4):
            assert await asked.ask() == 0
            await asked.asked(1 + times)
        monkeypatch.setattr(kept, "MAX_AGE_S", 0.0)
        with pytest.raises(ArenaError):
            await asked.ask()

    run(test)


def test_few_answers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MAX_AGE_S", 100.0)

    async def test(asked: Asked) -> None:
        keys = [str(number).encode() for number in range(kept.MAX_KEPT + 1)]
        for key in (*keys, keys[1]):
            await asked.ask(key)
        asked.number = 7
        assert await asked.ask(keys[1]) == 0
        assert await asked.ask(keys[0]) == 7

    run(test)


def test_who_stops_waiting_takes_the_answer_from_nobody() -> None:
    async def test(asked: Asked) -> None:
        asked.may_answer.clear()
        impatient, patient = asyncio.ensure_future(asked.ask()), asyncio.ensure_future(asked.ask())
        await asyncio.sleep(0.05)
        impatient.cancel()
        asked.may_answer.set()
        assert await patient == 0

    run(test)
