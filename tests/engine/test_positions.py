"""Positions as values and as text."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given, settings
from patchwork_games import Played, attempt, games, mutations, played, positions

from arena_engine.patchwork import GAME, GameError, GameNotOverError, GameOverError, PositionError, State

CIRCLE = "UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA"
START = f"{CIRCLE} 9/9/9/9/9/9/9/9/9 5,0 9/9/9/9/9/9/9/9/9 5,0 a - original"
EMPTY = "9/9/9/9/9/9/9/9/9"
FINISHED = f"{CIRCLE} {EMPTY} 5,53 {EMPTY} 5,53 b - original"


@given(positions())
def test_text_gives_the_position_back(state: State) -> None:
    again = State.from_text(state.text)
    assert again == state
    assert again.text == state.text == str(state)
    assert hash(again) == hash(state)
    assert eval(repr(state)) == state


@given(positions())
@settings(max_examples=30)
def test_pickles_and_copies_are_equal(state: State) -> None:
    for again in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state), copy.copy(state)):
        assert again == state
        assert hash(again) == hash(state)
        assert again.legal_moves() == state.legal_moves()


@given(games())
@settings(max_examples=20)
def test_different_positions_differ(game: tuple[Played, State]) -> None:
    states = [*(state for state, _ in game[0]), game[1]]
    assert len(set(states)) == len(states) == len({state.text for state in states})


def test_positions_do_not_change() -> None:
    state = State.from_text(START)
    with pytest.raises(AttributeError):
        state.circle = "A"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        state.other = 1  # type: ignore[attr-defined]
    state.after(state.legal_moves()[-1])
    assert state.text == START
    assert state != START


@given(mutations(positions().map(lambda state: state.text)))
@settings(max_examples=300)
def test_a_changed_text_is_a_position_or_refused_with_the_reason(text: str) -> None:
    state = attempt(State.from_text, text)
    if isinstance(state, GameError):
        assert isinstance(state, PositionError)
        assert state.value == text
        assert len(state.why) > 10
    else:
        assert state.text == text
        state.legal_moves()


QUILT = "K8/KK7/K8/9/9/9/9/9/9"
WITH_K = f"{CIRCLE.replace('K', '')} {QUILT} 3,2 {EMPTY} 5,3 a - original"


def test_a_position_need_not_be_reachable() -> None:
    assert State.from_text(WITH_K).income("a") == 0


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("K8/KK7", "K8/1K7", "do not form that patch"),
        ("/K8/9", "/9/9", "do not form that patch"),
        ("/9/9 3", "/9 3", "the quilt of seat a has 8 rows"),
        ("/9/9 3", "/9/45 3", "splits a run"),
        ("/9/9 3", "/9/8 3", "has 8 cells, not 9"),
        ("/9/9 3", "/9/h8 3", "'h' in the quilt"),
        ("/9/9 3", "/9/*8 3", "leather pieces are taken"),
        ("3,2", "03,2", "buttons"),
        ("3,2", "3,54", "buttons"),
        ("3,2", "-1,2", "buttons"),
        (" a - ", " b - ", "ahead in time"),
        (" a - ", " a* - ", "owes no leather"),
        (" a - ", " c - ", "the mover is"),
        (" a - ", " a a ", "no full 7x7"),
        (" a - ", " a c ", "7x7 tile"),
        ("original", "first", "original or revised"),
        ("U", "", "patch U"),
        ("U", "D", "patch"),
        ("U", "UK", "patch K"),
        ("U", "Uh", "'h' in the circle"),
        (" a ", "  a ", "eight fields"),
    ],
)
def test_the_reason_names_the_fault(old: str, new: str, why: str) -> None:
    with pytest.raises(PositionError, match=why) as caught:
        GAME.state(WITH_K.replace(old, new, 1))
    assert caught.value.value != WITH_K


def test_a_full_window_needs_its_tile() -> None:
    lasts = (played(seed, "original", 2)[1] for seed in range(100))
    last = next(state for state in lasts if state.bonus is not None)
    circle_to_mover, _, edition = last.text.rsplit(" ", 2)
    with pytest.raises(PositionError, match="full 7x7"):
        State.from_text(f"{circle_to_mover} - {edition}")


def test_the_end() -> None:
    state = State.from_text(FINISHED)
    assert state.is_over
    assert state.to_move == ()
    assert state.legal_moves() == []
    assert (state.first_home, state.outcome.ranks, state.scores()) == ("a", (1, 2), (-157, -157))
    for ask in (lambda: state.seat_to_move, lambda: state.parse_move(">"), lambda: state.play({})):
        with pytest.raises(GameOverError, match="over"):
            ask()


def test_an_unfinished_game_has_no_outcome() -> None:
    state = State.from_text(START)
    assert state.first_home is None
    with pytest.raises(GameNotOverError, match="seat a is still to move"):
        state.outcome  # noqa: B018


def test_the_first_one_home() -> None:
    text = f"{CIRCLE} {EMPTY} 5,53 {EMPTY} 5,52 b - original"
    assert State.from_text(text).first_home == "a"


def test_there_are_two_seats() -> None:
    with pytest.raises(GameError, match="a or b"):
        State.from_text(START).buttons("c")
