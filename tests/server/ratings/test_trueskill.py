"""Updates of ratings, also where the library fails."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_server.model import UserError
from arena_server.ratings import INITIAL, Rating, check_draw_probability, update, version

RATINGS = st.builds(Rating, st.floats(-2000, 2000), st.floats(0.01, 20))


def test_it_is_the_librarys_own_update() -> None:
    environment = trueskill.TrueSkill(tau=0, draw_probability=0.1)
    won, lost = trueskill.rate_1vs1(environment.create_rating(), environment.create_rating(30, 2), env=environment)
    updated = update([INITIAL, Rating(30, 2)], [1, 2], 0.1)
    assert updated.ratings == (Rating(won.mu, won.sigma), Rating(lost.mu, lost.sigma))
    assert not updated.flagged


@pytest.mark.parametrize("sigma", [0.5, 0.8, 4.0, 25 / 3])
@pytest.mark.parametrize("gap", [230, 400, 500, 2000, 1e6])
def test_r19_an_upset_over_a_huge_gap_stays_finite(gap: float, sigma: float) -> None:
    favourite, outsider = Rating(25 + gap, sigma), Rating(25, sigma)
    updated = update([favourite, outsider], [2, 1], 0.0)
    lost, won = updated.ratings
    assert favourite.mu - gap / 2 < lost.mu < favourite.mu
    assert outsider.mu + gap / 2 > won.mu > outsider.mu
    assert 0 < lost.sigma < sigma
    assert 0 < won.sigma < sigma


def test_a_fallback_is_flagged() -> None:
    assert update([Rating(425, 1), Rating(25, 1)], [2, 1], 0.0).flagged
    assert not update([Rating(125, 1), Rating(25, 1)], [2, 1], 0.0).flagged


@settings(max_examples=200)
@given(st.lists(RATINGS, min_size=2, max_size=4), st.data(), st.sampled_from([0.0, 0.1, 0.5]))
def test_it_never_fails(ratings: list[Rating], data: st.DataObject, draw_probability: float) -> None:
    ranks = data.draw(st.lists(st.integers(1, 3), min_size=len(ratings), max_size=len(ratings)))
    updated = update(ratings, ranks, draw_probability)
    assert len(updated.ratings) == len(ratings)
    assert all(math.isfinite(one.mu) and math.isfinite(one.sigma) and one.sigma > 0 for one in updated.ratings)


def test_equal_ranks_without_draws_leave_the_ratings() -> None:
    ratings = (Rating(30, 5), Rating(20, 5))
    assert update(ratings, [1, 1], 0.0).ratings == ratings
    assert update(ratings, [1, 1], 0.1).ratings != ratings


@pytest.mark.parametrize(
    ("probability", "may_draw", "told"),
    [
        (-0.1, False, "from 0 up to"),
        (1.0, True, "from 0 up to"),
        (0.0, True, "may end in a draw"),
        (math.nan, True, "from 0 up to"),
    ],
)
def test_a_wrong_draw_probability_is_told(probability: float, *, may_draw: bool, told: str) -> None:
    with pytest.raises(UserError, match=told):
        check_draw_probability(probability, may_draw=may_draw)


def test_a_right_draw_probability_is_taken() -> None:
    check_draw_probability(0.0, may_draw=False)
    check_draw_probability(0.25, may_draw=True)


def test_the_version_names_library_and_parameters() -> None:
    assert version(0.1).startswith("trueskill 0.4.5 ")
    assert version(0.1) != version(0.2)


def test_no_other_numeric_library_is_loaded() -> None:
    code = (
        "import sys; from arena_server.ratings import INITIAL, update; assert 'trueskill' not in sys.modules;"
        "update([INITIAL] * 2, [1, 2], 0.0); print(sorted({'scipy', 'numpy', 'mpmath'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
