"""A measured quantity and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

STANDARD = NormalDist()
Z95 = STANDARD.inv_cdf(0.975)
"""Standard errors to each side of a 95 % interval."""

_OUTSIDE = 0.025

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its standard error, both in the unit of the value."""

    value: float
    error: float

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return self.value - Z95 * self.error

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return self.value + Z95 * self.error

    @property
    def positive(self) -> float:
        """Probability that the true value is above 0; of a difference of strengths: the likelihood of superiority."""
        if not self.error:  # a value that was fixed
            return (1 + (self.value > 0) - (self.value < 0)) / 2
        return STANDARD.cdf(self.value / self.error)


def wilson(share: float, count: float) -> tuple[float, float]:
    """95 % interval of a share that was observed among so many (Wilson's)."""
    square = Z95**2 / count
    middle = (share + square / 2) / (1 + square)
    half = Z95 * math.sqrt((share * (1 - share) + square / 4) / count) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def middle95(values: Iterable[Number]) -> tuple[Number, Number]:
    """The least and the greatest of the middle 95 % of these values."""
    ordered = sorted(values)
    cut = int(_OUTSIDE * len(ordered))
    return ordered[cut], ordered[-1 - cut]
