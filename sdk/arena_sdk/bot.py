"""The class that a bot's author derives from."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Any, Self

from arena_sdk.clock import Clock
from arena_sdk.text import clip

LOG_LINES = 20
LOG_LENGTH = 500
"""What ``Bot.log`` keeps for one move: lines, and characters of each."""

RESIGN = object()
"""What ``choose`` returns to give the game up."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended.

    Attributes:
        ending: ``"normal"``, or what went wrong: ``"illegal_move"``, ``"timeout"``, ``"crash"``, ``"disconnect"``,
            ``"protocol_error"``, ``"start_failure"``, ``"resign"``; ``"void"`` and ``"abandoned"`` do not count.
        blamed: letters of the seats that failed.
        ranks: of each seat in seat order, 1 is best; empty where the game does not count.
        scores: points of each seat in seat order; empty where the game does not count.
        game_id: the game's public name, as ``arena replay`` takes it.
        reason: the reason in words, told to the blamed seat alone.
        won: whether this bot won; None for a draw and where the game does not count.
    """

    ending: str
    blamed: tuple[str, ...]
    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    game_id: str
    reason: str
    won: bool | None


class Bot:
    """A player of one seat in one game: derive from it, write ``choose``, and call ``main`` at the end of the file.

    Every game gets an object of its own, so what a bot keeps on ``self`` never leaks into the next game. The attributes
    below are there before ``__init__`` runs, which need not call ``super().__init__()``. ``choose``, ``on_start`` and
    ``on_end`` may be ``async def``. An exception in any of them but ``on_end`` loses this game, and its traceback is in
    the game's record; the process stays for the next game.

    Attributes:
        name: of the bot, where bot.toml gives none; may be left empty.
        version: of the bot, where bot.toml gives none; may be left empty.
        game: name of the game that is played: ``"patchwork"``.
        seat: letter of this bot's seat: ``"a"`` moves first.
        seats: who sits where: letter to name, in seat order; names are empty where opponents are anonymous.
        deal: what makes this game differ from others, in the game's own words: ``edition``, ``circle``.
        seed: this seat's seed, the same in every attempt at this game.
        random: a generator that begins with that seed; a bot that draws from it alone can be replayed.
        options: the bot's options by name, as bot.toml declares and the organiser sets them.
        log_lines: what ``log`` has gathered since the last move.
    """

    name = ""
    version = ""

    game: str
    seat: str
    seats: Mapping[str, str]
    deal: Mapping[str, str]
    seed: int
    random: Random
    options: Mapping[str, str | int | float | bool]
    log_lines: list[str]

    def __new__(cls, *_args: Any, **_kwargs: Any) -> Self:
        """Gives the attributes values that suit an author's own tests; in a game the arena's replace them."""
        bot = super().__new__(cls)
        bot.game, bot.seat, bot.seats, bot.deal = "", "a", MappingProxyType({}), MappingProxyType({})
        bot.seed, bot.random = 0, Random(0)  # noqa: S311 - play, not secrets
        bot.options, bot.log_lines = MappingProxyType({}), []
        return bot

    @classmethod
    def load(cls, options: Mapping[str, str | int | float | bool]) -> None:
        """Loads what all games share - models, tables, opening books - once a process, within the start limit.

        Keep it on the class (``cls.table = ...``).

        Args:
            options: the bot's options by name.
        """

    def on_start(self) -> Awaitable[None] | None:
        """Prepares for this game; no clock runs yet, only the start limit."""

    def choose(self, state: Any, clock: Clock) -> Any:
        """Chooses a move. It may block for as long as its clock allows.

        Args:
            state: the position, immutable: an ``arena_engine.patchwork.State`` (in general: what the game offers).
            clock: the time for this move.

        Returns:
            A move of ``state.legal_moves()``, or its text; or ``RESIGN``. Anything else loses the game as an illegal
            move.
        """
        raise NotImplementedError(f"{type(self).__name__} has no choose(self, state, clock)")

    def on_end(self, result: Result) -> Awaitable[None] | None:
        """Hears how the game ended. An exception here goes to standard error and changes nothing.

        Args:
            result: ending, ranks and scores.
        """

    def log(self, text: object) -> None:
        """Keeps a line for the game's record; it travels with the next move.

        Args:
            text: one or more lines; 20 lines of 500 characters are kept for a move.
        """
        for line in str(text).splitlines()[: LOG_LINES - len(self.log_lines)]:
            self.log_lines.append(clip(line, LOG_LENGTH))

    @classmethod
    def main(cls) -> None:
        """Plays for the arena that started this process, then exits; without an arena, says how to start one."""
        from arena_sdk.process import run  # noqa: PLC0415 - grpc takes long to import, and tests of a bot need none

        sys.exit(run(cls))
