"""Patchwork as an environment for two learners."""

from __future__ import annotations

import random

import pytest
from requirements import require_module

from arena_engine.game import GameError, GameOverError, PositionError
from arena_engine.patchwork import State

np = require_module("numpy")
require_module("pettingzoo")
tests = require_module("pettingzoo.test")
adapter = require_module("arena_engine.adapters.pettingzoo")

# PettingZoo keeps a list of its own environments whose observations have masks, and warns of all others.
with_masks = [
    pytest.mark.filterwarnings(f"ignore:{text}:UserWarning")
    for text in (
        "Observation is not a NumPy array",
        "Observation space for each agent probably should be",
        "Action mask numpy array is all zeros",  # of the agent that is not to move
    )
]


def masked(test: object) -> object:
    for mark in with_masks:
        test = mark(test)
    return test


@masked
@pytest.mark.parametrize("edition", ["original", "revised"])
def test_pettingzoo_s_api_test(edition: str) -> None:
    tests.api_test(adapter.env(edition), num_cycles=100)


@masked
def test_pettingzoo_s_seed_test() -> None:
    tests.seed_test(adapter.env, num_cycles=60)


@masked
def test_pettingzoo_s_render_test(capsys: pytest.CaptureFixture[str]) -> None:
    tests.render_test(adapter.env)
    assert "for sale" in capsys.readouterr().out


@pytest.mark.parametrize("reward", ["win", "margin"])
def test_games_are_those_of_the_engine(reward: str) -> None:
    env = adapter.env(reward=reward)
    for seed in range(3):
        source = random.Random(seed)
        env.reset(seed=seed)
        gained = {}
        for agent in env.agent_iter():
            seen, gain, terminated, _, info = env.last()
            assert info == {}
            gained[agent] = gain
            legal = np.flatnonzero(seen["action_mask"])
            assert terminated == (len(legal) == 0)
            env.step(None if terminated else source.choice(legal))
        a, b = env.unwrapped.position.outcome.scores
        if reward == "margin":
            assert gained == {"player_0": a - b, "player_1": b - a}
        else:
            first = env.unwrapped.position.outcome.ranks[0] == 1
            assert gained == {"player_0": 1 if first else -1, "player_1": -1 if first else 1}


def test_agents_see_their_own_side() -> None:
    env = adapter.env()
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.observe("player_0")["action_mask"])[-1]))
    a, b = (env.observe(agent)["observation"][:162].reshape(2, 81) for agent in ("player_0", "player_1"))
    assert a[0].any()
    assert np.array_equal(a, b[::-1])


def test_an_illegal_action_loses_and_says_why() -> None:
    env = adapter.env(reward="margin")
    env.reset(seed=2)
    env.step(0)
    env.step(1)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": 162.0, "player_1": -162.0}
    assert "seat b has no leather to place now" in env.infos["player_1"]["illegal"]
    assert env.infos["player_0"] == {}
    env.step(None)
    env.step(None)
    assert env.agents == []


def test_bad_input_is_refused() -> None:
    for settings, why in (({"reward": "x"}, "reward is one of"), ({"render_mode": "x"}, "render_mode is one of")):
        with pytest.raises(GameError, match=why):
            adapter.env(**settings)
    with pytest.raises(GameError, match="unknown edition"):
        adapter.env("third")
    env = adapter.env()
    with pytest.raises(PositionError, match="of the revised edition"):
        env.reset(options={"position": State.new(edition="revised").text})
    finished = "9/9/9/9/9/9/9/9/9 58,53"
    with pytest.raises(GameOverError, match="the game is over"):
        env.reset(options={"position": f"UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA {finished} {finished} b - original"})
    env.reset()
    env.step(None)
    assert "an action id is a whole number" in env.infos["player_0"]["illegal"]
