"""Bots that fail, in real events: parked after the same game at any number of games at once, and after kill -9."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from command import arena, bot, games, processes_of, script, start

SOUND = "return self.random.choice(state.legal_moves())"
NOW_AND_THEN = """
    if state.time(self.seat) > 20 and self.random.random() < 0.1:
        raise ValueError("no idea")
    return state.legal_moves()[0]
"""


def write(folder: Path, then: str) -> None:
    """A spec: two bots that play, one that crashes now and then, one that never starts."""
    folder.mkdir()
    names = [bot(folder, "one", SOUND), bot(folder, "two", SOUND), bot(folder, "shaky", NOW_AND_THEN)]
    names.append(script(folder, "never", "import sys; sys.exit('no model')"))
    (folder / "spec.toml").write_text(
        f"bots = {json.dumps([Path(name).name for name in names])}\n"
        f'games = 6\ntime = "5s"\nseed = "s"\n[probation]\nfailures = 2\nthen = "{then}"\n'
    )


def play(folder: Path, concurrency: int) -> str:
    done = arena("run-tournament", "spec.toml", "--concurrency", str(concurrency), cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stderr


def told(folder: Path) -> tuple[str, list[dict[str, Any]]]:
    """The leaderboard, and how every game ended."""
    listed = json.loads(arena("games", "list", "--json", cwd=folder).stdout)
    return arena("leaderboard", cwd=folder).stdout, listed["games"] if isinstance(listed, dict) else listed


@pytest.mark.parametrize("then", ["forfeit", "cancel"])
def test_the_same_games_are_lost(tmp_path: Path, then: str) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    write(whole, then)
    write(torn, then)
    errors = play(whole, 8)
    assert "never 1 is parked" in errors
    assert "shaky 0 is parked" in errors
    process = start("run-tournament", "spec.toml", "--concurrency", "1", cwd=torn)
    assert process.stderr is not None
    told_before = ""
    for line in process.stderr:
        told_before += line
        if "is parked" in line:  # it is on disk before it is told
            break
    process.kill()
    told_before += process.communicate()[1]  # by then it may have gone on
    assert "is parked" in told_before
    deadline = time.monotonic() + 20
    while list(processes_of(torn)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    again = play(torn, 1)
    for parked in ("never 1 is parked", "shaky 0 is parked"):
        assert (told_before + again).count(parked) <= 1  # who was told of is known
    assert told(torn) == told(whole)
    records = games(torn)
    lost = [record for record in records if record["termination"] == "forfeit"]
    assert bool(lost) is (then == "forfeit")
    assert all("the last time: " in record["failed"]["reason"] for record in lost)
    board = arena("leaderboard", cwd=torn).stdout
    assert "never 1 (parked)" in board
    assert "is parked since game" in board
    if lost:
        shown = arena("games", "show", str(lost[-1]["number"]), cwd=torn)
        assert "parked after game" in shown.stdout
