"""Masks and observations as numpy arrays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patchwork_games import positions
from requirements import require_module

np = require_module("numpy")

from arena_engine.patchwork import GameError, State  # noqa: E402 - numpy may be missing
from arena_engine.patchwork.arrays import (  # noqa: E402 - likewise
    legal_mask,
    observation,
    split,
    turn_actions,
    turn_observations,
)
from arena_engine.patchwork.encoding import ACTIONS, EncodingError, action_id  # noqa: E402 - likewise
from arena_engine.patchwork.observation import PARTS, SIZE, observe  # noqa: E402 - likewise
from arena_engine.patchwork.symmetries import turned  # noqa: E402 - likewise


@settings(max_examples=60)
@given(positions())
def test_masks_and_rows_are_the_pure_ones(state: State) -> None:
    mask = legal_mask(state)
    assert (mask.shape, mask.dtype) == ((ACTIONS,), np.bool_)
    assert np.flatnonzero(mask).tolist() == [action_id(state, move) for move in state.legal_moves()]
    row = observation(state)
    assert (row.shape, row.dtype, row.tobytes()) == ((SIZE,), np.uint8, observe(state))
    row[0] += 1  # it belongs to whoever asked
    assert mask.flags.writeable


@settings(max_examples=40)
@given(positions(), st.integers(0, 7))
def test_turned_arrays_are_those_of_the_turned_position(state: State, symmetry: int) -> None:
    if state.is_over:
        return
    other_way = turned(state, state.seat_to_move, symmetry)
    assert np.array_equal(turn_actions(legal_mask(state), state.offered, symmetry), legal_mask(other_way))
    assert np.array_equal(turn_observations(observation(state), symmetry), observation(other_way))


def test_rows_split_into_views_whatever_the_batch() -> None:
    rows = np.zeros((2, 4, SIZE), np.uint8)
    parts = split(rows)
    assert {name: part.shape for name, part in parts.items()} == {
        name: (2, 4, *part.shape) for name, part in PARTS.items()
    }
    parts["turn"][1, 3, 0] = 1
    assert rows[1, 3, PARTS["turn"].start] == 1


@pytest.mark.parametrize("wrong", [np.zeros(ACTIONS - 1), np.zeros(()), np.zeros((ACTIONS, 1)), [True] * ACTIONS])
def test_other_shapes_are_refused_with_the_shape(wrong: Any) -> None:
    with pytest.raises(EncodingError, match=r"have the shape \(\.\.\., 2026\)|are numpy arrays"):
        turn_actions(wrong, "UDe", 1)
    with pytest.raises(EncodingError, match=r"have the shape \(\.\.\., 583\)|are numpy arrays"):
        split(wrong)
    with pytest.raises(EncodingError, match=r"have the shape \(\.\.\., 583\)|are numpy arrays"):
        turn_observations(wrong, 1)


def test_unknown_symmetries_and_seats_are_refused() -> None:
    with pytest.raises(GameError, match="symmetries are 0 to 7"):
        turn_actions(np.zeros(ACTIONS), "UDe", 8)
    with pytest.raises(GameError, match="symmetries are 0 to 7"):
        turn_observations(np.zeros(SIZE), -1)
    with pytest.raises(GameError, match="no such seat"):
        observation(State.new(), "c")
