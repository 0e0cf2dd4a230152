"""What the command's process, which holds the referee, grows by over GROWTH games of instant bots.

Memory is resident memory, the slope of a straight line through looks every two seconds, from game WARM_UP on: by then
caches of bounded size are full (those of the notation take 8,000 entries, SQLite's takes 2 MB). A single step of 0.5 MB
of the allocator's is a slope of 0.2 over 5,000 games, of 0.1 over 10,000. Descriptors, threads and child processes must
not grow at all.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil
from command import bot  # tests/support
from table import progress

from arena_server.store import Store, queries
from faults.running import running, size

PERIOD = 2.0
"""Seconds between two looks."""
WARM_UP = 1000
"""Games before the steady state."""


class Look(NamedTuple):
    """The command's process at one moment."""

    games: int
    rss_mb: float
    descriptors: int
    threads: int
    processes: int


def measure() -> dict[str, float]:
    """The slope; raises AssertionError where something else grew."""
    games = size("GROWTH", 10_000) // 2 * 2
    if games < 2 * WARM_UP:
        raise SystemExit(f"GROWTH={games} shows no trend: the first {WARM_UP} games are warm-up, give {2 * WARM_UP}")
    looks = [look for look in watched(games) if look.games >= WARM_UP]
    for name in ("descriptors", "threads", "processes"):
        early, late = ([getattr(look, name) for look in half] for half in halves(looks))
        if max(late) > max(early):
            raise AssertionError(f"{name} grew from {max(early)} to {max(late)}")
        print(f"{name}: {max(early)} at most in the first half, {max(late)} in the second", flush=True)
    slope, _ = statistics.linear_regression([look.games for look in looks], [look.rss_mb for look in looks])
    return {"rss_mb_per_1k_games": slope * 1000}


def halves(looks: list[Look]) -> tuple[list[Look], list[Look]]:
    return looks[: len(looks) // 2], looks[len(looks) // 2 :]


def watched(games: int) -> list[Look]:
    """Plays, and looks at the process again and again."""
    looks = []
    with tempfile.TemporaryDirectory(prefix="f") as name:
        folder = Path(name)
        bots = [bot(folder, "one"), bot(folder, "two", "return state.legal_moves()[-1]")]
        options = ("--games", str(games), "--time", "5s", "--concurrency", "2")
        with running("run-tournament", *bots, *options, cwd=folder, TMPDIR=name) as process:
            seen = psutil.Process(process.pid)
            while process.poll() is None:
                time.sleep(PERIOD)
                look = look_at(seen, finished(folder))
                if look is None:
                    break
                looks.append(look)
                progress(look.games, games, f"games, {look.rss_mb:.1f} MB")
    return looks


def look_at(process: psutil.Process, games: int) -> Look | None:
    """None where it has just ended."""
    try:
        with process.oneshot():
            rss, family = process.memory_info().rss / 1e6, process.children(recursive=True)
            return Look(games, rss, process.num_fds(), process.num_threads(), len(family)) if rss else None
    except psutil.Error:
        return None


def finished(folder: Path) -> int:
    """Games on record."""
    if not (folder / "arena.db").exists():
        return 0
    with Store.open(str(folder / "arena.db"), create=False) as store:
        known = queries.tournaments(store)
        return store.progress(queries.tournament(store)).finished if known else 0
