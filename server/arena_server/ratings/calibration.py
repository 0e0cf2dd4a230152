"""Do things happen as often as TrueSkill says? Predicted against observed results of the favourites."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from arena_server.ratings.estimates import STANDARD, wilson
from arena_server.ratings.pairs import Meeting, comparisons
from arena_server.ratings.trueskill import BETA, Rating

EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Bounds of the rows, as chances of the favourite."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The comparisons whose favourite was given a chance from ``low`` to ``high``.

    Attributes:
        count: how many they are.
        predicted: the favourites' mean expected score, a draw being half a win.
        observed: their mean score.
    """

    low: float
    high: float
    count: int
    predicted: float
    observed: float

    @property
    def interval(self) -> tuple[float, float]:
        """Of the observed score, 95 % (Wilson's)."""
        return wilson(self.observed, self.count)


def expected_score(one: Rating, other: Rating, draw_probability: float) -> float:
    """What TrueSkill expects of one against another before they meet: chance of a win and half that of a draw."""
    spread = math.sqrt(2 * BETA**2 + one.sigma**2 + other.sigma**2)
    margin = STANDARD.inv_cdf((1 + draw_probability) / 2) * math.sqrt(2) * BETA
    gap = one.mu - other.mu
    return (STANDARD.cdf((gap - margin) / spread) + STANDARD.cdf((gap + margin) / spread)) / 2


def calibration(meetings: Iterable[Meeting], draw_probability: float) -> list[Calibration]:
    """A row for each range of chances that occurred; where neither was the favourite nothing was predicted."""
    seen = [favourite for meeting in meetings for favourite in _favourites(meeting, draw_probability)]
    rows = []
    for low, high in pairwise(EDGES):
        inside = [one for one in seen if low < one[0] <= high]
        if inside:
            rows.append(Calibration(low, high, len(inside), _mean(inside, 0), _mean(inside, 1)))
    return rows


def _favourites(meeting: Meeting, draw_probability: float) -> Iterable[tuple[float, float]]:
    """Expected and real score of the favourite of each two seats."""
    for met in comparisons(meeting):
        chance = expected_score(meeting.before[met.one_seat], meeting.before[met.other_seat], draw_probability)
        if chance != 0.5:  # noqa: PLR2004 - exactly even, as before the first game
            yield (chance, met.score) if chance > 0.5 else (1 - chance, 1 - met.score)  # noqa: PLR2004 - likewise


def _mean(rows: Sequence[tuple[float, float]], column: int) -> float:
    return math.fsum(row[column] for row in rows) / len(rows)
