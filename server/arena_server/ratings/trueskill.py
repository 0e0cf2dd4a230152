"""TrueSkill with tau 0: strengths do not drift within a tournament, so the order of games matters least."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any

from arena_server.model import UserError

MU = 25.0
SIGMA = MU / 3
BETA = SIGMA / 2
_HALVINGS = 64
_FAILED = (ArithmeticError, ValueError)  # "cannot calculate correctly", or a root of a negative number


@dataclass(frozen=True, slots=True)
class Rating:
    """A strength: a normal distribution."""

    mu: float
    sigma: float

    @property
    def conservative(self) -> float:
        """What it is worth at least, almost surely: mu - 3 sigma."""
        return conservative(self.mu, self.sigma)


def conservative(mu: float, sigma: float) -> float:
    """What boards are sorted by."""
    return mu - 3 * sigma


INITIAL = Rating(MU, SIGMA)


@dataclass(frozen=True, slots=True)
class Update:
    """Ratings after a game, in seat order.

    Attributes:
        flagged: the calculation failed and a fallback was used.
    """

    ratings: tuple[Rating, ...]
    flagged: bool = False


def update(ratings: Sequence[Rating], ranks: Sequence[int], draw_probability: float) -> Update:
    """The ratings after one game between single players; never raises on finite ratings.

    Two cases are not left to the library:

    - Equal ranks where the draw probability is 0 (all failed at once in a game without draws) say nothing that the
      model could express: the ratings stay.
    - An upset over a huge gap makes the library fail. Then the gaps between the means are halved until it does not,
      and the changes computed there are applied: finite, in the right direction, and flagged.

    Args:
        ratings: before the game, in seat order.
        ranks: 1 is best, equal numbers are a draw.
        draw_probability: of the tournament, in [0, 1).
    """
    if not draw_probability and len(set(ranks)) < len(ranks):
        return Update(tuple(ratings))
    try:
        return Update(_rate(ratings, ranks, draw_probability))
    except _FAILED:
        return Update(_rate_closer(ratings, ranks, draw_probability), flagged=True)


def check_draw_probability(probability: float, *, may_draw: bool) -> None:
    """Raises UserError for a draw probability that the game or the model rules out."""
    if not 0 <= probability < 1:
        raise UserError("draw probability", probability, "give a number from 0 up to, not including, 1")
    if may_draw and probability == 0:
        raise UserError(
            "draw probability", probability, "this game may end in a draw: give the share you expect, as 0.1"
        )


def version(draw_probability: float) -> str:
    """Library and parameters: ratings of different versions are never mixed."""
    return f"trueskill {_library()} mu={MU!r} sigma={SIGMA!r} beta={BETA!r} tau=0 draw={draw_probability!r}"


@cache
def _library() -> str:
    return metadata.version("trueskill")


@cache
def _environment(draw_probability: float) -> Any:
    from trueskill import TrueSkill  # noqa: PLC0415 - readers of ratings need no library

    return TrueSkill(mu=MU, sigma=SIGMA, beta=BETA, tau=0, draw_probability=draw_probability)


def _rate(ratings: Sequence[Rating], ranks: Sequence[int], draw_probability: float) -> tuple[Rating, ...]:
    environment = _environment(draw_probability)
    groups = [(environment.create_rating(rating.mu, rating.sigma),) for rating in ratings]
    rated = tuple(Rating(after.mu, after.sigma) for (after,) in environment.rate(groups, ranks=list(ranks)))
    if not all(math.isfinite(rating.mu) and math.isfinite(rating.sigma) and rating.sigma > 0 for rating in rated):
        raise FloatingPointError(rated)
    return rated


def _rate_closer(ratings: Sequence[Rating], ranks: Sequence[int], draw_probability: float) -> tuple[Rating, ...]:
    middle = math.fsum(rating.mu for rating in ratings) / len(ratings)
    for halvings in range(1, _HALVINGS):
        closer = [Rating(middle + (rating.mu - middle) / 2**halvings, rating.sigma) for rating in ratings]
        try:
            rated = _rate(closer, ranks, draw_probability)
        except _FAILED:
            continue
        return tuple(
            Rating(before.mu + after.mu - near.mu, after.sigma)
            for before, near, after in zip(ratings, closer, rated, strict=True)
        )
    return tuple(ratings)
