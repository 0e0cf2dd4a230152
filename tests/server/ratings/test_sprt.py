"""The sequential test, against published figures and by simulation."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_results import error_rate

from arena_server.model import UserError
from arena_server.ratings.pairs import Comparison
from arena_server.ratings.sprt import Sprt, Verdict, counts

COUNTS = st.lists(st.integers(0, 500), min_size=5, max_size=5)


@pytest.mark.parametrize(
    ("pairs", "test", "llr"),
    [
        # chess: four that fastchess's own tests hold, one that it printed after a match
        ((365, 16618, 36229, 16974, 390), Sprt(0, 2, normalised=True), 2.25),
        ((127, 4883, 10712, 5150, 104), Sprt(-1.75, 0.25, normalised=True), 3.01),
        ((223, 9863, 21279, 10037, 246), Sprt(0.5, 2.5), -3.07),
        ((871, 26175, 55983, 26678, 821), Sprt(0, 2), -4.98),
        ((0, 0, 2, 0, 37), Sprt(0, 20, normalised=True), 2.96),
    ],
)
def test_published_figures(pairs: tuple[int, ...], test: Sprt, llr: float) -> None:
    assert test.llr(pairs) == pytest.approx(llr, abs=0.01)


def test_all_won_by_hand() -> None:
    """Half of the pairs must be lost for no advantage; for a ratio t to the deviation 1/2 of that, t/2 fewer."""
    ratio = 5 * math.log(10) / 800 * math.sqrt(2)
    assert Sprt(0, 5, normalised=True).llr([0, 0, 0, 0, 104]) == pytest.approx(104 * math.log(1 + ratio), rel=0.01)


def test_bounds() -> None:
    assert Sprt().bounds == pytest.approx((-2.944, 2.944), abs=0.001)


def test_verdicts() -> None:
    test = Sprt(0, 50)
    assert test.verdict([0] * 5) is None
    assert test.verdict([10, 0, 20, 0, 12]) is None
    assert test.verdict([10, 0, 60, 0, 40]) is Verdict.BETTER
    assert test.verdict([60, 0, 80, 0, 40]) is Verdict.NOT_BETTER


def test_nothing_played_says_nothing() -> None:
    assert Sprt().llr([0] * 5) == 0


@settings(max_examples=100)
@given(COUNTS, st.booleans())
def test_turned_round_it_says_the_opposite(pairs: list[int], normalised: bool) -> None:  # noqa: FBT001 - drawn
    """Seen by the other bot, with the hypotheses turned round."""
    mine = Sprt(-5, 20, normalised=normalised).llr(pairs)
    others = Sprt(-20, 5, normalised=normalised).llr(pairs[::-1])
    assert math.isfinite(mine)
    assert mine == pytest.approx(-others, abs=1e-4)


def test_without_draws_and_dependence_it_is_the_plain_test() -> None:
    """Pairs as independent games of 52 % give them: the ratio of two coins, near enough."""
    found = Sprt(0, 20).llr([576, 0, 1248, 0, 676])
    high = 1 / (1 + 10 ** (-20 / 400))
    assert found == pytest.approx(2600 * math.log(high / 0.5) + 2400 * math.log((1 - high) / 0.5), rel=0.01)


def test_counts_of_pairs() -> None:
    won = (Comparison(0, 0, 1, 1, 1.0), Comparison(1, 0, 0, 1, 0.0))
    level = (Comparison(0, 0, 1, 1, 1.0), Comparison(1, 0, 0, 1, 1.0))
    drawn_and_won = (Comparison(0, 0, 1, 1, 0.5), Comparison(1, 0, 0, 1, 0.0))
    assert counts([won, level, drawn_and_won, won[:1]], 0) == [0, 0, 1, 1, 1]
    assert counts([won, level, drawn_and_won], 1) == [1, 1, 1, 0, 0]


@pytest.mark.parametrize("test", [{"elo0": 5, "elo1": 5}, {"alpha": 0}, {"beta": 0.5}, {"alpha": math.nan}])
def test_a_test_that_cannot_be_is_refused(test: dict[str, float]) -> None:
    with pytest.raises(UserError):
        Sprt(**test)  # type: ignore[arg-type]


@pytest.mark.parametrize("deals", [0.0, 0.5])
def test_errors_are_as_rare_as_promised(deals: float) -> None:
    """A small sample of what ``benchmarks/intervals.py`` measures."""
    test = Sprt(0, 150)
    assert error_rate(test, test.elo0, deals, 100, seed=1) <= 0.1
    assert error_rate(test, test.elo1, deals, 100, seed=2) <= 0.1
