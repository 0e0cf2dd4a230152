"""Swiss plans."""

from __future__ import annotations

import random
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import Played, by_score, drawn, first_wins, play, spec

from arena_engine.game import Outcome
from arena_server.formats import Stage, places, plan, swiss
from arena_server.model import ArenaError, Pairing, UserError


@settings(max_examples=15)
@given(st.integers(2, 17), st.data(), st.integers(1, 2), st.randoms(use_true_random=False))
def test_nobody_meets_or_has_a_bye_twice(bots: int, data: st.DataObject, deals: int, dice: random.Random) -> None:
    rounds = data.draw(st.integers(1, swiss.most_rounds(bots)))
    played = play(spec(bots, 2 * deals, format="swiss", rounds=rounds), lambda _: by_score(dice.choices(range(3), k=2)))
    assert played.stages
    assert len(played.stages) <= rounds
    assert len(played.stages) == rounds or rounds > bots // 2  # so few rounds can always be paired
    met = Counter(pair for pairs in played.rounds for pair in pairs)
    assert set(met.values()) == {1}
    assert all(len(set().union(*pairs)) == 2 * len(pairs) == bots - bots % 2 for pairs in played.rounds)
    byes = Counter(frozenset(range(bots)).difference(*pairs) for pairs in played.rounds)
    assert bots % 2 == 0 or set(byes.values()) == {1}
    equal_seats(played)


def equal_seats(played: Played) -> None:
    sat = Counter((seat, entrant) for seats in played.seatings for seat, entrant in enumerate(seats))
    assert all(sat[0, entrant] == sat[1, entrant] for _, entrant in sat)


@settings(max_examples=15)
@given(st.integers(2, 9), st.randoms(use_true_random=False))
def test_it_ends_whatever_is_abandoned(bots: int, dice: random.Random) -> None:
    def rule(_: tuple[int, ...]) -> Outcome | None:
        return dice.choice([None, None, by_score(dice.choices(range(3), k=2))])

    played = play(spec(bots, 2, format="swiss", rounds=swiss.usual_rounds(bots)), rule)
    met = Counter(pair for stage in played.stages for pair in counted_pairs(stage))
    assert set(met.values()) <= {1}
    assert len(places(spec(bots, 2, format="swiss", rounds=1), played.stages) or ()) == bots


def counted_pairs(stage: Stage) -> list[frozenset[int]]:
    return [frozenset(meeting.entrants) for meeting in stage.meetings() if meeting.games]


def test_published_rounds() -> None:
    """Six players, the better seed always winning: two rounds as bbpPairings' collection of examples has them."""
    played = play(spec(6, 2, format="swiss", rounds=2), first_wins)
    white_black = [
        [tuple(number + 1 for number in meeting.entrants) for meeting in stage.meetings()] for stage in played.stages
    ]
    assert [set(pairs) for pairs in white_black] == [{(1, 4), (5, 2), (3, 6)}, {(2, 1), (4, 3), (6, 5)}]


def test_the_table_breaks_ties_by_buchholz_then_sonneborn_berger() -> None:
    of = spec(4, 2, format="swiss", rounds=3)
    table = places(of, play(of, first_wins).stages)
    assert table is not None
    assert [(place.rank, place.entrant, place.marks["points"]) for place in table] == [
        (1, 0, "3"),
        (2, 1, "2"),
        (3, 2, "1"),
        (4, 3, "0"),
    ]
    assert [place.marks["Buchholz"] for place in table] == ["3", "4", "5", "6"]
    assert [place.marks["S-B"] for place in table] == ["3", "1", "0", "0"]


def test_a_bye_is_a_win_against_an_equal() -> None:
    of = spec(3, 2, format="swiss", rounds=1)
    table = places(of, play(of, first_wins).stages)
    assert table is not None
    assert {place.entrant: dict(place.marks) for place in table} == {
        0: {"points": "1", "Buchholz": "0", "S-B": "0"},
        1: {"points": "0", "Buchholz": "1", "S-B": "0"},
        2: {"points": "1", "Buchholz": "1", "S-B": "1"},
    }


def test_two_bots_have_one_round() -> None:
    of = spec(2, 4, format="swiss", rounds=swiss.usual_rounds(2))
    assert play(of, drawn).stages[0].pairings == (Pairing((0, 1)), Pairing((1, 0)))
    assert len(play(of, drawn).stages) == 1


def test_two_hundred_bots_are_paired() -> None:
    pairings = plan(spec(200, 2, format="swiss", rounds=2), [])
    assert pairings is not None
    assert {pairing.entrants[0] % 100 - pairing.entrants[1] % 100 for pairing in pairings} == {0}  # half against half


def test_where_the_library_is_missing_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py4swiss.engines.common", None)
    with pytest.raises(ArenaError, match=r"pip install py4swiss=="):
        plan(spec(4, 2, format="swiss", rounds=2), [])


@pytest.mark.parametrize(("bots", "usual"), [(1, 1), (2, 1), (3, 2), (5, 3), (8, 4), (12, 6), (24, 7), (200, 10)])
def test_usual_rounds(bots: int, usual: int) -> None:
    assert swiss.usual_rounds(bots) == usual


@pytest.mark.parametrize(
    ("bots", "rounds", "seats", "told"),
    [
        (4, 4, 2, "number of rounds: 4 - 4 bots can play 1 to 3 without a repeat"),
        (5, 6, 2, "5 bots can play 1 to 5"),
        (4, 0, 2, "number of rounds: 0"),
        (4, None, 2, "number of rounds: none"),
        (4, 2, 3, "a format for games of two seats: swiss - patchwork has 3 seats: choose round-robin"),
        (1, 1, 2, "too few bots: 1"),
    ],
)
def test_what_cannot_be_played_is_told(bots: int, rounds: int | None, seats: int, told: str) -> None:
    with pytest.raises(UserError) as refused:
        plan(spec(bots, 2 * seats, seats, format="swiss", rounds=rounds), [])
    assert told in str(refused.value)
