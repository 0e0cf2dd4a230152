"""What the author of a bot elsewhere is told: nobody there keeps what its process says, as an arena does of its own."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from contextlib import suppress

from arena.v1 import referee_pb2 as pb

MOST_ERRORS = 10
"""Kinds of errors that are told in full, each once."""
ALL_UP_TO, THEN_EVERY = 10, 100
"""Of losses of one kind the first ones are told, then one of so many: a bot may fail a thousand times."""


class Author:
    """Who reads the standard error of a bot on a standing server.

    Args:
        lines: path of what is written to, too, as JSON, for a program that let the bot join; empty: there is none.
    """

    def __init__(self, lines: str = "") -> None:
        self._lines = lines
        self._known = ""
        self._errors: set[str] = set()
        self._losses: Counter[str] = Counter()

    def connected(self, welcome: pb.Welcome) -> None:
        """The arena has let it in; told once, unless it is taken for another one later."""
        known = f"{welcome.bot} {welcome.version}" + (f", season {welcome.tournament}" if welcome.tournament else "")
        if known != self._known:
            self._known = known
            say(f"connected as {known}")
            self._write(bot=welcome.bot, version=welcome.version, tournament=welcome.tournament)

    def failed(self, traceback: str) -> None:
        """The bot's own code has."""
        error = (traceback.strip().splitlines() or [""])[-1].partition(":")[0]
        if error not in self._errors and len(self._errors) < MOST_ERRORS:
            self._errors.add(error)
            say(f"the bot failed; such an error is told once:\n{traceback.rstrip()}")

    def over(self, seat: str, asked: int, over: pb.GameOver) -> None:
        """A game is, in which it had that seat and was asked for that ply last; -1: for none."""
        if over.ranks:
            self._write(game=over.game_id)
        if seat not in over.blamed or over.ending == pb.ENDING_RESIGN:
            return
        ending = ending_of(over)
        self._losses[ending] += 1
        times = self._losses[ending]
        if times <= ALL_UP_TO or times % THEN_EVERY == 0:
            at = "" if asked < 0 else f" at ply {asked}"
            so_far = "" if times == 1 else f" ({times} so far)"
            how = ending.replace("_", " ")
            say(f"game {over.game_id} is over: seat {seat} lost by {how}{at}: {over.reason}{so_far}")

    def _write(self, **facts: str) -> None:
        if not self._lines:
            return
        with suppress(OSError):  # who wanted to know is gone, or does not read
            line = os.open(self._lines, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
            try:
                os.write(line, f"{json.dumps(facts)}\n".encode())
            finally:
                os.close(line)


def ending_of(over: pb.GameOver) -> str:
    """How a game ended, as a word."""
    return pb.Ending.Name(over.ending).removeprefix("ENDING_").lower()


def say(line: str) -> None:
    """Tells the author something, on standard error."""
    sys.stderr.write(f"arena_sdk: {line}\n")
