"""Is one bot better than another? The sequential probability ratio test over pairs of games, two seats alone.

After each pair the generalised log likelihood ratio of two hypotheses is known: that the one is ``elo1`` better, and
that it is ``elo0`` better. Under each of them a pair's five scores (0, 1/2, 1, 3/2, 2) get the likeliest chances that
agree with it, so that draws, and games of a pair that depend on each other, need no model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import mul

from arena_server.model import UserError
from arena_server.ratings.bradley_terry import ELO
from arena_server.ratings.estimates import Estimate
from arena_server.ratings.pairs import Pair

SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""What a pair's score may be, as a share of both games."""
_GAMES = 2
_NEVER_SEEN = 1e-3  # of a pair: what did not happen yet may happen
_ROUNDS = 100
_FARTHEST = (800, 150)  # Elo, normalised Elo
_EXACT = 1e-9


class Verdict(StrEnum):
    """What a finished test says."""

    BETTER = "better"  # elo1 is accepted
    NOT_BETTER = "not better"  # elo0 is accepted


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test.

    Attributes:
        elo0: the lower hypothesis, how much better the one is.
        elo1: the higher one.
        alpha: chance of accepting elo1 where elo0 is true.
        beta: chance of accepting elo0 where elo1 is true.
        normalised: whether Elo is normalised: 800/ln 10 times the mean over the deviation of a game's score, so that
            a test takes about as long whatever the share of draws.
    """

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05
    normalised: bool = False

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise UserError("hypotheses", f"elo0 {self.elo0:g}, elo1 {self.elo1:g}", "elo1 must be above elo0")
        most = _FARTHEST[self.normalised]
        if not -most <= self.elo0 < self.elo1 <= most:
            raise UserError("hypotheses", f"elo0 {self.elo0:g}, elo1 {self.elo1:g}", f"stay between -{most} and {most}")
        for name, chance in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < chance < 0.5:  # noqa: PLR2004 - a coin
                raise UserError(f"{name}, the chance of an error", chance, "give one between 0 and 0.5, as 0.05")

    @property
    def bounds(self) -> tuple[float, float]:
        """The ratios at which the test ends: elo0 is accepted at the first, elo1 at the second."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Sequence[int]) -> float:
        """The log likelihood ratio after so many pairs of each of ``SCORES``."""
        if not any(counts):
            return 0.0
        seen = [count or _NEVER_SEEN for count in counts]
        shares = [count / sum(seen) for count in seen]
        lower, higher = (self._likeliest(shares, elo) for elo in (self.elo0, self.elo1))
        return math.fsum(count * math.log(one / zero) for count, zero, one in zip(seen, lower, higher, strict=True))

    def verdict(self, counts: Sequence[int]) -> Verdict | None:
        """What is decided; None while nothing is."""
        llr, (lower, upper) = self.llr(counts), self.bounds
        if lower < llr < upper:
            return None
        return Verdict.BETTER if llr >= upper else Verdict.NOT_BETTER

    def _likeliest(self, shares: Sequence[float], elo: float) -> list[float]:
        if self.normalised:
            return _with_ratio(shares, elo / (2 * ELO) * math.sqrt(_GAMES))
        mean = 1 / (1 + math.exp(-elo / ELO))
        return _with_mean_0(shares, [score - mean for score in SCORES])


def counts(pairs: Iterable[Pair], one: int) -> list[int]:
    """How many pairs gave this entrant each of ``SCORES``; a pair is left out unless both of its games compare two."""
    found = [0] * len(SCORES)
    for pair in pairs:
        if len(pair) == _GAMES:
            total = sum(met.score if met.one == one else 1 - met.score for met in pair)
            found[round(_GAMES * total)] += 1
    return found


def elo(counts: Sequence[int]) -> Estimate:
    """How much better the one is, in Elo, after so many pairs of each of ``SCORES``.

    Half a pair won twice and half a pair lost twice are imagined: so it is finite, and its error never 0. Where a test
    has stopped it says a little too much: that is when a lead is large.
    """
    seen = [counts[0] + 0.5, *counts[1:-1], counts[-1] + 0.5]
    number = sum(seen)
    mean = sum(map(mul, seen, SCORES)) / number
    variance = sum(count * (score - mean) ** 2 for count, score in zip(seen, SCORES, strict=True)) / number
    steepness = ELO / (mean * (1 - mean))
    return Estimate(ELO * math.log(mean / (1 - mean)), steepness * math.sqrt(variance / number))


def _with_mean_0(shares: Sequence[float], values: Sequence[float]) -> list[float]:
    """The likeliest chances, given shares that were seen, with which these values have mean 0.

    They are share / (1 + theta value), where theta is the root of a falling function: found by Newton's method, halving
    the interval where that would leave it.
    """
    poles = -1 / max(values), -1 / min(values)
    (low, high), theta = poles, 0.0
    for _ in range(_ROUNDS):
        parts = [value / (1 + theta * value) for value in values]
        mean = sum(map(mul, shares, parts))
        low, high = (theta, high) if mean > 0 else (low, theta)
        step = mean / sum(share * part * part for share, part in zip(shares, parts, strict=True))
        theta = theta + step if low <= theta + step <= high else (low + high) / 2
        if abs(step) < _EXACT * min(theta - poles[0], poles[1] - theta):
            break
    return [share / (1 + theta * value) for share, value in zip(shares, values, strict=True)]


def _with_ratio(shares: Sequence[float], ratio: float) -> list[float]:
    """The likeliest chances with which the score has mean 1/2 + ratio deviations.

    The condition is made linear about chances that are nearly right, again and again.
    """
    chances = [1 / len(SCORES)] * len(SCORES)
    for _ in range(_ROUNDS):
        mean = sum(chance * score for chance, score in zip(chances, SCORES, strict=True))
        deviation = math.sqrt(sum(chance * (score - mean) ** 2 for chance, score in zip(chances, SCORES, strict=True)))
        values = [score - 0.5 - ratio * deviation * (1 + ((score - mean) / deviation) ** 2) / 2 for score in SCORES]
        before, chances = chances, _with_mean_0(shares, values)
        if max(abs(new - old) for new, old in zip(chances, before, strict=True)) < _EXACT:
            break
    return chances
