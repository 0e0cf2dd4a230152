"""Predicted against observed results."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.model import Ending
from arena_server.ratings import INITIAL, Finished, Rating, update
from arena_server.ratings.calibration import calibration, expected_score
from arena_server.ratings.pairs import Meeting
from arena_server.ratings.trueskill import BETA

RATINGS = st.builds(Rating, st.floats(-50, 100), st.floats(0.1, 20))
STRONG, WEAK = Rating(30, 1), Rating(25, 1)


def won(first: bool, before: tuple[Rating, Rating] = (STRONG, WEAK), failure: Ending | None = None) -> Meeting:  # noqa: FBT001 - reads well
    ranks = (1, 2) if first else (2, 1)
    return Meeting(1, 1, (0, 1), before, Finished(ranks, (0, 0), (failure, failure)))


@given(RATINGS, RATINGS, st.floats(0, 0.9))
def test_expectations_of_both_sides_add_up(one: Rating, other: Rating, draws: float) -> None:
    assert expected_score(one, other, draws) + expected_score(other, one, draws) == pytest.approx(1)


def test_one_beta_above_is_76_percent() -> None:
    """Known to be sure: the gap of one beta is one deviation of the difference over the root of two."""
    assert expected_score(Rating(BETA, 0), Rating(0, 0), 0) == pytest.approx(0.7602, abs=1e-4)
    assert expected_score(INITIAL, INITIAL, 0.3) == 0.5


def test_rows() -> None:
    meetings = [won(first=True), won(first=True), won(first=False, before=(WEAK, STRONG)), won(first=False)]
    (row,) = calibration(meetings, 0)
    assert (row.low, row.high, row.count, row.observed) == (0.7, 0.8, 4, 0.75)
    assert row.predicted == expected_score(STRONG, WEAK, 0)
    assert row.interval == pytest.approx((0.301, 0.954), abs=0.001)


def test_even_chances_and_games_all_are_to_blame_for_predict_nothing() -> None:
    assert calibration([won(first=True, before=(INITIAL, INITIAL)), won(first=True, failure=Ending.CRASH)], 0) == []


def test_it_holds_where_the_model_does() -> None:
    """Bots drawn as TrueSkill supposes: what it predicts comes true."""
    dice = random.Random(3)
    meetings = []
    for _ in range(150):
        real = [dice.gauss(INITIAL.mu, INITIAL.sigma) for _ in range(2)]
        ratings: tuple[Rating, ...] = (INITIAL, INITIAL)
        for _ in range(10):
            first = dice.gauss(real[0], BETA) > dice.gauss(real[1], BETA)
            meetings.append(won(first, (ratings[0], ratings[1])))
            ratings = update(ratings, (1, 2) if first else (2, 1), 0).ratings
    rows = calibration(meetings, 0)
    assert len(rows) == 5
    assert all(abs(row.observed - row.predicted) < 4 * math.sqrt(0.25 / row.count) for row in rows)
