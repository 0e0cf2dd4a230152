"""Bootstrap over pairs."""

from __future__ import annotations

import random

import pytest
from simulated_results import Setting

from arena_server.ratings.bradley_terry import fit
from arena_server.ratings.resampling import resampled


@pytest.mark.parametrize("deals", [0.0, 0.6])
def test_it_agrees_with_the_intervals_where_much_was_played(deals: float) -> None:
    setting, dice = Setting(bots=4, pairs=50, deals=deals), random.Random(2)
    pairs = setting.play(setting.strengths(dice), dice)
    found = fit(pairs, 4, 2)
    intervals = resampled(found, pairs, b"seed")
    assert len(intervals) == 4
    for place, (low, high) in intervals.items():
        estimate = found.strengths()[place]
        assert estimate is not None
        assert high - low == pytest.approx(estimate.high - estimate.low, rel=0.15)
        assert (low + high) / 2 == pytest.approx(estimate.value, abs=estimate.error / 4)


def test_the_seed_decides() -> None:
    setting, dice = Setting(bots=3, pairs=5), random.Random(2)
    pairs = setting.play(setting.strengths(dice), dice)
    found = fit(pairs, 3, 2)
    assert resampled(found, pairs, b"one") == resampled(found, pairs, b"one") != resampled(found, pairs, b"two")


def test_anchors_stay_where_they_are() -> None:
    setting, dice = Setting(bots=4, pairs=50), random.Random(2)
    found = fit(pairs := setting.play(setting.strengths(dice), dice), 4, 2, {0: 100.0, 1: 150.0})
    bounds = resampled(found, pairs, b"seed")
    assert (bounds[0], bounds[1]) == ((100, 100), (150, 150))
    for place in (2, 3):
        estimate = found.strengths()[place]
        assert estimate is not None
        assert bounds[place] == pytest.approx((estimate.low, estimate.high), abs=estimate.error / 2)
