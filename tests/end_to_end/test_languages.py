"""Bots in other languages play house bots through the referee."""

from __future__ import annotations

from pathlib import Path

from command import arena, games
from languages import NODE, node


def test_the_bot_in_javascript_plays_a_house_bot(tmp_path: Path) -> None:
    node()
    done = arena("run-tournament", str(NODE), "greedy", "--games", "2", "--time", "10s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    records = games(tmp_path)
    assert [record["termination"] for record in records] == ["normal", "normal"]
