"""A BOT played within this process instead of one of its own: an opponent for learners, who trust it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from arena_sdk import Bot as Player
from arena_sdk.practice import seated
from arena_server.launching.bots import Bot, resolve
from arena_server.model import UserError


def seat(text: str, game: str, letter: str, seed: int) -> Callable[[Any], Any]:
    """Seats the bot of a text for one game; it is loaded once a process.

    Args:
        text: a BOT, as every command takes it.
        game: the game's name.
        letter: of its seat.
        seed: of its generator.

    Returns:
        What maps a position to its move.

    Raises:
        UserError: there is no such bot, or it is not one Python script with one class of bots.
    """
    bot, player = _loaded(text)
    return seated(player, game, letter, seed, dict(bot.options))


@cache
def _loaded(text: str) -> tuple[Bot, type[Player]]:
    bot = resolve(text)
    return bot, _player(bot, _script(bot))


def _script(bot: Bot) -> Path:
    match bot.manifest.command:
        case ("python", script) if script.endswith(".py"):
            return bot.folder / script
        case command:
            fix = "only a bot whose command is python and one script plays within a process"
            raise UserError(f"{bot.label} cannot be played here", " ".join(command), fix)


def _player(bot: Bot, script: Path) -> type[Player]:
    name = f"arena_bot_{bot.digest}"
    spec = spec_from_file_location(name, script)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # pickle and dataclasses look there
    sys.path.insert(0, str(bot.folder))  # as for a script: what it imports from beside it
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(bot.folder))
    found = [
        thing
        for thing in vars(module).values()
        if isinstance(thing, type) and issubclass(thing, Player) and thing.__module__ == name
    ]
    if len(found) != 1:
        names = ", ".join(thing.__name__ for thing in found) or "none"
        raise UserError(
            f"{script} has {len(found)} classes of bots", names, "give a script with one, or the class itself"
        )
    return found[0]
