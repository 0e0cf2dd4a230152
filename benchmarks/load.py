"""A standing server under load: 100 bots from elsewhere, 32 games at a time, a reader beside them; then kill -9.

The server is a real `arena serve` on SQLite. A tenth of the bots are real `arena join` processes;
the others are sessions of the SDK, 30 in a process: what a hundred Python processes cost a machine is not asked here.
All dial in over TCP on this machine. First they play WARM_UP games as fast as they can, some four minutes: by then
caches of bounded size are full, as in a server that runs for months. Then they answer in 100 ms, for MINUTES, and all
is measured.
"""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import grpc
import psutil
from command import ARENA, environment, script  # tests/support
from crowd import GAMES_AT_ONCE
from faults.running import size
from table import progress

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc
from arena_server.model import Ending, Entrant, Result
from arena_server.store import Store, admissions, journal, queries, registry
from arena_server.store.verify import verify

BOTS = 100
JOINED = 10
"""Of the bots: those that are processes of their own."""
A_PROCESS = 30
"""Of the others: so many share one."""
AT_ONCE = 32
WARM_UP = 14_000
ANSWER_S = 0.1
ASK_EVERY = 0.25
"""Seconds between two questions for the leaderboard."""
LOOK_EVERY = 5.0
"""Seconds between two looks at the server's process."""
PATIENCE = 180.0
"""Seconds for anything to happen."""
SEASON = "season"
CROWD = Path(__file__).with_name("crowd.py")
BOT = """
    from crowd import Answers

    if __name__ == "__main__":
        Answers.main()
"""


class Look(NamedTuple):
    """The server's process at one moment."""

    at: float
    games: int
    running: float
    rss_mb: float
    cpu_s: float


class Reader(NamedTuple):
    """What readers saw of the leaderboard: how long each answer took, and how many games were played by then."""

    times_ms: list[float]
    games: list[int]


def measure() -> dict[str, float]:
    """All figures; raises AssertionError where the season does not verify."""
    seconds = 60 * size("MINUTES", 10)
    with tempfile.TemporaryDirectory(prefix="s") as name, ExitStack() as opened:
        folder = Path(name)
        tokens = registered(folder)
        first = opened.enter_context(serving(folder))
        crowds = opened.enter_context(bots(folder, first.address, tokens))
        connections = first.wait_for("connections", BOTS)
        warmed_up = warmed(first, crowds)
        with asking(first.address) as reader:
            looks = list(watched(first, seconds, reader))
        back_s, again = killed(folder, first, opened)
        time.sleep(max(10, seconds / 10))
        again.stop()
        results = verified(folder)
        return {
            "standing_connections": connections,
            "standing_games": len(results),
            **of_games(results, [first, again], refused(folder)),
            "standing_charged_minus_true_p99_ms": charged_apart(results[warmed_up:]),
            **of_server(looks),
            "standing_leaderboard_p50_ms": statistics.median(reader.times_ms),
            "standing_leaderboard_p99_ms": quantile(reader.times_ms, 0.99),
            "standing_back_s": back_s,
            "standing_kb_per_game": (folder / "arena.db").stat().st_size / 1e3 / len(results),
        }


def registered(folder: Path) -> dict[str, str]:
    """The tokens of the bots, each of another owner; all are admitted, so that every game is a rated one."""
    names = [f"bot{number:03}" for number in range(BOTS)]
    with Store.open(str(folder / "arena.db")) as store:
        for name in names:
            registry.add(store.database, name, "1", f"owner-of-{name}")
            admissions.record(store.database, Entrant(name, "1", ""))
        return {name: registry.new_token(store.database, name) for name in names}


class Server:
    """`arena serve` in a folder.

    Attributes:
        address: where bots and readers dial in.
    """

    def __init__(self, folder: Path, address: str) -> None:
        self._log = folder / f"serve{time.monotonic_ns()}.log"
        options = ("--season", SEASON, "--listen", address, "--time", "1s", "--concurrency", str(AT_ONCE))
        with self._log.open("wb") as log:
            command = [*ARENA, "serve", *options, "--metrics", "0"]
            self.process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=log, stderr=log)
        begun = self._begun()
        self.address: str = begun["addresses"][0]
        self._metrics = f"http://127.0.0.1:{begun['metrics']}/metrics"

    def _begun(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while not (found := list(self.events("serving"))):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(self._log.read_text())
            time.sleep(0.05)
        return found[0]

    def events(self, kind: str) -> Iterator[dict[str, Any]]:
        """What it has logged; a line that it was killed in is none."""
        for line in self._log.read_text().splitlines():
            if line.startswith("{") and line.endswith("}") and (event := json.loads(line))["event"] == kind:
                yield event

    @property
    def games(self) -> int:
        """Games that it has told of."""
        return sum(1 for _ in self.events("game"))

    def figure(self, name: str) -> float:
        """One of its metrics; raises RuntimeError with what it has said where it does not answer."""
        try:
            lines = urlopen(self._metrics, timeout=10).read().decode().splitlines()
        except OSError as error:
            raise RuntimeError(f"{error}, exit code {self.process.poll()}: {self._log.read_text()[-2000:]}") from error
        return next(float(line.split()[1]) for line in lines if line.startswith(f"arena_{name} "))

    def wait_for(self, name: str, least: float) -> float:
        """Until one of its metrics is as great as that."""
        deadline = time.monotonic() + PATIENCE
        while (value := self.figure(name)) < least:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{name} is {value:g}, waited in vain for {least:g}")
            time.sleep(0.1)
        return value

    def stop(self) -> None:
        """As an organiser does."""
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(PATIENCE):
            raise RuntimeError(self._log.read_text()[-2000:])

    def kill(self) -> None:
        """As the machine may do."""
        self.process.kill()
        self.process.wait()


@contextmanager
def serving(folder: Path, address: str = "127.0.0.1:0") -> Iterator[Server]:
    """A server that does not outlive us."""
    server = Server(folder, address)
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def bots(folder: Path, address: str, tokens: Mapping[str, str]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """All of them, on their way to the server; the processes with many."""
    names = list(tokens)
    started = [joining(folder, name, address, tokens[name]) for name in names[:JOINED]]
    shares = (names[first : first + A_PROCESS] for first in range(JOINED, len(names), A_PROCESS))
    crowds = [crowd(folder, address, [tokens[name] for name in share]) for share in shares]
    started += crowds
    try:
        yield crowds
        if any(process.poll() is not None for process in started):
            raise RuntimeError("a bot has ended:\n" + (folder / "bots.log").read_text()[-2000:])
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def joining(folder: Path, name: str, address: str, token: str) -> subprocess.Popen[bytes]:
    """`arena join` of a bot."""
    path = script(folder, name, BOT, f"games_at_once = {GAMES_AT_ONCE}\n")
    with (folder / "bots.log").open("ab") as log:
        given = environment(ARENA_TOKEN=token, PYTHONPATH=str(CROWD.parent))
        return subprocess.Popen(
            [*ARENA, "join", path, "--server", address], cwd=folder, env=given, stdout=log, stderr=log
        )


def crowd(folder: Path, address: str, tokens: Sequence[str]) -> subprocess.Popen[bytes]:
    """Many bots in one process."""
    with (folder / "bots.log").open("ab") as log:
        process = subprocess.Popen([sys.executable, CROWD], stdin=subprocess.PIPE, stdout=log, stderr=log)
    say(process, json.dumps({"address": address, "tokens": tokens}))
    return process


def say(process: subprocess.Popen[bytes], line: str) -> None:
    """Tells a crowd something."""
    assert process.stdin is not None
    process.stdin.write(line.encode() + b"\n")
    process.stdin.flush()


def warmed(server: Server, crowds: Sequence[subprocess.Popen[bytes]]) -> int:
    """Plays as fast as the bots can, for a while; how many games that were."""
    for each in crowds:
        say(each, "0")
    while (games := server.games) < WARM_UP:
        progress(games, WARM_UP, "games to warm up")
        time.sleep(LOOK_EVERY)
    for each in crowds:
        say(each, str(ANSWER_S))
    return games


@contextmanager
def asking(address: str) -> Iterator[Reader]:
    """Somebody who looks at the leaderboard again and again."""
    reader, done = Reader([], []), threading.Event()
    thread = threading.Thread(target=ask, args=(address, reader, done))
    thread.start()
    try:
        yield reader
    finally:
        done.set()
        thread.join()


def ask(address: str, reader: Reader, done: threading.Event) -> None:
    with grpc.insecure_channel(address) as channel:
        stub = leaderboard_pb2_grpc.LeaderboardStub(channel)
        while not done.wait(ASK_EVERY):
            began = time.perf_counter()
            answer = stub.GetLeaderboard(pb.GetLeaderboardRequest(), timeout=PATIENCE)
            reader.times_ms.append(1000 * (time.perf_counter() - began))
            reader.games.append(answer.progress.finished)


def watched(server: Server, seconds: float, reader: Reader) -> Iterator[Look]:
    """Looks at the server's process for so long."""
    process, ends = psutil.Process(server.process.pid), time.monotonic() + seconds
    while (at := time.monotonic()) < ends:
        games, used = reader.games[-1] if reader.games else 0, process.cpu_times()
        yield Look(at, games, server.figure("running_games"), process.memory_info().rss / 1e6, used.user + used.system)
        progress(round(seconds - (ends - at)), round(seconds), f"s, {games} games")
        time.sleep(LOOK_EVERY)


def killed(folder: Path, first: Server, opened: ExitStack) -> tuple[float, Server]:
    """Kills the server in the middle of its games: seconds until all bots are back and play, and the next server."""
    began = time.monotonic()
    first.kill()
    again = opened.enter_context(serving(folder, first.address))
    again.wait_for("connections", BOTS)
    again.wait_for("running_games", AT_ONCE)
    return time.monotonic() - began, again


def verified(folder: Path) -> list[Result]:
    """Every attempt on record."""
    with Store.open(str(folder / "arena.db"), create=False) as store:
        season = queries.tournament(store, SEASON)
        report = verify(store, season)
        assert report.ok, report.problems
        with store.database.read() as connection:
            entries = connection.exec_driver_sql("SELECT journal FROM attempt ORDER BY sequence").scalars()
            return [journal.decode(entry, season.spec).result for entry in entries]


def refused(folder: Path) -> int:
    """Tests for admission that bots have failed."""
    with Store.open(str(folder / "arena.db"), create=False) as store, store.database.read() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM admission WHERE NOT passed").scalar_one())


def of_games(results: Sequence[Result], servers: Sequence[Server], refused: int) -> dict[str, float]:
    """What became of them: no bot ever fails, so every failure is false."""
    recorded = {(result.assignment.game_id, result.assignment.token.attempt) for result in results}
    told = Counter((game["game"], game["attempt"]) for server in servers for game in server.events("game"))
    return {
        "standing_false_losses": refused + sum(bool(result.failures) for result in results),
        "standing_voids": sum(result.ending is Ending.VOID for result in results),
        "standing_lost_or_double": sum(one not in recorded or times > 1 for one, times in told.items()),
    }


def charged_apart(results: Sequence[Result]) -> float:
    """By how many milliseconds more than a bot has measured itself it was charged, at most in 99 of 100 moves."""
    apart = [(move.used_us - move.credit_us - move.own_us) / 1e3 for result in results for move in result.moves]
    return quantile(apart, 0.99)


def of_server(looks: Sequence[Look]) -> dict[str, float]:
    """What it needed."""
    slope, _ = statistics.linear_regression([look.games for look in looks], [look.rss_mb for look in looks])
    return {
        "standing_games_at_once": statistics.median(look.running for look in looks),
        "standing_rss_mb_at_first": looks[0].rss_mb,
        "standing_rss_mb_at_last": looks[-1].rss_mb,
        "standing_rss_mb_per_1k_games": slope * 1000,
        "standing_cores": (looks[-1].cpu_s - looks[0].cpu_s) / (looks[-1].at - looks[0].at),
    }


def quantile(values: Sequence[float], share: float) -> float:
    """The value that so large a share of them is not over."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
