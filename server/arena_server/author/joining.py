"""A bot of this machine on a server elsewhere: starts it, hands signals on, and says how it is rated."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType

import grpc

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc
from arena_sdk.process import roots
from arena_sdk.stream import channel
from arena_server.launching.bots import Bot
from arena_server.launching.child import end_with

LOOK_EVERY = 2.0
"""Seconds between two looks at the rating."""
CALL_LIMIT = 10.0
"""Seconds that a question about the rating may take."""
MAX_PAGE = 1000
"""Rows of the leaderboard that are looked at."""
WIDTH = 1.96
"""Sigmas of a 95 % interval."""


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

    def run(self) -> int:
        """Plays until the bot leaves; the exit code of its process."""
        process = subprocess.Popen(  # noqa: S603 - the author's own bot
            self.bot.argv(),
            cwd=self.bot.folder,
            env={**os.environ, **self._variables()},
            start_new_session=True,
            preexec_fn=partial(end_with, os.getpid(), signal.SIGTERM),  # noqa: PLW1509 - no thread of ours runs yet
        )
        left = False
        with _handed_on(process):
            while True:
                try:
                    return process.wait(LOOK_EVERY)
                except subprocess.TimeoutExpired:
                    pass
                if self.until_sigma is not None and not left:
                    standing = self.standing()
                    if standing is not None and standing.sigma <= self.until_sigma:
                        left = True
                        process.send_signal(signal.SIGINT)

    def standing(self, *, fresh: bool = False) -> pb.Standing | None:
        """How it is rated, now or a second ago; None where the server does not say."""
        rows: list[pb.Standing] = []
        page: str | None = None
        try:
            with channel(self.server, roots(self._variables())) as wire:
                stub = leaderboard_pb2_grpc.LeaderboardStub(wire)
                while page != "":
                    asked = pb.GetLeaderboardRequest(
                        page_size=MAX_PAGE, page=page or "", all_versions=True, fresh=fresh
                    )
                    board = stub.GetLeaderboard(asked, timeout=CALL_LIMIT)
                    rows += board.standings
                    page = board.next_page
        except grpc.RpcError:
            return None
        mine = [row for row in rows if row.bot.name.casefold() == self.name.casefold()]
        return max((row for row in mine if self.version in ("", row.bot.version)), key=_newest, default=None)

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


def _newest(row: pb.Standing) -> tuple[bool, float]:
    """Of several versions the one that plays, and is known least."""
    return not row.withdrawn, row.sigma


def told(standing: pb.Standing) -> str:
    """A rating in a line."""
    low, high = standing.mu - WIDTH * standing.sigma, standing.mu + WIDTH * standing.sigma
    return (
        f"{standing.bot.name} {standing.bot.version}: rank {standing.rank}, rating {standing.mu:.1f} "
        f"(95%: {low:.1f} to {high:.1f}, sigma {standing.sigma:.2f}) after {standing.games} games"
    )


@contextmanager
def _handed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Signals to us go to the bot: the first Ctrl-C lets it finish its games, the second resigns them."""

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
