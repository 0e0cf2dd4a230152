"""The search toolkit: the same in both cores, stoppable, and pluggable."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import count
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patchwork_games import positions

from arena_engine.game import GameError, GameOverError, IllegalMoveError
from arena_engine.patchwork import Move, State
from arena_engine.patchwork.core import ENGINE
from arena_engine.patchwork.playout import POLICIES
from arena_engine.patchwork.tree import tidiest
from arena_engine.search import Search

CIRCLE = "UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA"
START = State.new(CIRCLE)


@given(positions(), st.integers(0, 2**32), st.integers(0, 3), st.sampled_from(POLICIES))
@settings(max_examples=15)
def test_both_cores_search_the_same(state: State, seed: int, width: int, policy: str) -> None:
    if state.is_over:
        return
    quick = Search(state, Random(seed), width=width, policy=policy)
    plain = Search(
        state,
        Random(seed),
        width=width,
        policy=policy,
        candidates=lambda state: tidiest(state, width) if width else state.legal_moves(),
    )
    for _ in range(3):
        move = quick.run(40)
        assert move is plain.run(40)
        assert quick.lines() == plain.lines()
        assert quick.visits == plain.visits == max(quick.visits, 40)
        quick.advance(move)
        plain.advance(move)
        if quick.state.is_over:
            break


def test_a_seed_and_a_number_of_playouts_give_one_search() -> None:
    lines = [Search(START, Random(seed)) for seed in (1, 1, 2)]
    for search in lines:
        search.run(300)
    assert lines[0].lines() == lines[1].lines() != lines[2].lines()


def test_it_keeps_what_it_knows_of_the_next_position() -> None:
    search = Search(START, Random(1))
    move = search.run(500)
    (known,) = (line.visits for line in search.lines() if line.move is move)
    search.advance(move)
    assert search.visits == known
    assert search.state == START.after(move)
    assert sum(line.visits for line in search.lines()) == known - 1
    search.advance(search.state.legal_moves()[-1])  # not among the tidiest
    assert search.visits == 0
    assert search.run(10) in search.state.legal_moves()


def test_it_stops_when_told() -> None:
    asked = count()
    search = Search(START, Random(1))
    search.run(stop=lambda: next(asked) == 4)
    assert 0 < search.visits <= 5 * 32
    search.run(1)
    with pytest.raises(GameError, match="a number of playouts, or stop"):
        search.run()
    with pytest.raises(GameError, match="at least 1"):
        search.run(0)


def test_it_does_not_grow_beyond_its_limit() -> None:
    for own in (None, lambda state: tidiest(state, 2)):
        search = Search(START, Random(1), nodes=20, candidates=own)
        search.run(200)
        assert search.visits == 200
        assert sum(line.visits for line in search.lines()) == 200


def test_what_it_refuses() -> None:
    last = START.playout(Random(1))
    for wrong in ({"width": 65}, {"width": -1}, {"policy": "clever"}, {"nodes": 0}):
        with pytest.raises(GameError):
            Search(START, Random(1), **wrong)
    with pytest.raises(GameOverError):
        Search(last, Random(1)).run(1)
    search = Search(START, Random(1))
    with pytest.raises(GameError, match="run"):
        search.best  # noqa: B018
    with pytest.raises(IllegalMoveError):
        search.advance(Move.parse("*e5"))


def test_an_evaluation_of_one_s_own() -> None:
    """Who values buttons buys nothing."""

    def buttons(state: State) -> float:
        return 0.5 + (state.buttons("a") - state.buttons("b")) / 200

    assert str(Search(START, Random(1), evaluate=buttons, candidates=lambda s: s.legal_moves()[::100]).run(100)) == ">"


def test_priors_of_one_s_own() -> None:
    def first(state: State, moves: Sequence[Move]) -> list[float]:  # noqa: ARG001 - what a search calls
        return [1.0, *[0.0] * (len(moves) - 1)]

    search = Search(START, Random(1), evaluate=lambda _: 0.5, priors=first)
    assert str(search.run(50)) == ">"
    assert [line.visits for line in search.lines()] == [50]
    search.advance(Move.parse(">"))
    assert search.visits == 50


@pytest.mark.skipif(ENGINE != "compiled", reason="Python's own lock is no promise")
def test_one_thread_at_a_time() -> None:
    search = Search(START, Random(1))
    errors: list[Exception] = []

    def grow() -> None:
        try:
            for _ in range(20):
                search.run(200)
        except RuntimeError as error:
            errors.append(error)

    threads = [threading.Thread(target=grow) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("another thread" in str(error) for error in errors)
    assert search.best in START.legal_moves()


@pytest.mark.parametrize("plies", [0, 1, 3, 8])
def test_it_moves_on_to_a_later_position(plies: int) -> None:
    search, state = Search(START, Random(1)), START
    search.run(2000)
    for _ in range(plies):
        line = max(search.lines(), key=lambda line: line.visits, default=None)
        state = state.after(line.move if line else state.legal_moves()[-1])
        search.move_to(state)
    kept = search.visits
    search.move_to(state)
    assert (search.state, search.visits) == (state, kept)
    twin = Search(START, Random(1))
    twin.run(2000)
    twin.move_to(state)
    assert twin.visits == kept
    search.move_to(START)
    assert (search.state, search.visits) == (START, 2000 if plies == 0 else 0)
