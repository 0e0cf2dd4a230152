"""`arena run-tournament --dry-run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from here import Arena

from arena_server.coordinator.event import Event
from arena_server.coordinator.settings import Settings
from arena_server.store import Store

QUICK = ("run-tournament", "greedy", "random", "--games", "4")


def test_it_tells_what_a_tournament_takes(arena: Arena) -> None:
    done = arena(*QUICK, "--dry-run", "--concurrency", "1")
    assert done.code == 0
    words = [line.split()[0] for line in done.out.splitlines()]
    assert words == ["tournament", "format", "games", "bot", "time", "memory", "disk"]
    assert "new, nothing of it is in the database" in done.out
    assert "games       4, 1 at once" in done.out
    assert "bot starts  2\n" in done.out


def test_nothing_is_written(arena: Arena, tmp_path: Path) -> None:
    before = arena.database.read_bytes()
    assert arena(*QUICK, "--dry-run").code == 0
    assert arena.database.read_bytes() == before
    assert arena(*QUICK, "--dry-run", "--db", "other.db").code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"arena.db"}


def test_it_says_what_is_there_already(arena: Arena) -> None:
    settings = Settings.said({"bots": ["greedy", "random"], "games": 4, "name": "cup"})
    with Store.open(str(arena.database)) as store:
        Event.of(settings).enter(store)
    assert "in the database already (planned)" in arena(*QUICK, "--name", "CUP", "--dry-run").out
    assert arena(*QUICK, "--name", "cup", "--dry-run", "--json").json["status"] == "planned"
    assert "with another contract" in arena(*QUICK, "--name", "nightly", "--dry-run").out
    assert arena(*QUICK, "--name", "cup", "--dry-run", "--new", "--json").json["status"] is None


def figures(arena: Arena, *arguments: str) -> dict[str, Any]:
    told: dict[str, Any] = arena(*QUICK, "--dry-run", "--json", *arguments).json
    return told


def test_the_figures_follow_from_what_is_asked(arena: Arena) -> None:
    once = figures(arena, "--concurrency", "1")
    assert once["games"] == [4, 4]
    assert once["starts"] == [2, 2]
    assert once["likely_h"][0] < once["longest_h"]
    assert once["contract"]["games"] == 4
    more = figures(arena, "--games", "400", "--concurrency", "1")
    assert 50 * once["longest_h"] < more["longest_h"] < 101 * once["longest_h"]
    assert more["disk_mb"][0] == pytest.approx(100 * once["disk_mb"][0])
    beside = figures(arena, "--games", "400", "--concurrency", "4")
    assert beside["longest_h"] == pytest.approx(more["longest_h"] / 4, rel=0.01)
    assert beside["memory_mb"] > once["memory_mb"]
    assert beside["starts"] == [2, 8]
    fresh = figures(arena, "--restart", "every game")
    assert fresh["starts"] == [8, 8]
    slower = figures(arena, "--time", "10s", "--concurrency", "1")
    assert slower["longest_h"] > 50 * once["longest_h"]
    bank = figures(arena, "--time", "36s/10s", "--concurrency", "1")
    assert bank["longest_h"] == pytest.approx(4 * 2 * 36 / 3600, rel=0.01)


def test_a_length_that_depends_on_results_is_a_range(arena: Arena) -> None:
    done = arena("run-tournament", "--format", "knockout", "--dry-run")
    assert "games       6 to 54" in done.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--games", "5"), "number of games: 5"),
        (("--db", "no/x.db"), "no such folder for the database"),
        (("--db", "text.toml.txt"), "not an SQLite database"),
        (("--name", "a/b"), "not a name for a tournament"),
        (("--restart", "sometimes"), "'sometimes' is not one of 'never', 'every game'"),
    ],
)
def test_mistakes_are_told(arena: Arena, tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    (tmp_path / "text.toml.txt").write_text("words, and more of them than a header has\n" * 10)
    done = arena(*QUICK, "--dry-run", *arguments)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert told in done.err


def test_a_spec_and_bots_beside_it(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('bots = ["greedy", "mcts", "random"]\ngames = 4\nname = "a/b"')
    assert "x.toml, line 3, key name: not a name" in arena("run-tournament", "x.toml", "--dry-run").err
    done = arena("run-tournament", "x.toml", "greedy", "random", "--name", "ab", "--dry-run")
    assert "round-robin of 2 bots, 4 games a pair" in done.out
    assert "more than one spec file" in arena("run-tournament", "x.toml", "y.toml", "--dry-run").err
    assert "bot's manifest" in arena("run-tournament", "bot.toml", "--dry-run").err
