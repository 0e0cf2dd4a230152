"""Suites: what is read, what is refused, and that screening tells good deals from bad ones."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_game import GAME as TINY

from arena_engine import suites
from arena_engine.game import DealError
from arena_engine.patchwork import GAME, State
from arena_engine.patchwork.core import ENGINE
from arena_engine.patchwork.deal import shuffled_circle

CIRCLE = shuffled_circle(Random(1))
OTHER = shuffled_circle(Random(2))


def read(text: str, edition: str = "original") -> tuple[dict[str, str], ...]:
    return suites.read(text, GAME, {"edition": edition}, 2)


def test_circles_and_positions_with_comments() -> None:
    state = State.new(OTHER, "revised")
    state = state.after(state.legal_moves()[0])
    found = read(f"# mine\n\n{CIRCLE}  # a 50%\n  {state.text}\n")
    assert found == ({"edition": "original", "circle": CIRCLE}, {"edition": "revised", "position": state.text})
    assert [GAME.start(deal, 2) for deal in found] == [State.new(CIRCLE), state]


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32), plies=st.integers(0, 30), edition=st.sampled_from(["original", "revised"]))
def test_what_is_written_is_read_back(seed: int, plies: int, edition: str) -> None:
    random = Random(seed)
    state = State.new(random=random, edition=edition)
    deals: list[Mapping[str, str]] = [{"edition": edition, "circle": state.circle}]
    for _ in range(plies):
        if not state.is_over:
            state = state.after(state.random_move(random))
    if not state.is_over:
        deals.append({"edition": edition, "position": state.text})
    text = "\n".join(GAME.deal_text(deal) for deal in deals)
    assert read(text, edition) == tuple(deals)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a suite without a deal"),
        ("# nothing\n\n", "a suite without a deal"),
        (CIRCLE[:-1], "line 1: a circle has each of the 33 patches once; A 0 times"),
        (f"{CIRCLE}\n{CIRCLE[::-1]}", "line 2: a circle starts clockwise of patch A, so A is last"),
        (f"{CIRCLE}\n{OTHER}\n\n{CIRCLE} # again", "line 4: the same deal as line 1"),
        (f"{CIRCLE} rubbish", "line 1: "),
    ],
)
def test_what_is_no_suite_is_told_with_its_line(text: str, why: str) -> None:
    with pytest.raises(DealError) as refused:
        read(text)
    assert refused.value.why.startswith(why)


def test_a_finished_game_is_nothing_to_begin_from() -> None:
    last = State.new(CIRCLE).playout(Random(3))
    with pytest.raises(DealError, match="line 1: the game is over in this position"):
        read(last.text)


@pytest.mark.parametrize(
    "deal",
    [
        {"edition": "revised", "position": State.new(CIRCLE).text},
        {"edition": "original", "position": "nonsense"},
        {"edition": "original", "position": State.new(CIRCLE).text, "circle": CIRCLE},
        {"position": State.new(CIRCLE).text},
    ],
)
def test_a_deal_that_contradicts_itself_is_refused(deal: dict[str, str]) -> None:
    with pytest.raises(DealError):
        GAME.start(deal, 2)


def test_any_game_has_suites() -> None:
    assert suites.read("abc\ncba", TINY, {}, 3) == ({"order": "abc"}, {"order": "cba"})
    with pytest.raises(DealError, match="line 2: an order"):
        suites.read("abc\nabb", TINY, {}, 3)


def test_a_game_that_does_not_play_itself_has_no_balance() -> None:
    with pytest.raises(DealError, match="does not play itself"):
        suites.candidate(TINY, {}, 3, suites.Screening(), "seed")


def test_a_candidate_follows_from_its_seed() -> None:
    screening = suites.Screening(games=8, window=0.5, effort=1)
    one, again, other = (
        suites.candidate(GAME, {"edition": "original"}, 2, screening, seed) for seed in ("1", "1", "2")
    )
    assert one == again != other
    assert one.shares is not None
    assert sum(one.shares) == pytest.approx(1)


def test_self_play_ends_and_is_reproducible() -> None:
    start = State.new(CIRCLE)
    last, again = (GAME.self_play(start, Random(7), 5) for _ in range(2))
    assert last.is_over
    assert last == again


@pytest.mark.skipif(ENGINE == "pure", reason="plays the same games, a hundred times slower")
def test_screening_keeps_what_is_balanced_and_gives_up_what_is_not() -> None:
    """What passes is more even in games of its own than what was given up."""
    screening = suites.Screening(games=48, window=0.06, effort=8)
    kept: list[Mapping[str, str]] = []
    given_up: list[Mapping[str, str]] = []
    for number in range(40):
        found = suites.candidate(GAME, {"edition": "original"}, 2, screening, f"kept {number}")
        (given_up if found.shares is None else kept).append(found.deal)
    assert len(kept) > 3
    assert len(given_up) > 10

    def unevenness(deals: list[Mapping[str, str]]) -> float:
        random = Random(11)
        shares = [
            sum(GAME.self_play(GAME.start(deal, 2), random, 8).outcome.ranks[0] == 1 for _ in range(48)) / 48
            for deal in deals[:10]
        ]
        return sum((share - 0.5) ** 2 for share in shares) / len(shares)

    assert unevenness(kept) < unevenness(given_up)
