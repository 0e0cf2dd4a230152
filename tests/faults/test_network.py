"""Bots behind a bad network (F8, F10, F11, R5): it costs nobody a game that their own time allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chaos import Chaos, Weather
from command import arena, bot, games

LAST = "return state.legal_moves()[-1]"

pytestmark = pytest.mark.timeout(300)  # much of it is silence, and the machine may be busy


def play(folder: Path, *bots: str, transport: str = "unix", time: str = "30s") -> list[dict[str, Any]]:
    options = ("--games", "2", "--seed", "s", "--time", time, "--concurrency", "2")
    done = arena("run-tournament", *bots, *options, cwd=folder, timeout=110, ARENA_TRANSPORT=transport)
    assert done.returncode == 0, done.stderr
    return games(folder)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The moves of the same games over a good connection."""
    home = tmp_path_factory.mktemp("undisturbed")
    return [record["moves"] for record in play(home, bot(home, "far"), bot(home, "near", LAST))]


def endings(records: list[dict[str, Any]]) -> list[str]:
    return [record["termination"] for record in records]


@pytest.mark.parametrize(("transport", "weather"), [("unix", Weather(rate=20_000)), ("tcp", Weather(0.005, 0.03))])
def test_a_slow_way_costs_no_game(tmp_path: Path, transport: str, weather: Weather) -> None:
    """A move and its way take 80 ms at most, or what a slow machine makes of it, where 1 s is allowed."""
    with Chaos(transport, lambda _: weather) as chaos:
        bots = [chaos.bot(tmp_path, "far"), bot(tmp_path, "near", LAST)]
        records = play(tmp_path, *bots, transport=transport, time="1s")
    assert endings(records) == ["normal"] * 2
    assert chaos.connections


@pytest.mark.parametrize(("transport", "how"), [("unix", "cut_after"), ("tcp", "reset_after")])
def test_r5_a_lost_connection_changes_no_move(tmp_path: Path, undisturbed: list[Any], transport: str, how: str) -> None:
    """Broken in the middle of messages, again and again: every move counts once, and the same game is played."""
    with Chaos(transport, lambda number: Weather(**{how: 900 + 131 * number})) as chaos:
        bots = [chaos.bot(tmp_path, "far"), bot(tmp_path, "near", LAST)]
        records = play(tmp_path, *bots, transport=transport)
    assert endings(records) == ["normal"] * 2
    assert chaos.connections > 4
    assert [record["moves"] for record in records] == undisturbed


def test_a_half_open_connection_is_noticed_and_replaced(tmp_path: Path) -> None:
    """The bot finds out by itself, comes back within its own time, and the same ply goes on."""
    with Chaos("tcp", lambda number: Weather(silent_after=1500) if number < 2 else Weather()) as chaos:
        bots = [chaos.bot(tmp_path, "far"), bot(tmp_path, "near", LAST)]
        records = play(tmp_path, *bots, transport="tcp", time="60s")
    assert endings(records) == ["normal"] * 2
    assert chaos.connections > 2
    assert 5 < max(max(record["times"]) for record in records) < 40


def test_a_half_open_connection_is_noticed_within_ten_seconds(tmp_path: Path) -> None:
    """Known to be lost before the limit of 11 s, else it would be a timeout; the bot never gets through again."""
    with Chaos("tcp", lambda number: Weather(silent_after=1500 if number < 2 else 0)) as chaos:
        bots = [chaos.bot(tmp_path, "far"), bot(tmp_path, "near", LAST)]
        records = play(tmp_path, *bots, transport="tcp", time="11s")
    assert endings(records) == ["disconnect"] * 2
    for record in records:
        assert record["seats"]["ab".index(record["blame"])]["bot"] == "far"


def test_a_half_open_connection_costs_the_limit_and_no_more(tmp_path: Path) -> None:
    with Chaos("tcp", lambda _: Weather(silent_after=1500)) as chaos:
        bots = [chaos.bot(tmp_path, "far"), bot(tmp_path, "near", LAST)]
        records = play(tmp_path, *bots, transport="tcp", time="1s")
    assert len(records) == 2
    for record in records:
        assert record["termination"] in ("timeout", "disconnect")
        assert record["seats"]["ab".index(record["blame"])]["bot"] == "far"
        assert record["failed"]["seconds"] < 5
