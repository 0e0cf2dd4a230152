"""The compiled core plays as the pure one, move for move. With ARENA_DIFFERENTIAL_GAMES=20000 as long as you like."""

from __future__ import annotations

import json
import os
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patchwork_games import attempt, positions

from arena_engine.game import GameError
from arena_engine.patchwork import Move, State
from arena_engine.patchwork.core import ENGINE, PureKernel
from arena_engine.patchwork.encoding import ACTIONS, action_id
from arena_engine.patchwork.playout import POLICIES

pytestmark = pytest.mark.skipif(ENGINE != "compiled", reason="there is no compiled core to compare with")

GAMES = int(os.environ.get("ARENA_DIFFERENTIAL_GAMES", "60"))
SHARES = 4
GOLDEN = Path(__file__).parents[2] / "golden"


class Pure(PureKernel):
    """The reference, beside a ``State`` of the compiled core."""

    __slots__ = ()


def pure(state: State) -> Pure:
    return Pure(*state._fields)


def assert_same(state: State, twin: Pure) -> None:
    assert state._fields == twin._fields
    assert state.legal_moves() == twin.legal_moves()
    for view in (
        "to_move",
        "is_over",
        "winner",
        "circle",
        "offered",
        "edition",
        "leather_due",
        "bonus",
        "first_home",
        "text",
    ):
        assert getattr(state, view) == getattr(twin, view), view
    assert state.scores() == twin.scores()
    for seat in "ab":
        for view in ("player", "buttons", "time", "income", "quilt", "score", "legal_moves"):
            assert getattr(state, view)(seat) == getattr(twin, view)(seat), view


@pytest.mark.parametrize("share", range(SHARES))
def test_random_games(share: int) -> None:
    for number in range(share, GAMES, SHARES):
        source = random.Random(number)
        state = State.new(edition=("original", "revised")[number // SHARES % 2], random=source)
        twin = pure(state)
        while not state.is_over:
            assert_same(state, twin)
            move = state.random_move(source, source.choice(POLICIES))
            state, twin = state.after(move), twin.after(move)
        assert_same(state, twin)
        assert state.outcome == twin.outcome


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text("utf-8").splitlines()]


@pytest.mark.parametrize("kind", [State, Pure])
@pytest.mark.parametrize("game", lines("games.jsonl"), ids=lambda game: game.get("name", game["circle"][:8]))
def test_golden_games(kind: type[State], game: dict[str, Any]) -> None:
    state = kind.new(game["circle"], game["edition"])
    for ply in game["plies"]:
        assert len(state.legal_moves()) == ply["legal"]
        assert state.text == ply.get("position", state.text)
        state = state.play({ply["seat"]: state.parse_move(ply["move"], ply["seat"])})
    assert (state.text, list(state.outcome.scores)) == (game["position"], game["score"])
    assert (state.winner, state.bonus, state.first_home) == (game["winner"], game["bonus"], game["first_home"])


@pytest.mark.parametrize("line", lines("perft.jsonl"), ids=lambda line: line["position"][:8])
def test_golden_perft(line: dict[str, Any]) -> None:
    state = State.from_text(line["position"])
    assert [state.perft(depth) for depth in range(1, len(line["perft"]) + 1)] == line["perft"]
    assert pure(state).perft(1) == line["perft"][0]


@given(positions(), st.integers(0, 2**64 - 1), st.sampled_from(POLICIES))
@settings(max_examples=60)
def test_chance_is_the_same(state: State, seed: int, policy: str) -> None:
    twin = pure(state)
    last = state.playout(random.Random(seed), policy)
    assert last.is_over
    assert last._fields == twin.playout(random.Random(seed), policy)._fields
    assert state.playouts(3, random.Random(seed), policy) == twin.playouts(3, random.Random(seed), policy)
    if not state.is_over:
        move = state.random_move(random.Random(seed), policy)
        assert move is twin.random_move(random.Random(seed), policy)
        assert state.is_legal(move)


@given(positions())
@settings(max_examples=60)
def test_masks_hold_the_legal_ids(state: State) -> None:
    mask = state.action_mask()
    assert mask == pure(state).action_mask()
    moves = state.legal_moves()
    assert [index for index, flag in enumerate(mask) if flag] == [action_id(state, move) for move in moves]
    for move in moves[:: 1 + len(moves) // 20]:
        assert state.after_action(action_id(state, move)) == state.after(move)


@given(positions(), st.integers(-3, ACTIONS + 2) | st.integers() | st.just(None) | st.just("1"))
@settings(max_examples=200)
def test_ids_are_refused_alike(state: State, action: int) -> None:
    found, wanted = attempt(state.after_action, action), attempt(pure(state).after_action, action)
    if isinstance(wanted, GameError):
        assert type(found) is type(wanted)
        assert str(found) == str(wanted)
    else:
        assert found == wanted


NOTATION = st.from_regex(r"(>|[A-Za-g][0-7][a-i][1-9]|\*[a-i][1-9])", fullmatch=True)


@given(positions(), NOTATION)
@settings(max_examples=200)
def test_moves_are_refused_alike(state: State, text: str) -> None:
    move, twin = Move.parse(text), pure(state)
    assert state.is_legal(move) == twin.is_legal(move) == (move in state.legal_moves())
    found, wanted = attempt(state.after, move), attempt(twin.after, move)
    assert str(found) == str(wanted)


@given(positions())
@settings(max_examples=30)
def test_they_are_equal_and_either_reads_the_other_s_pickles(state: State) -> None:
    twin = pure(state)
    assert state == twin
    assert twin == state
    assert pickle.dumps(state._fields) == pickle.dumps(twin._fields)
    assert Pure(*pickle.loads(pickle.dumps(state))._fields) == twin
