"""Round-robins without games: results drawn from known strengths, and what the statistics should find in them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import add
from statistics import NormalDist

from arena_server.ratings.bradley_terry import ELO, fit
from arena_server.ratings.estimates import Estimate
from arena_server.ratings.leaders import Leaders
from arena_server.ratings.pairs import Comparison, Pair
from arena_server.ratings.ranks import rank_ranges
from arena_server.ratings.sprt import SCORES, Sprt, Verdict, counts

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of round-robin.

    Attributes:
        pairs: deals that each two bots play, once from each seat.
        spread: deviation of the bots' strengths, in logits.
        seat: what the first seat is worth, in logits.
        deals: how far both games of a pair depend on the deal, from 0 to 1; the chances of each game stay the same.
    """

    bots: int
    pairs: int
    spread: float = 0.6
    seat: float = 0.2
    deals: float = 0.0

    def strengths(self, dice: random.Random) -> list[float]:
        return [dice.gauss(0, self.spread) for _ in range(self.bots)]

    def play(self, strengths: Sequence[float], dice: random.Random) -> list[Pair]:
        return [
            self.pair(one, other, strengths[one] - strengths[other], dice)
            for one, other in combinations(range(self.bots), 2)
            for _ in range(self.pairs)
        ]

    def pair(self, one: int, other: int, gap: float, dice: random.Random) -> Pair:
        """Both games of one deal; the gap is that of the strengths, in logits."""
        deal = dice.gauss(0, math.sqrt(self.deals))
        return (
            Comparison(one, 0, other, 1, self._first_wins(self.seat + gap, deal, dice)),
            Comparison(other, 0, one, 1, self._first_wins(self.seat - gap, deal, dice)),
        )

    def _first_wins(self, logit: float, deal: float, dice: random.Random) -> float:
        return float(_NORMAL.cdf(deal + dice.gauss(0, math.sqrt(1 - self.deals))) < chance(logit))


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares of what 95 % intervals were given for and held, over simulated tournaments."""

    strengths: float
    differences: float
    seats: float
    ranks: float


def coverage(setting: Setting, tournaments: int, seed: int) -> Coverage:
    """Of strengths, the difference of two bots, the first seat's advantage, and ranks."""
    dice = random.Random(seed)
    strengths = differences = seats = ranks = 0
    for number in range(tournaments):
        real = setting.strengths(dice)
        found = fit(setting.play(real, dice), setting.bots, 2)
        middle = math.fsum(real) / setting.bots
        strengths += sum(map(_holds, found.strengths(), [strength - middle for strength in real]))
        differences += _holds(found.difference(0, 1), real[0] - real[1])
        seats += _holds(found.seat(0), setting.seat)
        ranges = rank_ranges(found, number.to_bytes(4))
        best_first = sorted(range(setting.bots), key=lambda bot: -real[bot])
        ranks += sum(ranges[bot][0] <= rank <= ranges[bot][1] for rank, bot in enumerate(best_first, 1))
    bots = tournaments * setting.bots
    return Coverage(strengths / bots, differences / tournaments, seats / tournaments, ranks / bots)


def anchored_coverage(setting: Setting, tournaments: int, anchors: int, seed: int) -> float:
    """Of strengths, where those of the first so many bots are known."""
    dice, held = random.Random(seed), 0
    for _ in range(tournaments):
        real = setting.strengths(dice)
        fixed = {bot: ELO * real[bot] for bot in range(anchors)}
        found = fit(setting.play(real, dice), setting.bots, 2, fixed).strengths()
        held += sum(map(_holds, found[anchors:], real[anchors:]))
    return held / (tournaments * (setting.bots - anchors))


def error_rate(test: Sprt, elo: float, deals: float, times: int, seed: int) -> float:
    """Share of tests that accept the hypothesis that is wrong, where the one is really so much better."""
    setting, dice = Setting(bots=2, pairs=1, seat=0.0, deals=deals), random.Random(seed)
    right = Verdict.BETTER if elo >= test.elo1 else Verdict.NOT_BETTER
    return sum(_decided(test, setting, [elo / ELO, 0.0], dice) is not right for _ in range(times)) / times


def _decided(test: Sprt, setting: Setting, strengths: Sequence[float], dice: random.Random) -> Verdict:
    seen = [0] * len(SCORES)
    while (verdict := test.verdict(seen)) is None:
        seen = list(map(add, seen, counts(setting.play(strengths, dice), 0)))
    return verdict


def wrong_leaders(
    setting: Setting, strengths: Sequence[float], count: int, *, percent: float, passes: int, times: int, seed: int
) -> tuple[float, float]:
    """Shares of tournaments that a question for the best has stopped at all, and with a wrong answer."""
    dice = random.Random(seed)
    leaders = Leaders(count, percent, setting.bots, 2, setting.bots * (setting.bots - 1) // 2)
    best = set(sorted(range(setting.bots), key=lambda bot: -strengths[bot])[:count])
    found = [_leaders(leaders, setting, strengths, passes, dice) for _ in range(times)]
    answers = [answer for answer in found if answer is not None]
    return len(answers) / times, sum(answer != best for answer in answers) / times


def _leaders(
    leaders: Leaders, setting: Setting, strengths: Sequence[float], passes: int, dice: random.Random
) -> set[int] | None:
    """The answer at which a tournament stops; None where it is played to its end."""
    played: list[Pair] = []
    looks = 0
    for _ in range(passes):
        played += setting.play(strengths, dice)
        if leaders.looks_after(len(played)):
            looks += 1
            look = leaders.look(looks, played)
            if look.sure >= look.needed:
                return set(look.best)
    return None


def chance(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def _holds(estimate: Estimate | None, logits: float) -> bool:
    assert estimate is not None
    return estimate.low <= ELO * logits <= estimate.high
