"""Many games at once: each is a game by the rules, and both cores play the same ones."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from requirements import require_module

require_module("numpy")

import numpy as np  # noqa: E402 - it may be missing
from numpy.typing import NDArray  # noqa: E402 - likewise

from arena_engine import vector  # noqa: E402 - likewise
from arena_engine.game import GameError, IllegalMoveError  # noqa: E402 - likewise
from arena_engine.patchwork import State  # noqa: E402 - likewise
from arena_engine.patchwork.core import ENGINE  # noqa: E402 - likewise
from arena_engine.patchwork.encoding import EncodingError  # noqa: E402 - likewise
from arena_engine.patchwork.observation import observe  # noqa: E402 - likewise
from arena_engine.vector import Games  # noqa: E402 - likewise


def observed(states: list[State]) -> NDArray[np.uint8]:
    return np.stack([np.frombuffer(observe(state), np.uint8) for state in states])


@pytest.mark.parametrize("edition", ["original", "revised"])
def test_they_are_games_by_the_rules(edition: str) -> None:
    games = Games(5, random=Random(2), edition=edition)
    games.reset()
    ended = 0
    for _ in range(80):
        before = [games.state(index) for index in range(len(games))]
        actions = games.random_actions()
        after = [state.after_action(int(action)) for state, action in zip(before, actions, strict=True)]
        step = games.step(actions)
        now = [games.state(index) for index in range(len(games))]
        assert step.done.tolist() == [state.is_over for state in after]
        for index, state in enumerate(after):
            won = {None: 0, "a": 1, "b": -1}[state.winner]
            assert step.rewards[index].tolist() == [won, -won]
            assert now[index] == state or (state.is_over and now[index].text.count("9/9/9/9/9/9/9/9/9") == 2)
        assert (step.observations == observed(now)).all()
        assert step.masks.tolist() == [[flag == 1 for flag in state.action_mask()] for state in now]
        assert [("a", "b")[mover] for mover in step.movers] == [state.seat_to_move for state in now]
        ended += int(step.done.sum())
    assert ended > 4


@pytest.mark.skipif(ENGINE != "compiled", reason="there is no compiled core to compare with")
@pytest.mark.parametrize("reward", vector.REWARDS)
@pytest.mark.parametrize("policy", ["uniform", "slot", "first_fit"])
def test_both_cores_play_the_same(reward: str, policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def play() -> list[Any]:
        games = Games(3, random=Random(1), edition="revised", reward=reward)
        seen: list[Any] = [array.copy() for array in games.reset()]
        for _ in range(70):
            seen += [array.copy() for array in games.step(games.random_actions(policy))]
        return seen

    compiled = play()
    monkeypatch.setattr(vector, "ENGINE", "pure")
    assert all((ours == theirs).all() for ours, theirs in zip(play(), compiled, strict=True))


def test_the_margin_as_reward() -> None:
    games = Games(4, random=Random(1), reward="margin")
    games.reset()
    for _ in range(200):
        before = [games.state(index) for index in range(4)]
        actions = games.random_actions("first_fit")
        step = games.step(actions)
        for index in np.flatnonzero(step.done):
            a, b = before[index].after_action(int(actions[index])).scores()
            assert step.rewards[index].tolist() == [a - b, b - a]
    assert step.rewards.dtype == np.float32


def test_an_illegal_action_moves_nothing() -> None:
    games = Games(3, random=Random(1))
    games.reset()
    before = [games.state(index) for index in range(3)]
    for action in (5, 2026, -1, 10**12):
        with pytest.raises(IllegalMoveError, match="in game 1: "):
            games.step(np.array([0, action, 0]))
    assert [games.state(index) for index in range(3)] == before


@pytest.mark.parametrize("actions", [[0, 0], [0.0, 0.0, 0.0], [[0, 0, 0]], ["0", "0", "0"], [True, True, True], 0])
def test_actions_of_the_wrong_shape_or_kind(actions: Any) -> None:
    games = Games(3, random=Random(1))
    with pytest.raises(EncodingError, match="3 integers"):
        games.step(np.array(actions))


def test_settings() -> None:
    for wrong in ({"n": 0}, {"n": 10**7}, {"n": 2, "edition": "first"}, {"n": 2, "reward": "points"}):
        with pytest.raises(GameError):
            Games(**wrong)
    games = Games(2)
    with pytest.raises(IndexError):
        games.state(2)
    with pytest.raises(GameError):
        games.random_actions("clever")
    assert games.reset()[0].any()
