"""`arena sprt` and `--until` with real bots and processes: they stop at the same game however they are run."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from command import arena, bot, games, start

LAST = "return state.legal_moves()[-1]"
SEEDED = "return self.random.choice(state.legal_moves())"
BETTER = "return max(state.legal_moves()[:9], key=lambda m: state.after(m).score(self.seat))"


@pytest.fixture
def command(tmp_path: Path) -> tuple[str, ...]:
    """A test that fifteen pairs decide."""
    bots = (bot(tmp_path, "better", BETTER), bot(tmp_path, "seeded", SEEDED))
    return (
        "sprt",
        *bots,
        "--elo1",
        "300",
        "--alpha",
        "0.1",
        "--beta",
        "0.1",
        "--games",
        "100",
        "--seed",
        "s",
        "--time",
        "5s",
    )


def board(folder: Path) -> tuple[str, Any]:
    plain, full = (arena("leaderboard", *more, cwd=folder) for more in ((), ("--json",)))
    assert plain.returncode == 0, plain.stderr
    return plain.stdout, json.loads(full.stdout)


def run(command: tuple[str, ...], folder: Path, *more: str) -> tuple[str, Any]:
    folder.mkdir(exist_ok=True)
    done = arena(*command, *more, cwd=folder, timeout=120)
    assert done.returncode == 0, done.stderr
    plain, full = board(folder)
    assert plain.strip() in done.stdout
    assert arena("verify", cwd=folder).returncode == 0
    return plain, full


def test_one_game_at_once_or_eight_killed_or_not(tmp_path: Path, command: tuple[str, ...]) -> None:
    one = run(command, tmp_path / "one", "--concurrency", "1")
    assert one[1]["stop"]["verdict"] == "better"
    stopped = one[1]["stop"]["stopped"]
    assert stopped < 100
    assert f"stopped after game {stopped}: better 0 is better than seeded 0: Elo 300 is accepted" in one[0]
    assert run(command, tmp_path / "eight", "--concurrency", "8") == one
    torn = tmp_path / "torn"
    torn.mkdir()
    for patience in (2.0, 3.0):
        process = start(*command, cwd=torn)
        time.sleep(patience)
        process.kill()
        process.communicate()
    assert run(command, torn, "--concurrency", "2") == one
    assert [game["number"] for game in games(torn)] == list(range(1, stopped + 1))


def test_interrupted_it_says_how_to_go_on(tmp_path: Path) -> None:
    bots = (bot(tmp_path, "one", SEEDED), bot(tmp_path, "two", SEEDED))
    process = start("sprt", *bots, "--elo1", "5", "--games", "400", "--seed", "s", "--time", "5s", cwd=tmp_path)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(2.5)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "the same command goes on with the rest: arena sprt " in errors
    assert arena("verify", cwd=tmp_path).returncode == 0


def test_two_option_sets_of_one_bot_and_no_verdict(tmp_path: Path) -> None:
    command = ("sprt", "mcts:c=1.4,playouts=2", "mcts:playouts=2", "--games", "2", "--time", "5s", "--json")
    done = arena(*command, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert arena(*command, cwd=tmp_path).returncode == 1  # shown again
    assert "undecided after 2 games: LLR " in arena(*command[:-1], cwd=tmp_path).stdout
    stop = json.loads(done.stdout)["stop"]
    assert (stop["new"], stop["old"], stop["verdict"]) == ("mcts 2.0 c=1.4", "mcts 2.0 c=0.4", None)


def test_the_best_of_many(tmp_path: Path) -> None:
    bots = (bot(tmp_path, "last", LAST), bot(tmp_path, "first"), bot(tmp_path, "seeded", SEEDED))
    rule = ("run-tournament", *bots, "--until", "top 2 at 80%", "--games", "30", "--seed", "s", "--time", "5s")
    plain, full = run(rule, tmp_path / "many", "--concurrency", "4")
    assert full["stop"]["best"] == ["last 0", "seeded 0"]
    assert full["stop"]["stopped"] < 90
    assert "top 2 known at 80 %: last 0, seeded 0; " in plain
    listed = arena("tournaments", cwd=tmp_path / "many").stdout
    assert f"stopped at {full['stop']['stopped']}" in listed
