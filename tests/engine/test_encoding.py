"""Action ids, legal ids as an integer, and observations: pure Python."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patchwork_games import positions

from arena_engine.patchwork import IllegalMoveError, Move, State
from arena_engine.patchwork.encoding import ACTIONS, action_id, action_move, legal_actions
from arena_engine.patchwork.observation import PARTS, SIZE, Part, observe
from arena_engine.patchwork.patches import LETTERS, PATCHES
from arena_engine.patchwork.player import Player
from arena_engine.patchwork.quilt import CELLS, SIDE

CIRCLE = "UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA"


@settings(max_examples=60)
@given(positions())
def test_ids_and_moves_are_the_same_thing(state: State) -> None:
    moves = state.legal_moves()
    ids = [action_id(state, move) for move in moves]
    assert [action_move(state, action) for action in ids] == moves
    assert ids == sorted(ids)
    assert sum(1 << action for action in ids) == legal_actions(state)


@pytest.mark.parametrize(
    ("text", "action"),
    [(">", 0), ("*a1", 1), ("*i9", 81), ("U0a1", 82), ("D0a1", 82 + 648), ("e7i9", ACTIONS - 1), ("D1b2", 821)],
)
def test_ids_are_those_of_the_notation(text: str, action: int) -> None:
    state = State.new(CIRCLE)
    assert action_id(state, Move.parse(text)) == action
    assert str(action_move(state, action)) == text


def test_every_id_of_a_full_market_is_a_move() -> None:
    state = State.new(CIRCLE)
    moves = [action_move(state, action) for action in range(ACTIONS)]
    assert [action_id(state, move) for move in moves] == list(range(ACTIONS))
    legal = [action for action, move in enumerate(moves) if state.is_legal(move)]
    assert sum(1 << action for action in legal) == legal_actions(state)


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (-1, "action ids are 0 to 2025"),
        (ACTIONS, "action ids are 0 to 2025"),
        (10**30, "action ids are 0 to 2025"),
        (1.0, "an action id is a whole number"),
        ("7", "an action id is a whole number"),
        (None, "an action id is a whole number"),
    ],
)
def test_what_is_no_id_is_refused_with_the_reason(action: Any, why: str) -> None:
    with pytest.raises(IllegalMoveError, match=why):
        action_move(State.new(CIRCLE), action)


def test_an_empty_slot_has_no_moves() -> None:
    late = State("UD", (Player(), Player()), mover=0, due=False, bonus=-1, edition="original")
    with pytest.raises(IllegalMoveError, match="slot 2 is empty, 2 patches are for sale"):
        action_move(late, ACTIONS - 1)
    with pytest.raises(IllegalMoveError, match="not for sale, so it has no action id"):
        action_id(late, Move.parse("K0a1"))
    assert part(observe(late), "offered")[2 * CELLS :] == [0] * CELLS
    assert part(observe(late), "circle")[10:] == [0] * 155


def part(row: bytes, name: str) -> list[int]:
    found: Part = PARTS[name]
    return list(row[found.start : found.start + found.size])


@settings(max_examples=60)
@given(positions(), st.sampled_from("ab"))
def test_an_observation_says_what_is_there(state: State, seat: str) -> None:
    row = observe(state, seat)
    other = "b" if seat == "a" else "a"
    assert len(row) == SIZE == 583
    assert part(row, "quilts") == [state.quilt(who) >> cell & 1 for who in (seat, other) for cell in range(CELLS)]
    numbers = part(row, "circle")[::5]
    assert "".join(LETTERS[number - 1] for number in numbers if number) == state.circle
    assert part(row, "players") == [
        value
        for who in (seat, other)
        for value in (
            state.buttons(who),
            state.time(who),
            state.income(who),
            state.player(who).empty,
            state.bonus == who,
        )
    ]
    assert part(row, "turn") == [seat in state.to_move, state.leather_due, state.edition == "revised"]


@given(positions())
def test_without_a_seat_the_mover_looks(state: State) -> None:
    last = "b" if state.first_home == "a" else "a"
    assert observe(state) == observe(state, state.to_move[0] if state.to_move else last)


def test_the_market_is_shown_as_printed() -> None:
    row = observe(State.new(CIRCLE))
    faces = part(row, "offered")
    for slot, letter in enumerate("UDe"):
        patch = PATCHES[letter]
        shown = faces[slot * CELLS : (slot + 1) * CELLS]
        printed = [line.replace("#", "1").replace(".", "0").ljust(SIDE, "0") for line in patch.orientations[0].rows]
        assert "".join(map(str, shown)) == "".join(printed).ljust(CELLS, "0")
        entry = [LETTERS.index(letter) + 1, patch.cost, patch.time, patch.income, sum(shown)]
        assert part(row, "circle")[slot * 5 : slot * 5 + 5] == entry


def test_riches_beyond_a_byte_are_shown_as_its_most() -> None:
    text = State.new(CIRCLE).text.replace("5,0", "999,0", 1)
    assert part(observe(State.from_text(text)), "players")[0] == 255


def test_the_engine_needs_no_numpy() -> None:
    modules = "arena_engine.patchwork, arena_engine.patchwork.encoding, arena_engine.patchwork.observation"
    code = f"import {modules}, arena_engine.patchwork.symmetries, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
