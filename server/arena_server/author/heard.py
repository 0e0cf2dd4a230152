"""What a bot's process has heard from its server: the SDK writes it to a pipe of whoever let the bot join."""

from __future__ import annotations

import json
import os
from collections import deque
from types import TracebackType
from typing import Self

MOST = 1 << 20
"""Bytes that are read at once: a pipe holds no more."""
LAST_GAMES = 1000
"""That are kept: a bot may play for months."""


class Heard:
    """A pipe and what came through it; a context manager.

    Attributes:
        path: where the bot's process opens it. By this, as a descriptor may not reach it through what starts it.
        bot: whom the server takes it for; empty until it has said so.
        version: likewise.
        tournament: the season that the server plays.
        games: numbers of the last ones of it that are over and count.
    """

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._reading, False)
        self.path = f"/proc/{os.getpid()}/fd/{self._writing}"
        self.bot = self.version = self.tournament = ""
        self.games = deque[int](maxlen=LAST_GAMES)
        self._begun = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._reading)
        os.close(self._writing)

    def listen(self) -> None:
        """Takes in what has come."""
        try:
            lines = (self._begun + os.read(self._reading, MOST)).split(b"\n")
        except BlockingIOError:
            return
        self._begun = lines.pop()
        for line in lines:
            self._take(json.loads(line))

    def _take(self, told: dict[str, str]) -> None:
        if "bot" in told:
            self.bot, self.version, self.tournament = told["bot"], told["version"], told["tournament"]
            self.games.clear()
        else:
            tournament, _, number = told["game"].rpartition("/")
            if tournament == self.tournament:
                self.games.append(int(number))
