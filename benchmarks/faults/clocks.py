"""Clocks: who loses on time without fault, who gets away, and what is charged beside what was thought.

GAMES is the number of games on a quiet machine; the loaded ones and those of late bots are three tenths of it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from command import bot  # tests/support
from table import progress

from arena_server.model import Ending, Result
from arena_server.store import Store, journal, queries
from faults.running import running, size

AT_ONCE = 32
HOGS = 4
TIME_LOSSES = (Ending.TIMEOUT, Ending.DISCONNECT, Ending.START_FAILURE)
ANSWERS = "import time; time.sleep(0.1); return state.legal_moves()[0]"
INSTANT = "return state.legal_moves()[-1]"
LATE = "import time; time.sleep(0.26 if state.time(self.seat) > 5 else 0); return state.legal_moves()[0]"
"""Over the limit of 200 ms and the margin of 50 ms by 10 ms."""


def measure() -> dict[str, float]:
    """All figures of the clocks."""
    games = size("GAMES", 2000)
    fewer = max(2, games * 3 // 10 // 2 * 2)
    quiet = play((ANSWERS, ANSWERS), games, "1s", "games on a quiet machine")
    with hogs():
        loaded = play((ANSWERS, ANSWERS), fewer, "1s", "games beside CPU hogs")
    late = play((LATE, INSTANT), fewer, "200ms", "games of late bots", at_once=2)
    alone = play((ANSWERS, ANSWERS), max(2, games // 100 * 2), "1s", "games, one at a time", at_once=1)
    apart = sorted((move.used_us - move.credit_us - move.own_us) / 1e3 for result in alone for move in result.moves)
    return {
        "false_time_losses_quiet": lost_on_time(quiet),
        "false_time_losses_loaded": lost_on_time(loaded),
        "voids_fraction_loaded": sum(result.ending is Ending.VOID for result in loaded) / len(loaded),
        "missed_time_losses": sum(result.ending is Ending.NORMAL for result in late),
        "charged_minus_true_p50_ms": statistics.median(apart),
        "charged_minus_true_p99_ms": apart[len(apart) * 99 // 100],
    }


def lost_on_time(results: list[Result]) -> int:
    return sum(result.ending in TIME_LOSSES for result in results)


def play(bodies: tuple[str, str], games: int, limit: str, what: str, *, at_once: int = AT_ONCE) -> list[Result]:
    """Every attempt at the games of two such bots."""
    with tempfile.TemporaryDirectory(prefix="f") as name:
        folder = Path(name)
        bots = [bot(folder, name, body) for name, body in zip(("one", "two"), bodies, strict=True)]
        options = ("--games", str(games), "--time", limit, "--concurrency", str(at_once))
        with running("run-tournament", *bots, *options, cwd=folder, TMPDIR=name) as process:
            while process.poll() is None:
                time.sleep(5)
                progress(len(attempts(folder)), games, what)
        return attempts(folder)


def attempts(folder: Path) -> list[Result]:
    """What is on record by now."""
    path = folder / "arena.db"
    if not path.exists():
        return []
    with Store.open(str(path), create=False) as store:
        known = queries.tournaments(store)
        return list(journal_of(store)) if known else []


def journal_of(store: Store) -> Iterator[Result]:
    tournament = queries.tournament(store)
    with store.database.read() as connection:
        for (entry,) in connection.exec_driver_sql("SELECT journal FROM attempt ORDER BY sequence"):
            yield journal.decode(entry, tournament.spec).result


@contextmanager
def hogs() -> Iterator[None]:
    """Processes that want all of every core."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(HOGS)]
    try:
        yield
    finally:
        for hog in running:
            hog.kill()
            hog.wait()
