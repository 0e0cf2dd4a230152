"""A bot as a function of the position, within this process: an opponent for learners."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from types import MappingProxyType
from typing import Any

from arena_sdk.bot import Bot
from arena_sdk.clock import Clock

LEFT_S = 0.1
"""What the bot's clock says before each move: an arena's limit by default; nobody enforces it here."""

Option = str | int | float | bool


def seated(
    bot_class: type[Bot], game: str, seat: str, seed: int, options: Mapping[str, Option] | None = None
) -> Callable[[Any], Any]:
    """Seats a bot for one game.

    Args:
        bot_class: the bot.
        game: the game's name.
        seat: the letter of its seat.
        seed: of its generator.
        options: its options by name.

    Returns:
        What maps a position to ``choose``'s answer. ``on_end`` is never called.

    Raises:
        TypeError: no class of bots.
    """
    if not issubclass(bot_class, Bot):
        raise TypeError(f"{bot_class.__name__} is no bot: derive it from arena_sdk.Bot")
    given = MappingProxyType(dict(options or {}))
    _load(bot_class, tuple(given.items()))  # type: ignore[arg-type]  # classes do have a hash
    bot = bot_class.__new__(bot_class)
    bot.game, bot.seat, bot.options = game, seat, given
    bot.seed, bot.random = seed, Random(seed)  # noqa: S311 - play, not secrets
    bot.__init__()  # type: ignore[misc]  # after the attributes, so that it may use them
    _settle(bot.on_start())
    return lambda state: _choose(bot, state)


def _choose(bot: Bot, state: Any) -> Any:
    bot.log_lines = []
    return _settle(bot.choose(state, Clock(LEFT_S)))


@cache
def _load(bot_class: type[Bot], options: tuple[tuple[str, Option], ...]) -> None:
    bot_class.load(MappingProxyType(dict(options)))


def _settle(value: Any) -> Any:
    """The value of a method that may be ``async``; each call has a loop of its own."""
    return asyncio.run(value) if asyncio.iscoroutine(value) else value
