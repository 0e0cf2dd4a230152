"""Moves as values, and why they are refused."""

from __future__ import annotations

import doctest
import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patchwork_games import attempt, games, mutations, positions

import arena_engine.patchwork
from arena_engine.patchwork import (
    GameError,
    GameOverError,
    IllegalMoveError,
    Move,
    MoveSyntaxError,
    State,
)
from arena_engine.patchwork.quilt import squares

CIRCLE = "KIUDeZXEQbJWCGRaBScMOdgPfTYVNFHLA"
EMPTY = "9/9/9/9/9/9/9/9/9"
START = f"{CIRCLE} {EMPTY} 5,0 {EMPTY} 5,0 a - original"
LATER = f"{CIRCLE.replace('D', '')} D8/D8/D8/9/9/9/9/9/9 9,2 {EMPTY} 5,3 a - original"
LEATHER = f"{CIRCLE.replace('D', '')} D8/D8/D8/9/9/9/9/9/9 9,21 {EMPTY} 5,19 a* - original"


def test_the_package_s_example() -> None:
    assert doctest.testmod(arena_engine.patchwork).failed == 0


def test_what_a_move_says() -> None:
    move = Move.parse("K6c4")
    assert (move.kind, move.patch, move.orientation, move.square) == ("buy", "K", 6, "c4")
    assert (move.cost, move.time, move.income) == (2, 2, 0)
    assert squares(Move.parse("K0c4").cells) == ("d4", "c5", "d5", "d6")
    assert str(Move.parse("*e5")) == "*e5"
    assert squares(Move.parse("*e5").cells) == ("e5",)
    assert repr(Move.parse(">")) == "Move.parse('>')"


def test_a_move_is_its_text() -> None:
    for text in (">", "*a1", "K0c4", "K7i9", "I4a1"):
        move = Move.parse(text)
        assert pickle.loads(pickle.dumps(move)) is move
        assert Move.parse(text) is move
        assert {move: 1}[Move.parse(text)] == 1
    with pytest.raises(AttributeError):
        Move.parse(">").cost = 3  # type: ignore[misc]


NOTATION = re.compile(r"(>|[A-Za-g][0-7][a-i][1-9]|\*[a-i][1-9])")


@given(st.one_of(st.from_regex(NOTATION, fullmatch=True), mutations(st.sampled_from(["K6c4", "*e5", ">"]))))
def test_syntax_is_the_notation_s(text: str) -> None:
    if NOTATION.fullmatch(text):
        assert str(Move.parse(text)) == text
    else:
        with pytest.raises(MoveSyntaxError, match="advance") as caught:
            Move.parse(text)
        assert caught.value.value == text


@given(positions(), st.from_regex(NOTATION, fullmatch=True))
@settings(max_examples=200)
def test_any_move_is_legal_or_refused_with_the_reason(state: State, text: str) -> None:
    move = attempt(state.parse_move, text)
    if isinstance(move, GameOverError):
        assert state.is_over
    elif isinstance(move, IllegalMoveError):
        assert Move.parse(text) not in state.legal_moves()
        assert (move.value, move.position) == (text, state.text)
        assert len(move.why) > 10
        with pytest.raises(IllegalMoveError):
            state.after(Move.parse(text))
    else:
        assert move in state.legal_moves()
        assert state.after(move) == state.after_unchecked(move) == state.play({state.seat_to_move: move})


@given(games())
@settings(max_examples=20)
def test_every_legal_move_parses(game: tuple[tuple[tuple[State, Move], ...], State]) -> None:
    for state, _ in game[0][::7]:
        for move in state.legal_moves():
            assert state.parse_move(str(move), state.seat_to_move) is move


@pytest.mark.parametrize(
    ("position", "move", "why"),
    [
        (START, "I0a1", "patch I costs 6, seat a has 5 buttons"),
        (LATER, "I4b2", "orientation 4 of patch I looks the same as 0: write I0b2"),
        (LATER, "K0i1", "patch K in orientation 0 is 2 wide and 3 high: from i1 it would leave the quilt"),
        (LATER, "K2a1", "a1, a2, a3 are covered already"),
        (LATER, "K0a2", ": a3 is covered already"),
        (LATER, "D0b1", "patch D is on a quilt already; for sale: K, I, U"),
        (LATER, "e0b1", "patch e is not for sale; for sale: K, I, U"),
        (LATER, "*b1", "seat a has no leather to place now"),
        (LEATHER, ">", "seat a must place leather first"),
        (LEATHER, "K0b1", "seat a must place leather first"),
        (LEATHER, "*a1", "a1 is covered already"),
    ],
)
def test_the_reason_is_the_most_helpful_one(position: str, move: str, why: str) -> None:
    state = State.from_text(position)
    with pytest.raises(IllegalMoveError, match=why) as caught:
        state.parse_move(move)
    assert move in str(caught.value)
    assert position in str(caught.value)


def test_only_the_seat_to_move_moves() -> None:
    state = State.from_text(START)
    assert state.legal_moves("b") == []
    with pytest.raises(IllegalMoveError, match="seat a is to move, not b"):
        state.parse_move(">", "b")
    for moves in ({"b": Move.parse(">")}, {}, {"a": Move.parse(">"), "b": Move.parse(">")}):
        with pytest.raises(IllegalMoveError, match="seat a is to move, not"):
            state.play(moves)
    with pytest.raises(GameError, match="a or b"):
        state.legal_moves("z")
