"""Bots within this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from arena_sdk import Bot, Clock
from arena_sdk.practice import seated


class Teller(Bot):
    """Answers with what it was told."""

    loaded: list[object] = []  # noqa: RUF012 - shared on purpose

    @classmethod
    def load(cls, options: Mapping[str, Any]) -> None:
        cls.loaded.append(dict(options))

    def __init__(self) -> None:
        self.told = (self.game, self.seat, self.seed, dict(self.options))

    async def on_start(self) -> None:
        self.first = self.random.random()

    def choose(self, state: object, clock: Clock) -> object:
        self.log("once")
        assert self.log_lines == ["once"]
        return state, self.told, self.first, 0 < clock.left <= 0.1


def test_a_bot_is_seated_as_in_an_arena() -> None:
    choose = seated(Teller, "tiny", "c", 7, {"c": 1.5})
    answers = [choose("position") for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0] == ("position", ("tiny", "c", 7, {"c": 1.5}), pytest.approx(0.3238327648331623), True)


def test_it_loads_once_for_the_same_options() -> None:
    Teller.loaded.clear()
    for options in ({"x": 1}, {"x": 1}, {"x": 2}):
        seated(Teller, "tiny", "a", 1, options)
    assert Teller.loaded == [{"x": 1}, {"x": 2}]


def test_other_classes_are_refused() -> None:
    with pytest.raises(TypeError, match=r"int is no bot: derive it from arena_sdk\.Bot"):
        seated(int, "tiny", "a", 1)  # type: ignore[arg-type]
