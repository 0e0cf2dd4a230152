"""How doubtful an order is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.formats.doubt import doubt


@dataclass(frozen=True)
class Bare:
    """A number that knows only what IEEE 754 rounds alike everywhere: no function of a library takes it."""

    value: float

    def __add__(self, other: Bare | float) -> Bare:
        return Bare(self.value + bare(other))

    def __sub__(self, other: Bare | float) -> Bare:
        return Bare(self.value - bare(other))

    def __mul__(self, other: Bare | float) -> Bare:
        return Bare(self.value * bare(other))

    def __truediv__(self, other: Bare | float) -> Bare:
        return Bare(self.value / bare(other))

    def __rtruediv__(self, other: float) -> Bare:
        return Bare(other / self.value)

    def __lt__(self, other: float) -> bool:
        return self.value < other

    __radd__, __rmul__ = __add__, __mul__


def bare(number: Bare | float) -> float:
    return number.value if isinstance(number, Bare) else number


@given(st.floats(0, 200))
def test_it_is_the_same_on_every_machine(gap: float) -> None:
    computed: Any = doubt(cast("Any", Bare(gap)))
    assert bare(computed) == doubt(gap)


@given(st.floats(0, 10), st.floats(0, 10))
def test_it_is_the_error_function_and_never_grows(one: float, other: float) -> None:
    assert doubt(one) == pytest.approx(math.erfc(one), rel=2e-7, abs=0)
    assert doubt(max(one, other)) <= doubt(min(one, other))


def test_what_is_sure_leaves_no_doubt() -> None:
    assert doubt(0) == pytest.approx(1)
    assert doubt(30) == doubt(1e200) == 0
