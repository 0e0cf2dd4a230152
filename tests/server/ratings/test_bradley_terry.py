"""Strengths, seats and their intervals."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_results import Setting, anchored_coverage, chance, coverage

from arena_server.ratings.bradley_terry import ELO, Fit, fit
from arena_server.ratings.estimates import Estimate
from arena_server.ratings.pairs import Comparison, Pair
from arena_server.ratings.ranks import rank_ranges

COMPARISONS = st.builds(
    lambda two, seats, score: Comparison(two[0], seats[0], two[1], seats[1], score),
    st.permutations(range(4)),
    st.permutations(range(3)),
    st.sampled_from([0.0, 0.5, 1.0]),
)
PAIRS = st.lists(st.lists(COMPARISONS, min_size=1, max_size=6), max_size=30)

ANCHORED = st.integers(-5000, 5000).map(float)


def deal(first: float, second: float, one: int = 0, other: int = 1) -> Pair:
    """Two games over one deal, the one first in seat a; its score in each."""
    return Comparison(one, 0, other, 1, first), Comparison(other, 0, one, 1, 1 - second)


def strength(found: Fit, place: int) -> Estimate:
    estimate = found.strengths()[place]
    assert estimate is not None
    return estimate


def test_three_wins_to_one_are_191_elo() -> None:
    found = fit([deal(1, 1), deal(1, 0), deal(0, 1), deal(1, 1)] * 500, 2, 2)
    assert found.difference(0, 1).value == pytest.approx(400 * math.log10(3), abs=0.5)
    assert found.seat(0).value == pytest.approx(0, abs=0.01)
    assert strength(found, 0).value == pytest.approx(found.difference(0, 1).value / 2)
    assert found.difference(1, 0).value == -found.difference(0, 1).value


def test_the_seat_is_told_from_the_strength() -> None:
    """Seat a wins three of four; bot 0, equal to the other, sat there far more often."""
    often = [[Comparison(0, 0, 1, 1, float(number % 4 > 0))] for number in range(4000)]
    seldom = [[Comparison(1, 0, 0, 1, float(number % 4 > 0))] for number in range(400)]
    found = fit(often + seldom, 2, 2)
    assert found.difference(0, 1).value == pytest.approx(0, abs=1)
    assert found.seat(0).value == pytest.approx(400 * math.log10(3), abs=1)
    assert found.seat(1).value == pytest.approx(-found.seat(0).value)


def test_pairs_that_cancel_out_make_strengths_surer_and_seats_less_so() -> None:
    """The same games, once with deals that decide who wins, once with the results of a pair independent."""
    deals_decide = fit([deal(1, 0), deal(0, 1)] * 50, 2, 2)
    independent = fit([deal(1, 1), deal(0, 0), deal(1, 0), deal(0, 1)] * 25, 2, 2)
    assert deals_decide.difference(0, 1).error < independent.difference(0, 1).error / 3
    assert deals_decide.seat(0).error > independent.seat(0).error
    assert independent.scatter == pytest.approx((1, 1), abs=0.05)


def test_who_won_everything_is_finite_and_unsure() -> None:
    found = fit([deal(1, 1)] * 5, 2, 2)
    difference = found.difference(0, 1)
    assert 200 < difference.value < 800
    assert difference.error > 100
    assert 0.95 < difference.positive < 1


def test_one_pair_says_little() -> None:
    difference = fit([deal(1, 1)], 2, 2).difference(0, 1)
    assert difference.low < 0 < difference.high


def test_who_met_nobody_has_no_strength() -> None:
    found = fit([deal(1, 0, 0, 2)], 4, 2)
    assert [one is None for one in found.strengths()] == [False, True, False, True]
    assert set(rank_ranges(found, b"seed")) == {0, 2}


def test_nothing_played() -> None:
    found = fit([], 3, 2)
    assert found.strengths() == (None,) * 3
    assert rank_ranges(found, b"seed") == {}
    assert found.seat(0).value == 0


@settings(max_examples=60)
@given(PAIRS, st.randoms(use_true_random=False))
def test_it_is_the_maximum_and_no_order_changes_a_bit(pairs: list[Pair], dice: random.Random) -> None:
    found = fit(pairs, 4, 3)
    logits, seats = found.logits[:4], found.logits[4:]
    for place, logit in enumerate(logits):
        surprise = 0.5 - chance(logit)
        for met in (met for pair in pairs for met in pair):
            gap = logits[met.one] + seats[met.one_seat] - logits[met.other] - seats[met.other_seat]
            surprise += ((place == met.one) - (place == met.other)) * (met.score - chance(gap))
        assert surprise == pytest.approx(0, abs=1e-6)
    shuffled = list(pairs)
    dice.shuffle(shuffled)
    assert fit(shuffled, 4, 3).logits == found.logits
    assert all(one.error > 0 for one in found.strengths() if one)


def test_ranks_are_sure_where_strengths_are() -> None:
    sure = [deal(1, 1, one, other) for one in range(3) for other in range(one + 1, 3)] * 40
    assert rank_ranges(fit(sure, 3, 2), b"seed") == {0: (1, 1), 1: (2, 2), 2: (3, 3)}
    level = [
        deal(first, second, one, other)
        for one, other in ((0, 1), (1, 2), (2, 0))
        for first, second in ((1, 0), (1, 1), (0, 0))
    ]
    assert rank_ranges(fit(level, 3, 2), b"seed") == {0: (1, 3), 1: (1, 3), 2: (1, 3)}


def test_ranks_depend_on_the_seed_alone() -> None:
    setting = Setting(bots=12, pairs=3)
    dice = random.Random(5)
    found = fit(setting.play(setting.strengths(dice), dice), 12, 2)
    assert rank_ranges(found, b"one") == rank_ranges(found, b"one")
    ranges = [rank_ranges(found, bytes([number])) for number in range(4)]
    assert all(best <= worst for each in ranges for best, worst in each.values())
    assert max(abs(ranges[0][place][0] - ranges[1][place][0]) for place in range(12)) <= 1


@settings(max_examples=60)
@given(PAIRS, st.integers(0, 3), ANCHORED)
def test_one_anchor_moves_the_scale_and_nothing_else(pairs: list[Pair], anchor: int, value: float) -> None:
    """In closed form: the value, and the difference to the anchor on it, with its error."""
    plain, anchored = fit(pairs, 4, 3), fit(pairs, 4, 3, {anchor: value})
    assert (anchored.logits, anchored.covariance) == (plain.logits, plain.covariance)
    assert (anchored.columns, anchored.scatter) == (plain.columns, plain.scatter)  # and so the possible ranks
    for place, estimate in enumerate(anchored.strengths()):
        assert (estimate is None) == (plain.strengths()[place] is None)
        if estimate is not None and place != anchor:
            over = plain.difference(place, anchor)
            assert estimate.value == pytest.approx(value + over.value)
            assert estimate.error == pytest.approx(over.error)
        elif estimate is not None:
            assert estimate == Estimate(value, 0.0)


@settings(max_examples=60)
@given(PAIRS, st.dictionaries(st.integers(0, 3), ANCHORED, min_size=2))
def test_several_anchors_stay_and_the_others_are_likeliest(pairs: list[Pair], anchors: dict[int, float]) -> None:
    found = fit(pairs, 4, 3, anchors)
    logits, seats = found.logits[:4], found.logits[4:]
    surprises = [0.5 - chance(logit) for logit in logits]
    for met in (met for pair in pairs for met in pair):
        gap = logits[met.one] + seats[met.one_seat] - logits[met.other] - seats[met.other_seat]
        surprises[met.one] += met.score - chance(gap)
        surprises[met.other] -= met.score - chance(gap)
    free = [surprises[place] for place in range(4) if place not in anchors]
    together = math.fsum(surprises[place] for place in anchors)  # as one they stand where the games say
    assert [*free, together] == pytest.approx([0] * (len(free) + 1), abs=1e-6)
    for place, estimate in enumerate(found.strengths()):
        if estimate is not None and place in anchors:
            assert estimate == Estimate(anchors[place], 0.0)
        elif estimate is not None:
            assert estimate.error > 0
    first, second, *_ = anchors
    difference = found.difference(first, second)
    assert difference.error == 0
    assert difference.value == pytest.approx(anchors[first] - anchors[second], abs=1e-6)
    assert difference.positive == (anchors[first] > anchors[second]) + (anchors[first] == anchors[second]) / 2


@pytest.mark.parametrize("anchors", [1, 2, 3])
def test_anchored_intervals_hold_the_truth(anchors: int) -> None:
    assert 0.93 <= anchored_coverage(Setting(bots=6, pairs=6), 100, anchors, seed=1) <= 0.98


@pytest.mark.parametrize("setting", [Setting(bots=4, pairs=5), Setting(bots=3, pairs=20, deals=0.6)])
def test_intervals_hold_the_truth(setting: Setting) -> None:
    """A small sample of what ``benchmarks/intervals.py`` measures."""
    seen = coverage(setting, 100, seed=1)
    assert 0.92 <= seen.strengths <= 0.98
    assert 0.90 <= seen.differences <= 0.99
    assert 0.90 <= seen.seats <= 0.99
    assert seen.ranks >= 0.94


def test_an_interval_is_of_95_percent() -> None:
    estimate = Estimate(10, 5)
    assert (estimate.low, estimate.high) == pytest.approx((0.2, 19.8), abs=0.01)
    assert estimate.positive == pytest.approx(0.977, abs=0.001)
    assert pytest.approx(173.7, abs=0.1) == ELO
