"""The referee, bots and the whole command stopped, killed or interrupted (F7, F12, F13, F16): nobody else pays."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from command import arena, bot, games, processes_of, start
from striking import Striker

from arena_server.store import Store, queries

pytestmark = pytest.mark.timeout(300)  # a machine may be busy

QUICK = "import time; time.sleep(0.01); return state.legal_moves()[0]"
SLOW = "import time; time.sleep(0.06); return state.legal_moves()[0]"


def wait_until(true: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def running(path: str) -> list[psutil.Process]:
    """The processes of the bot in that file."""
    name = Path(path).name
    return [process for process in processes_of(Path(path).parent) if name in process.cmdline()]


def attempts(folder: Path) -> list[dict[str, Any]]:
    """Every attempt on record, void ones too."""
    with Store.open(str(folder / "arena.db"), create=False) as store:
        records = queries.export(store, queries.tournament(store), all_attempts=True)
        return [record.as_dict() for record in records]


@pytest.fixture
def playing(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A tournament of two bots, its games under way."""
    bots = [bot(tmp_path, "one", QUICK), bot(tmp_path, "two", QUICK)]
    process = start("run-tournament", *bots, "--games", "6", "--time", "1s", "--concurrency", "1", cwd=tmp_path)
    wait_until(lambda: all(map(running, bots)), "the bots run")
    time.sleep(1)
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize("seconds", [0.5, 1.5, 3.0])
def test_a_referee_that_stands_still_charges_nobody(
    playing: subprocess.Popen[str], tmp_path: Path, seconds: float
) -> None:
    """Up to a second is credited to a move; over two seconds in a game void it, and it is played again."""
    playing.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    playing.send_signal(signal.SIGCONT)
    _, errors = playing.communicate(timeout=120)
    assert playing.returncode == 0, errors
    assert {record["termination"] for record in games(tmp_path)} == {"normal"}
    voids = [record for record in attempts(tmp_path) if record["termination"] == "void"]
    if seconds > 2:
        assert voids
        assert "will be played again" in errors


def test_a_bot_that_is_stopped_loses_on_time_and_the_others_play_on(tmp_path: Path) -> None:
    bots = [bot(tmp_path, name, QUICK) for name in ("one", "two", "three")]
    command = ("run-tournament", *bots, "--games", "4", "--time", "1s", "--concurrency", "1")
    process = start(*command, cwd=tmp_path)
    wait_until(lambda: running(bots[2]), "the bot runs")
    time.sleep(1)
    (stopped, *_) = running(bots[2])
    stopped.suspend()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert not stopped.is_running()
    records = games(tmp_path)
    assert len(records) == 12
    lost = [record for record in records if record["termination"] != "normal"]
    assert len(lost) == 1
    assert lost[0]["termination"] in ("timeout", "disconnect")
    assert lost[0]["seats"]["ab".index(lost[0]["blame"])]["bot"] == "three"


def test_bots_killed_at_random_instants_lose_their_games_and_no_others(tmp_path: Path) -> None:
    bots = [bot(tmp_path, name, QUICK) for name in ("one", "two", "victim")]
    process = start("run-tournament", *bots, "--games", "4", "--time", "5s", "--concurrency", "1", cwd=tmp_path)
    while process.poll() is None:
        for victim in running(bots[2]):
            victim.kill()
        time.sleep(random.uniform(0.5, 2))
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    records = games(tmp_path)
    assert len(records) == 12
    for record in records:
        assert record["termination"] in ("normal", "crash", "start_failure")
        if record["blame"]:
            assert record["seats"]["ab".index(record["blame"])]["bot"] == "victim"
            assert record["winner"] not in (None, record["blame"])


def test_a_wall_clock_that_jumps_changes_nothing(tmp_path: Path, striker: Striker) -> None:
    bots = [bot(tmp_path, "one", QUICK), bot(tmp_path, "two", QUICK)]
    command = ("run-tournament", *bots, "--games", "2", "--time", "1s", "--seed", "s")
    jumping = {"LD_PRELOAD": str(striker.library), "SHIM_CLOCK_JUMPS": "1"}
    done = arena(*command, cwd=tmp_path, timeout=100, **jumping)
    assert done.returncode == 0, done.stderr
    records = games(tmp_path)
    assert {record["termination"] for record in records} == {"normal"}
    assert all(0 < record["seconds"] < 60 for record in records)
    assert all(0 <= seconds < 1.05 for record in records for seconds in record["times"])
    days = {record["date"][:10] for record in records}
    assert time.strftime("%Y-%m-%d", time.gmtime()) not in days  # it did jump


def test_r14_interrupted_with_8_games_in_flight_and_resumed(tmp_path: Path) -> None:
    bots = [bot(tmp_path, name, SLOW) for name in ("one", "two")]
    command = ("run-tournament", *bots, "--games", "8", "--time", "10s", "--seed", "s", "--concurrency")
    process = start(*command, "8", cwd=tmp_path)
    wait_until(lambda: sum(len(running(path)) for path in bots) == 16, "8 games are in flight")
    time.sleep(2)
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does: the whole group
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)  # the second ends the grace
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert not list(processes_of(tmp_path))
    before = counted(tmp_path)
    done = arena(*command, "4", cwd=tmp_path, timeout=100)
    assert done.returncode == 0, done.stderr
    records = games(tmp_path)
    assert [record["number"] for record in records] == list(range(1, 9))
    assert {record["termination"] for record in records} == {"normal"}
    pairs: dict[int, set[tuple[str, ...]]] = {}
    for record in records:
        pairs.setdefault(record["pairing"], set()).add(tuple(seat["bot"] for seat in record["seats"]))
    assert all(len(pair) == 2 for pair in pairs.values())
    assert counted(tmp_path) == dict.fromkeys(before, 8)


def counted(folder: Path) -> dict[str, int]:
    """The games of each bot in the standings, once they are those of the records."""
    records = games(folder)
    with Store.open(str(folder / "arena.db"), create=False) as store:
        board = queries.leaderboard(store, queries.tournament(store))
    numbers = [record["number"] for record in records]
    folded = [record for record in records if numbers[: record["number"]] == list(range(1, record["number"] + 1))]
    counts = {standing.entrant.name: standing.games for standing in board.standings}
    assert counts == {
        name: sum(name in [seat["bot"] for seat in record["seats"]] for record in folded) for name in counts
    }
    return counts
