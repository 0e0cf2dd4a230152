"""What is kept of a seat that failed, from a real bot to every reader."""

from __future__ import annotations

import json
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


def test_a_crash_is_kept_with_its_signal(tmp_path: Path) -> None:
    (failure,) = lost_by(tmp_path, "import os; os.kill(os.getpid(), 11)")["failures"]
    assert failure["box"]["exit"] == "killed by SIGSEGV"
    assert failure["box"]["max_rss_kb"] > 1_000
    assert failure["box"]["bot"].endswith("bad.py")


def test_a_traceback_is_kept_once(tmp_path: Path) -> None:
    (failure,) = lost_by(tmp_path, "raise ValueError('no idea')")["failures"]
    assert "no idea" in failure["evidence"]
    assert failure["box"]["exit"] == ""


@pytest.mark.parametrize(
    "flood", ["print('x' * 100_000, file=__import__('sys').stderr)", "raise ValueError('y' * 99_999)"]
)
def test_a_flood_is_bounded(tmp_path: Path, flood: str) -> None:
    """The bound itself is looked at above."""
    lost_by(tmp_path, f"{flood}; return 'no move'")


def test_no_seed_is_told(tmp_path: Path) -> None:
    (failure,) = lost_by(tmp_path, "return 'no move'")["failures"]
    assert any("game_started" in message for message in failure["box"]["messages"])
    assert not any("seed:" in message for message in failure["box"]["messages"])


def test_a_healthy_game_keeps_none(tmp_path: Path) -> None:
    assert arena("run-tournament", "greedy", "random", "--games", "2", cwd=tmp_path).returncode == 0
    shown = json.loads(arena("games", "show", "1", "--json", cwd=tmp_path).stdout)
    assert shown["failures"] == []
    assert shown["failed"] is None
