"""A bot of this machine on a server elsewhere: starts it, hands signals on, and says how it is rated."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any

import grpc

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc
from arena_sdk.process import roots
from arena_sdk.stream import channel
from arena_server.author.heard import Heard
from arena_server.launching.bots import Bot
from arena_server.launching.child import end_with

LOOK_EVERY = 2.0
"""Seconds between two looks at the rating while the bot plays."""
CALL_LIMIT = 10.0
"""Seconds that a question about the rating may take."""
RATED_S = 5.0
"""Seconds for which the last rating waits for the bot's last games: ratings go on in schedule order, so that earlier
games of others come first."""
MAX_PAGE = 1000
"""Rows of the leaderboard that are looked at."""
WIDTH = 1.96
"""Sigmas of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Rated:
    """How a version is rated.

    Attributes:
        standing: its row.
        tournament: of which.
        active: whether it is on the leaderboard; replaced and retired versions have a rank among all versions alone.
        unrated: games that it has just finished and that the rating does not include yet.
    """

    standing: pb.Standing
    tournament: str
    active: bool
    unrated: int

    def told(self) -> str:
        """In a line."""
        row = self.standing
        low, high = row.mu - WIDTH * row.sigma, row.mu + WIDTH * row.sigma
        among = "" if self.active else " of all versions, being replaced or retired"
        games = f"{row.games} game" if row.games == 1 else f"{row.games} games"
        later = f"; {self.unrated} not rated yet" if self.unrated else ""
        return (
            f"{row.label}: rank {row.rank}{among}, rating {row.mu:.1f} "
            f"(95%: {low:.1f} to {high:.1f}, sigma {row.sigma:.2f}) after {games}{later}"
        )

    def as_dict(self) -> dict[str, Any]:
        """For a program."""
        row = self.standing
        return {
            "bot": row.bot.name,
            "version": row.bot.version,
            "tournament": self.tournament,
            "rank": row.rank,
            "active": self.active,
            "mu": row.mu,
            "sigma": row.sigma,
            "games": row.games,
            "unrated": self.unrated,
        }


@dataclass(frozen=True, slots=True)
class Joining:
    """How a bot joins.

    Attributes:
        server: HOST:PORT.
        name: of the bot in the registry.
        version: likewise; empty: the newest.
        ca: file of the certificates that vouch for the server; empty: the system's.
        insecure: whether the wire may be plain.
        games: after so many it leaves.
        until_sigma: once its rating is known so well, it leaves.
    """

    bot: Bot
    server: str
    token: str
    name: str
    version: str = ""
    ca: str = ""
    insecure: bool = False
    games: int | None = None
    until_sigma: float | None = None

    def run(self) -> tuple[int, Rated | None]:
        """Plays until the bot leaves: the exit code of its process, and how it is rated where that is 0."""
        with Heard() as heard:
            code = self._play(heard)
            return code, self._rated(heard) if code == 0 else None

    def _play(self, heard: Heard) -> int:
        process = subprocess.Popen(  # noqa: S603 - the author's own bot
            self.bot.argv(),
            cwd=self.bot.folder,
            env={**os.environ, **self._variables(), "ARENA_TELL": heard.path},
            start_new_session=True,
            preexec_fn=partial(end_with, os.getpid(), signal.SIGTERM),  # noqa: PLW1509 - no thread of ours runs yet
        )
        left = False
        with _handed_on(process):
            while True:
                try:
                    return process.wait(LOOK_EVERY)
                except subprocess.TimeoutExpired:
                    heard.listen()
                if self.until_sigma is not None and not left:
                    found = self._ask(heard)
                    if found is not None and found.standing.sigma <= self.until_sigma:
                        left = True
                        process.send_signal(signal.SIGINT)

    def _rated(self, heard: Heard) -> Rated | None:
        """How it is rated once its last games are, or after a while; None where the server does not say."""
        heard.listen()
        ends = time.monotonic() + RATED_S
        while True:
            found = self._ask(heard)
            last = max((game.game.number for game in found.games), default=0) if found else 0
            unrated = sum(number > last for number in heard.games)
            if not unrated or time.monotonic() > ends:
                break
            time.sleep(RATED_S / 10)
        if found is None:
            return None
        return Rated(found.standing, heard.tournament, self._is_active(heard, found.standing.label), unrated)

    def _ask(self, heard: Heard) -> pb.GetBotResponse | None:
        """The version that plays, with its last rated game, in what the server plays; None where there is no answer.

        Only the SDK lets hear who plays; of another program it is as said, and in what was begun last.
        """
        bot = f"{heard.bot or self.name} {heard.version or self.version}".strip()
        asked = pb.GetBotRequest(tournament=heard.tournament, bot=bot, page_size=1)
        try:
            with self._wire() as wire:
                return leaderboard_pb2_grpc.LeaderboardStub(wire).GetBot(asked, timeout=CALL_LIMIT)
        except grpc.RpcError:
            return None

    def _is_active(self, heard: Heard, label: str) -> bool:
        """Whether the leaderboard shows it, as far as the server says."""
        asked = pb.GetLeaderboardRequest(tournament=heard.tournament, page_size=MAX_PAGE, fresh=True)
        try:
            with self._wire() as wire:
                stub = leaderboard_pb2_grpc.LeaderboardStub(wire)
                while True:
                    board = stub.GetLeaderboard(asked, timeout=CALL_LIMIT)
                    found = any(row.label == label for row in board.standings)
                    if found or not board.next_page:
                        return found
                    asked.page = board.next_page
        except grpc.RpcError:
            return True

    def _wire(self) -> grpc.Channel:
        return channel(self.server, roots(self._variables()))

    def _variables(self) -> dict[str, str]:
        said = {
            "ARENA_SERVER": self.server,
            "ARENA_TOKEN": self.token,
            "ARENA_BOT": self.name,
            "ARENA_VERSION": self.version,
            "ARENA_CA": os.path.abspath(self.ca) if self.ca else "",  # noqa: PTH100 - the process runs elsewhere
            "ARENA_INSECURE": "1" if self.insecure else "",
            "ARENA_GAMES": "" if self.games is None else str(self.games),
            "ARENA_GAMES_AT_ONCE": str(self.bot.manifest.games_at_once),
            "ARENA_OPTIONS": json.dumps(dict(self.bot.options)),
        }
        return {**said, "ARENA_ADDRESS": ""}


@contextmanager
def _handed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Signals to us go to the bot: the first one lets it finish its games, the second resigns them."""

    def hand_on(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    before = {number: signal.signal(number, hand_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        if process.poll() is None:
            process.kill()
        for number, handler in before.items():
            signal.signal(number, handler)
