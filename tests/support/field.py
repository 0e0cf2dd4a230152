"""A standing server under attack, and the well-behaved bots that play on it meanwhile."""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from command import environment
from standing import Server, Site, wait_for

from arena_server.model import Result
from arena_server.store import Store, queries, registry
from arena_server.store.queries import GameRef

COMPANIONS = ("ada", "bob", "dan", "eve", "fay")
KNOWN = {*COMPANIONS, "random"}
COMPANION = """
import time
from arena_sdk import Bot

class Companion(Bot):
    games_at_once = 8  # a table that an attacker has left keeps it from no other one

    def choose(self, state, clock):
        time.sleep({pace})
        return state.legal_moves()[0]

Companion.main()
"""
PACE_S = 0.01 * max(1.0, float(os.environ.get("ARENA_FUZZ_SECONDS", "0")) / 5)
"""Seconds for a move: no attack must find them out of the games that two may play a day, 1,500 with the house bot's."""
QUIET_S = 3.0
"""Seconds for which they are watched before any attack, while a core is as busy as an attacker keeps it."""
LEAST_MOVES = 60
"""Moves that a figure needs."""
TIMES = 3.0
"""How many times slower a bot may be answered while others attack."""
LOOKS = 5
"""At most, at bots that were answered slowly: what else a machine does only ever makes that worse."""
MAX_GROWTH_MB = 300
"""What 200 waiting calls with all the metadata that they can bring take (see wire.options), and half of that more."""
FLOOR_MS, FLOOR_P99_MS = 5.0, 50.0
"""Below these nothing counts as slow: they are what two busy cores do to anybody."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long moves of well-behaved bots were under way: what the server measured less what the bot says it thought.

    Attributes:
        moves: how many.
        median: in milliseconds, like the other.
        voids: games that the server had to give up since it stalled itself.
    """

    moves: int
    median: float
    p99: float
    voids: int

    @classmethod
    def of(cls, results: Sequence[Result], voids: int) -> Pace:
        """Of the companions' moves in these games, beside some that came to nothing."""
        ways = [
            (move.used_us - move.own_us) / 1e3
            for result in results
            for move in result.moves
            if result.assignment.labels["abcdef".index(move.seat)].partition(" ")[0] in COMPANIONS
        ]
        assert len(ways) >= LEAST_MOVES, f"only {len(ways)} moves in {len(results)} games"
        return cls(len(ways), statistics.median(ways), statistics.quantiles(ways, n=100)[-1], voids)

    def is_fair(self, before: Pace) -> bool:
        """Whether it is at most ``TIMES`` what it was before, and no game came to nothing."""
        return (
            not self.voids
            and self.median <= max(TIMES * before.median, FLOOR_MS)
            and self.p99 <= max(TIMES * before.p99, FLOOR_P99_MS)
        )

    def __str__(self) -> str:
        void = f", {self.voids} void games" if self.voids else ""
        return f"median {self.median:.2f} ms, p99 {self.p99:.1f} ms over {self.moves} moves{void}"


HARMLESS = ("arena_sdk: connected as ", "arena_sdk: the arena: no game for now: ")
"""How lines begin that a bot says though all is well."""


class Companion:
    """One of the well-behaved bots, as its author starts it."""

    def __init__(self, folder: Path, name: str, server: str, token: str) -> None:
        self._log = folder / f"{name}.log"
        program = folder / f"{name}.py"
        program.write_text(COMPANION.format(pace=PACE_S))
        with self._log.open("wb") as log:
            given = environment(ARENA_SERVER=server, ARENA_TOKEN=token, ARENA_GAMES_AT_ONCE="8")
            self.process = subprocess.Popen([sys.executable, program], cwd=folder, env=given, stdout=log, stderr=log)

    @property
    def is_well(self) -> bool:
        """Whether it runs and has had nothing to say but that it is there, or waits for its turn."""
        return self.process.poll() is None and all(line.startswith(HARMLESS) for line in self.text.splitlines())

    @property
    def text(self) -> str:
        """What it has said."""
        return self._log.read_text()

    def close(self) -> None:
        """Ends it."""
        self.process.kill()
        self.process.wait()


class Field:
    """The server, its companions, and what they are like when nobody attacks.

    Args:
        folder: of its database.

    Attributes:
        server: the server.
        socket: where its organiser asks.
        before: the companions' pace before the first attack.
    """

    def __init__(self, folder: Path) -> None:
        self.site = Site(folder)
        self._store = Store.open(str(folder / "arena.db"))
        self._folder = TemporaryDirectory(prefix="f")  # short: a socket's path is bounded
        self.socket = f"unix:{self._folder.name}/socket"
        self.companions: list[Companion] = []
        try:
            options = ("--bot", "random", "--no-admission")
            self.server: Server = self.site.serve(*options, "--socket", self.socket.removeprefix("unix:"))
            self.companions += [Companion(folder, name, self.address, self.token(name)) for name in COMPANIONS]
            wait_for(lambda: len(self.server.events("game")) >= 6, "the first games")
            self.before = self._pace_of(busy, QUIET_S)
        except BaseException:  # whatever it is, nothing may be left running
            self.close()
            raise

    @property
    def address(self) -> str:
        """Where bots dial."""
        return self.server.address

    @property
    def process(self) -> psutil.Process:
        """The server's."""
        return psutil.Process(self.server.process.pid)

    def token(self, name: str, owner: str = "", version: str = "1") -> str:
        """Registers a bot."""
        registry.add(self._store.database, name, version, owner or f"of-{name}")
        return registry.new_token(self._store.database, name)

    def revoke(self, name: str) -> None:
        """Takes its tokens away."""
        registry.revoke(self._store.database, name)

    def undisturbed(self, attack: Callable[[threading.Event], None], seconds: float = 1.5) -> None:
        """Attacks for some seconds, and looks whether anybody else notices.

        Args:
            attack: goes on until its event is set; it runs in a thread.
            seconds: of one look.
        """
        size, found = self.megabytes, list[Pace]()
        while not found or not found[-1].is_fair(self.before):
            told = "; ".join(map(str, found))
            assert len(found) < LOOKS, f"before: {self.before}; meanwhile: {told}"
            found.append(self._pace_of(attack, seconds))
            self.look()
        print(f"before: {self.before}; meanwhile: {found[-1]}; {size:.0f} MB, then {self.megabytes:.0f} MB")
        assert self.megabytes - size < MAX_GROWTH_MB

    @property
    def megabytes(self) -> float:
        """Resident memory of the server."""
        return self.process.memory_info().rss / 1e6

    def look(self) -> None:
        """Nothing but lines of JSON in the log, every companion there, none of their games but ended by the rules."""
        lines = self.server.text().splitlines()
        strange = [line for line in lines if not _is_event(line)]
        assert not strange, "\n".join(strange[:40])
        assert all(one.is_well for one in self.companions), [(one.process.poll(), one.text) for one in self.companions]
        left = [line for line in self.server.events("note") if line["text"].endswith("has left")]
        assert not [line for line in left if line["text"].split()[0] in COMPANIONS], left
        for game in self.server.events("game"):
            blamed = {game["bots"]["abcdef".index(seat)].split()[0] for seat in game["blamed"]}
            assert not blamed & KNOWN, game
        odd = [game for game in self._games() if game["ending"] not in ("normal", "void")]
        assert not odd, odd

    def result(self, game: str) -> Result:
        """What is on record of a game."""
        held = queries.tournament(self._store, "season")
        number = int(game.rpartition("/")[2])
        wait_for(lambda: any(one["game"] == game for one in self.server.events("game")), f"the record of {game}")
        return queries.result(self._store, GameRef(held, number))

    def results(self, games: Sequence[dict[str, Any]]) -> list[Result]:
        """What is on record of these games of the log."""
        held = queries.tournament(self._store, "season")
        return [queries.result(self._store, GameRef(held, int(str(one["game"]).rpartition("/")[2]))) for one in games]

    def close(self) -> None:
        """Ends everything."""
        for one in self.companions:
            one.close()
        self.site.close()
        self._store.close()
        self._folder.cleanup()

    def _pace_of(self, attack: Callable[[threading.Event], None], seconds: float) -> Pace:
        stop, failed = threading.Event(), list[BaseException]()

        def run() -> None:
            try:
                attack(stop)
            except BaseException as error:  # noqa: BLE001 - raised again where the test sees it
                failed.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            time.sleep(seconds / 4)  # games that began before it are not its measure
            first = len(self._games())
            time.sleep(seconds)
            wait_for(lambda: sum(game["plies"] for game in self._games()[first:]) >= 2 * LEAST_MOVES, "enough moves")
            games = self._games()[first:]
        finally:
            stop.set()
            thread.join(60)
        if failed:
            raise failed[0]
        played = [game for game in games if game["ending"] != "void"]
        return Pace.of(self.results(played), len(games) - len(played))

    def _games(self) -> list[dict[str, Any]]:
        """Of companions and the house alone."""
        return [game for game in self.server.events("game") if {bot.split()[0] for bot in game["bots"]} <= KNOWN]


def busy(stop: threading.Event) -> None:
    """Takes a core and attacks nobody: what a machine of two cores loses by that is not the attack's."""
    one, other = socket.socketpair()
    with one, other:
        while not stop.is_set():
            one.send(b"12345678")
            other.recv(8)


def _is_event(line: str) -> bool:
    try:
        return "event" in json.loads(line)
    except ValueError:
        return False
