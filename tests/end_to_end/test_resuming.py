"""Killed and run again, extended, without a bot: real commands, real bots, every format."""

from __future__ import annotations

import random
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from command import arena, bot, games, processes_of, start

SEEDED = "return self.random.choice(state.legal_moves())"
"""The same moves in the same game, whenever it is played."""

FORMATS = {  # with how many bots; for a round-robin see test_run_tournament
    "gauntlet": (3, "--games 4"),
    "match": (2, "--games 6"),
    "swiss": (3, "--rounds 3"),
    "knockout": (3, "--games 2"),
    "double-elimination": (2, "--games 2"),
    "ladder": (2, "--rounds 4"),
}


def bots(folder: Path, count: int) -> list[str]:
    """The same in every folder."""
    return [Path(bot(folder, f"bot{number}", SEEDED)).name for number in range(count)]


def recorded(folder: Path) -> int:
    """How many games are on disk."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'arena.db'}?mode=ro", uri=True)) as connection:
            count: int = connection.execute("SELECT count(*) FROM attempt").fetchone()[0]
            return count
    except sqlite3.OperationalError:  # not made yet
        return 0


def kill_at(count: int, *command: str, folder: Path) -> None:
    """Starts a command and kills it some moment after so many games are on disk."""
    process = start(*command, cwd=folder)
    deadline = time.monotonic() + 60
    while recorded(folder) < count and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(random.random() / 10)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 10
    while left := list(processes_of(folder)):
        assert time.monotonic() < deadline, f"left running after kill -9: {left}"
        time.sleep(0.02)


def result(output: str) -> str:
    """The leaderboard at the end of what a command printed."""
    board = output[output.index(" games rated") :]
    return "\n".join(line for line in board.splitlines() if not line.startswith("chain head"))  # it holds times


@pytest.mark.parametrize("of", FORMATS)
def test_killed_and_run_again_it_is_as_if_nothing_had_happened(tmp_path: Path, of: str) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    whole.mkdir()
    torn.mkdir()
    count, options = FORMATS[of]
    names = bots(whole, count)
    for name in names:
        shutil.copy(whole / name, torn)
    command = ("run-tournament", *names, "--format", of, *options.split(), "--seed", "s", "--time", "9s")
    done = arena(*command, cwd=whole)
    assert done.returncode == 0, done.stderr
    records = games(whole)
    kill_at(random.randrange(1, len(records)), *command, folder=torn)
    resumed = arena(*command, cwd=torn)
    assert resumed.returncode == 0, resumed.stderr
    assert result(resumed.stdout) == result(done.stdout)
    assert [record["moves"] for record in games(torn)] == [record["moves"] for record in records]


def test_extended_by_games_by_a_bot_and_without_one(tmp_path: Path) -> None:
    names = bots(tmp_path, 4)
    command = ("run-tournament", *names[:3], "--time", "9s")
    assert arena(*command, "--games", "2", cwd=tmp_path).returncode == 0
    before = games(tmp_path)
    grown = ("run-tournament", *names, "--time", "9s", "--games", "4")
    kill_at(len(before) + 1, *grown, "--extend", folder=tmp_path)
    done = arena(*grown, cwd=tmp_path)  # without --extend: it is this tournament's contract by now
    assert done.returncode == 0, done.stderr
    records = games(tmp_path)
    assert records[: len(before)] == before
    assert [record["number"] for record in records] == list(range(1, 25))
    assert len({record["seed"] for record in records}) == 2  # what was revealed deals no more
    (tmp_path / names[1]).unlink()
    gone = arena(*grown, cwd=tmp_path)
    assert gone.returncode == 2
    assert "if it has disappeared, `arena withdraw` takes it out of its tournament" in gone.stderr
    assert arena("withdraw", "bot1", cwd=tmp_path).returncode == 0
    left = ("run-tournament", *(name for name in names if name != names[1]), "--time", "9s")
    assert "bot1 0 (withdrawn)" in arena(*left, "--games", "4", cwd=tmp_path).stdout
    more = arena(*left, "--games", "6", "--extend", cwd=tmp_path)
    assert more.returncode == 0, more.stderr
    assert len(games(tmp_path)) == 30
    first = arena(*command, "--games", "2", cwd=tmp_path)
    assert first.returncode == 2
    assert "no such bot" in first.stderr


def test_extended_by_rounds_and_withdrawn_half_way(tmp_path: Path) -> None:
    names = bots(tmp_path, 4)
    command = ("run-tournament", *names, "--format", "swiss", "--seed", "s", "--time", "9s", "--name", "open")
    assert arena(*command, "--rounds", "1", cwd=tmp_path).returncode == 0
    kill_at(5, *command, "--rounds", "3", "--extend", folder=tmp_path)
    assert arena("withdraw", "bot3", "--tournament", "open", cwd=tmp_path).returncode == 0
    done = arena(*command, "--rounds", "3", "--extend", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "open has all of this already" in done.stdout
    assert "swiss after round 3 of 3" in done.stdout
    assert done.stdout.count("bot3 0 (withdrawn)") == 2
    games(tmp_path)  # verified


def test_what_cannot_be_extended_is_one_clear_line(tmp_path: Path) -> None:
    command = ("run-tournament", *bots(tmp_path, 2), "--format", "knockout", "--time", "9s", "--name", "cup")
    assert arena(*command, "--games", "2", cwd=tmp_path).returncode == 0
    for options, words in (
        (["--games", "4", "--extend"], "a knockout is drawn once and cannot grow"),
        (["--extend", "--new"], "--extend and --new contradict each other"),
        (["--extend", "--name", "other"], "no such tournament to extend: 'other'"),
    ):
        refused = arena(*command, *options, cwd=tmp_path)
        assert refused.returncode == 2
        assert words in refused.stderr
        assert len(refused.stderr.strip().splitlines()) == 1


def test_a_bot_that_disappears_half_way_forfeits_and_the_event_goes_on(tmp_path: Path) -> None:
    names = bots(tmp_path, 2)
    home = tmp_path / "brief"
    home.mkdir()
    body = """
    import shutil
    shutil.rmtree(__file__.rpartition("/")[0], ignore_errors=True)
    self.moves = getattr(self, "moves", 0) + 1
    if self.moves > 3:
        import os
        os._exit(1)
    return state.legal_moves()[0]
    """
    Path(bot(home, "bot", body)).rename(home / "bot.py")
    done = arena("run-tournament", "brief", *names, "--games", "4", "--time", "9s", "--concurrency", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "brief 0 is parked" in done.stderr
    endings = [record["termination"] for record in games(tmp_path)]
    assert len(endings) == 12
    assert endings.count("normal") == 4
    assert "start_failure" in endings
