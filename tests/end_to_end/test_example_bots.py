"""The example bots, each seated as the SDK seats it, but in this process."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from random import Random

import pytest

from arena_engine.game import Outcome
from arena_engine.patchwork import Move, State
from arena_sdk import Bot, Clock
from arena_server.launching import bots

FOLDER = Path(__file__).parents[2] / "example_bots"
QUICK = {"random": "", "greedy": "", "planner": "", "mcts": ":playouts=10"}
"""Every example bot, with options that make its games short and the same each time."""
CIRCLE = "UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA"


def seated(name: str, seat: str, seed: int) -> Bot:
    bot = bots.resolve(f"{FOLDER / name}{QUICK[name]}")
    spec = importlib.util.spec_from_file_location(f"example_{name}", bot.folder / "bot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (made,) = (kind for kind in vars(module).values() if isinstance(kind, type) and kind.__base__ is Bot)
    player = made()
    assert isinstance(player, Bot)
    player.seat, player.seed, player.random = seat, seed, Random(seed)
    player.options = dict(bot.options)
    player.on_start()
    return player


def play(a: str, b: str, circle: str = CIRCLE, edition: str = "original", seed: int = 1) -> tuple[list[Move], Outcome]:
    """A whole game; ``State.after`` refuses what is illegal."""
    players = {"a": seated(a, "a", seed), "b": seated(b, "b", seed + 1)}
    state, moves = State.new(circle, edition), []
    while not state.is_over:
        moves.append(players[state.seat_to_move].choose(state, Clock(60.0)))
        state = state.after(moves[-1])
    return moves, state.outcome


def share(bot: str, against: str, pairs: int) -> float:
    """How many of the games on seeded deals, each played from both seats, the first bot wins."""
    deals = [State.new(random=Random(number)).circle for number in range(pairs)]
    as_a = [play(bot, against, circle, seed=number)[1].ranks[0] == 1 for number, circle in enumerate(deals)]
    as_b = [play(against, bot, circle, seed=number)[1].ranks[1] == 1 for number, circle in enumerate(deals)]
    return (sum(as_a) + sum(as_b)) / (2 * pairs)


def test_these_are_all_example_bots() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/bot.toml")} == set(QUICK)


@pytest.mark.parametrize("name", QUICK)
def test_a_folder_is_named_as_its_bot(name: str) -> None:
    assert bots.resolve(str(FOLDER / name)).manifest.name == name


@pytest.mark.parametrize("edition", ["original", "revised"])
@pytest.mark.parametrize("name", QUICK)
def test_plays_a_whole_game_from_both_seats(name: str, edition: str) -> None:
    _, outcome = play(name, name, edition=edition)
    assert sorted(outcome.ranks) == [1, 2]


@pytest.mark.parametrize("name", QUICK)
def test_plays_the_same_again_from_the_same_seed(name: str) -> None:
    assert play(name, "random") == play(name, "random")


def test_random_plays_otherwise_from_another_seed() -> None:
    assert play("random", "random", seed=1) != play("random", "random", seed=2)


@pytest.mark.parametrize("limit", [0.05, 0.2])
def test_mcts_thinks_for_as_long_as_its_clock_advises(limit: float) -> None:
    bot = seated("mcts", "a", 1)
    bot.options = {**bot.options, "playouts": 0}
    bot.on_start()
    clock = Clock(60.0, budget=limit)
    bot.choose(State.new(CIRCLE), clock)
    assert clock.budget == 0
    assert 60.0 - clock.left < 5 * limit + 0.5


def test_mcts_has_a_move_even_without_time() -> None:
    state = State.new(CIRCLE)
    assert state.is_legal(seated("mcts", "a", 1).choose(state, Clock(0.0)))


def test_greedy_beats_random() -> None:
    assert share("greedy", "random", pairs=5) >= 0.8


def test_planner_beats_greedy() -> None:
    assert share("planner", "greedy", pairs=5) >= 0.6


def test_options_change_how_a_bot_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    careful = play("planner", "greedy")
    monkeypatch.setitem(QUICK, "planner", ":depth=1,space_worth=0")
    assert play("planner", "greedy") != careful
