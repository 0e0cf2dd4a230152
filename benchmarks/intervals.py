"""Do 95 % intervals hold 95 % of truths, and are tests wrong as seldom as they promise? As a script: 1,000 of each."""

from __future__ import annotations

import random
import sys
import time
from dataclasses import asdict
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from simulated_results import Setting, coverage, error_rate, wrong_leaders

from arena_server.ratings.bradley_terry import fit
from arena_server.ratings.ranks import rank_ranges
from arena_server.ratings.sprt import Sprt

SETTINGS = {
    "match of 5 pairs": Setting(bots=2, pairs=5),
    "match of 50 pairs": Setting(bots=2, pairs=50),
    "match of 50 pairs, deals matter": Setting(bots=2, pairs=50, deals=0.5),
    "4 bots, 5 pairs": Setting(bots=4, pairs=5),
    "4 bots, 5 pairs, deals matter": Setting(bots=4, pairs=5, deals=0.5),
    "8 bots, 10 pairs, wide": Setting(bots=8, pairs=10, spread=1.2),
    "8 bots, 10 pairs, deals matter": Setting(bots=8, pairs=10, deals=0.5),
}

TESTS = (
    ("0..50 Elo", Sprt(0, 50), 0.0),
    ("0..100 Elo", Sprt(0, 100), 0.0),
    ("0..50 Elo, deals matter", Sprt(0, 50), 0.5),
)

LEADERS = {
    "2 equal": ((1e-9, 0.0), 1, 100),
    "5 equal": ((1e-9, 0.0, 0.0, 0.0, 0.0), 1, 36),
    "6, the third and the fourth equal": ((2.0, 1.5, 0.5 + 1e-9, 0.5, -1.0, -1.0), 3, 36),
}
"""Strengths in logits, how many best ones are asked for, and passes; the hardest cases."""


def measure(tournaments: int = 100) -> dict[str, float]:
    """Coverage and errors of tests in percent, and the seconds that 200 bots take."""
    figures = {
        f"coverage, {name}: {what}": 100 * share
        for name, setting in SETTINGS.items()
        for what, share in asdict(coverage(setting, tournaments, seed=1)).items()
    }
    return {**figures, **_errors(tournaments), **_leaders(tournaments), "statistics_200_bots_s": _seconds(bots=200)}


def _errors(tests: int) -> dict[str, float]:
    """Wrong verdicts in percent; 5 are allowed."""
    return {
        f"sprt {kind}, truth is elo{number}: errors": 100 * error_rate(test, elo, deals, tests, seed=number)
        for kind, test, deals in TESTS
        for number, elo in enumerate((test.elo0, test.elo1))
    }


def _leaders(tournaments: int) -> dict[str, float]:
    """Wrong answers in percent; 10 are allowed."""
    return {
        f"best {count} of {name}, deals {deals:g}: errors": 100
        * wrong_leaders(
            Setting(bots=len(strengths), pairs=1, deals=deals),
            strengths,
            count,
            percent=90,
            passes=passes,
            times=tournaments,
            seed=1,
        )[1]
        for name, (strengths, count, passes) in LEADERS.items()
        for deals in (0.0, 0.5)
    }


def _seconds(bots: int) -> float:
    """Of the processor, for strengths, errors and ranks."""
    setting, dice = Setting(bots=bots, pairs=1), random.Random(1)
    pairs = setting.play(setting.strengths(dice), dice)
    began = time.process_time()
    rank_ranges(fit(pairs, bots, 2), b"seed")
    return time.process_time() - began


if __name__ == "__main__":
    for figure, value in measure(1000).items():
        print(f"{figure:60} {value:6.1f}")
