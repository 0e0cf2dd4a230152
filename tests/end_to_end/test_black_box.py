"""What is kept of a seat that failed, from a real bot to every reader."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from command import arena, bot, games

from arena_engine.record import GameRecord

LATE = """
    import sys, time
    print("I think", file=sys.stderr)
    time.sleep(0.55 if state.time(self.seat) > 5 else 0)
    return state.legal_moves()[0]
"""


def lost_by(tmp_path: Path, body: str) -> dict[str, Any]:
    """The first game of a bot with that body, as `games show --json` gives it, once exports and text agree with it."""
    done = arena(
        "run-tournament", bot(tmp_path, "bad", body), "greedy", "--games", "2", "--time", "400ms", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    record = next(record for record in games(tmp_path) if record["blamed"])
    shown = json.loads(arena("games", "show", record["id"], "--json", cwd=tmp_path).stdout)
    (failure,) = shown["failures"]
    exported = arena("games", "export", record["id"], cwd=tmp_path).stdout
    assert json.loads(exported)["failed"]["box"] == failure["box"]
    assert GameRecord.from_json(exported).failed is not None
    assert len(json.dumps(failure)) < 64 << 10
    assert failure["command"] in arena("games", "show", record["id"], cwd=tmp_path).stdout
    return dict(shown)


def asked_again(tmp_path: Path, shown: dict[str, Any]) -> dict[str, Any]:
    """What the command that reproduces the position tells."""
    (failure,) = shown["failures"]
    words = shlex.split(failure["command"])
    assert words[0] == "arena"
    done = arena(*words[1:], "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["position"] == failure["position"]
    return dict(told["answer"])


def test_a_late_answer_is_kept_beside_the_loss(tmp_path: Path) -> None:
    shown = lost_by(tmp_path, LATE)
    (failure,) = shown["failures"]
    box = failure["box"]
    assert (box["limit_us"], box["margin_us"]) == (400_000, 50_000)
    assert 550_000 <= box["own_us"] <= box["late_us"]
    assert failure["used_us"] <= box["late_us"]
    assert box["stderr"].splitlines()[-1] == "I think"
    assert box["cpu_us"] < 60_000_000
    assert box["max_rss_kb"] > 1_000
    assert "move_request" in box["messages"][-3]
    assert "game_over" in box["messages"][-2]
    assert "own_us" in box["messages"][-1]
    text = arena("games", "show", shown["id"], cwd=tmp_path).stdout
    assert "whose fault: the bot's: by its own measure, too" in text
    answer = asked_again(tmp_path, shown)
    assert (answer["objection"], answer["failure"]) == ("", "")
    assert answer["seconds"] > answer["own_seconds"] > 0.5
    assert "I think" in answer["stderr"]


def test_a_crash_is_kept_with_its_signal(tmp_path: Path) -> None:
    shown = lost_by(tmp_path, "import os; os.kill(os.getpid(), 11)")
    (failure,) = shown["failures"]
    assert failure["box"]["exit"] == "killed by SIGSEGV"
    assert failure["box"]["max_rss_kb"] > 1_000
    assert failure["box"]["bot"].endswith("bad.py")
    assert asked_again(tmp_path, shown)["exit"] == "killed by SIGSEGV"


def test_a_traceback_is_kept_once(tmp_path: Path) -> None:
    shown = lost_by(tmp_path, "raise ValueError('no idea')")
    (failure,) = shown["failures"]
    assert "no idea" in asked_again(tmp_path, shown)["failure"]
    assert "no idea" in failure["evidence"]
    assert failure["box"]["exit"] == ""


@pytest.mark.parametrize(
    "flood", ["print('x' * 100_000, file=__import__('sys').stderr)", "raise ValueError('y' * 99_999)"]
)
def test_a_flood_is_bounded(tmp_path: Path, flood: str) -> None:
    """The bound itself is looked at above."""
    lost_by(tmp_path, f"{flood}; return 'no move'")


def test_no_seed_is_told(tmp_path: Path) -> None:
    shown = lost_by(tmp_path, "return 'no move'")
    (failure,) = shown["failures"]
    answer = asked_again(tmp_path, shown)
    assert answer["move"] == "no move"
    assert answer["objection"]
    assert any("game_started" in message for message in failure["box"]["messages"])
    assert not any("seed:" in message for message in failure["box"]["messages"])


def test_a_healthy_game_keeps_none(tmp_path: Path) -> None:
    assert arena("run-tournament", "greedy", "random", "--games", "2", cwd=tmp_path).returncode == 0
    shown = json.loads(arena("games", "show", "1", "--json", cwd=tmp_path).stdout)
    assert shown["failures"] == []
    assert shown["failed"] is None


def test_a_bot_is_asked_in_any_position(tmp_path: Path) -> None:
    assert arena("run-tournament", "greedy", "random", "--games", "2", cwd=tmp_path).returncode == 0
    shown = arena("replay", "1", "--at", "0", "--bot", "mcts:playouts=50", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "by its own measure; legal" in shown.stdout
    assert "with a seed of its own" not in shown.stdout  # the tournament is over, its secret revealed
    for words, mistake in (
        (["--bot", "mcts"], "in which position"),
        (["--at", "999", "--bot", "mcts"], "no such position"),
        (["--at", "0", "--bot", "mcts", "--seat", "b"], "which seat?"),
    ):
        done = arena("replay", "1", *words, cwd=tmp_path)
        assert done.returncode == 2
        assert mistake in done.stderr
