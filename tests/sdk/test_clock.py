import math
import time

from hypothesis import given
from hypothesis import strategies as st

from arena_sdk.clock import Clock, advice

seconds = st.floats(0.001, 10_000)


@given(left=seconds, bank=seconds, increment=st.floats(0, 100), moves=st.integers(0, 1000))
def test_the_advice_is_positive_and_leaves_time_for_the_way(
    left: float, bank: float, increment: float, moves: int
) -> None:
    left = min(left, bank)
    assert 0 < advice(left, bank, increment, moves) <= advice(left) < left
    assert advice(left) >= left / 2


def test_the_advice_for_a_limit() -> None:
    assert math.isclose(advice(0.1), 0.09)
    assert math.isclose(advice(2.0), 1.8)
    assert math.isclose(advice(0.01), 0.005)


@given(bank=st.floats(1, 1000), increment=st.floats(0, 10))
def test_a_bank_outlasts_a_long_game(bank: float, increment: float) -> None:
    left = bank
    for move in range(60):
        left += increment - advice(left, left, increment, move)
    assert left > 0
    assert left < bank / 2 + 2 * increment  # and is used, not hoarded


def test_a_clock_runs() -> None:
    clock = Clock(left=10, opponents={"b": 3.0})
    first = clock.left, clock.budget
    time.sleep(0.02)
    assert clock.left <= first[0] - 0.02
    assert clock.budget <= first[1] - 0.02
    assert clock.budget <= clock.left <= 10
    assert clock.opponents == {"b": 3.0}
    assert repr(clock).startswith("<Clock left=9.9")


def test_a_clock_never_goes_below_zero() -> None:
    clock = Clock(left=1, start=time.monotonic() - 5)
    assert (clock.left, clock.budget) == (0, 0)


def test_the_budget_never_exceeds_what_is_left() -> None:
    clock = Clock(left=1, budget=5)
    assert clock.budget <= 1


def test_an_untimed_clock_has_a_finite_budget() -> None:
    clock = Clock()
    assert clock.left == clock.deadline == math.inf
    assert 0 < clock.budget <= 1
