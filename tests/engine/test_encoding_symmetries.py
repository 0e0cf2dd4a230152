"""Turning a quilt changes nothing that the rules ask about."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patchwork_games import positions

from arena_engine.patchwork import GameError, State
from arena_engine.patchwork.encoding import ACTIONS, action_id, action_move, legal_actions
from arena_engine.patchwork.symmetries import IDENTITY, SYMMETRIES, cells, inverse, permutation, turned

symmetries = st.sampled_from(SYMMETRIES)


@settings(max_examples=60)
@given(positions(), symmetries, st.randoms(use_true_random=False))
def test_the_mover_s_symmetries_commute_with_the_rules(state: State, symmetry: int, source: Random) -> None:
    if state.is_over:
        return
    seat = state.seat_to_move
    other_way, going = turned(state, seat, symmetry), permutation(state.offered, symmetry)
    ids = [action_id(state, move) for move in state.legal_moves()]
    assert sum(1 << going[action] for action in ids) == legal_actions(other_way)
    action = source.choice(ids)
    after = state.after(action_move(state, action))
    assert other_way.after(action_move(other_way, going[action])) == turned(after, seat, symmetry)


@settings(max_examples=30)
@given(positions(), symmetries)
def test_the_other_s_symmetries_change_no_move(state: State, symmetry: int) -> None:
    other = "b" if state.to_move == ("a",) else "a"
    other_way = turned(state, other, symmetry)
    assert other_way.legal_moves() == state.legal_moves()
    assert other_way.scores() == state.scores()
    assert State.from_text(other_way.text) == other_way


@given(symmetries, st.permutations("UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA"))
def test_permutations_are_permutations_and_undone(symmetry: int, circle: list[str]) -> None:
    offered = "".join(circle[:3])
    there, back = permutation(offered, symmetry), permutation(offered, inverse(symmetry))
    assert [back[action] for action in there] == list(range(ACTIONS))
    assert permutation(offered, IDENTITY) == tuple(range(ACTIONS))


@given(symmetries, symmetries)
def test_they_are_a_group(first: int, second: int) -> None:
    both = tuple(cells(second)[cell] for cell in cells(first))
    together = next(symmetry for symmetry in SYMMETRIES if cells(symmetry) == both)
    one, two = permutation("KDe", first), permutation("KDe", second)
    assert tuple(two[action] for action in one) == permutation("KDe", together)


def test_they_are_numbered_as_orientations() -> None:
    assert [cells(symmetry)[0] for symmetry in SYMMETRIES] == [0, 8, 80, 72, 8, 80, 72, 0]


def test_what_is_unknown_is_refused() -> None:
    state = State.new("UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA")
    for refused in (lambda: permutation("UDe", 8), lambda: turned(state, "a", -1), lambda: cells(True + 8)):
        with pytest.raises(GameError, match="symmetries are 0 to 7"):
            refused()
    with pytest.raises(GameError, match="no such seat"):
        turned(state, "c", 1)
    with pytest.raises(GameError, match="no such patch"):
        permutation("U?", 1)
