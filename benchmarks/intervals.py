"""Do 95 % intervals hold the truth in 95 % of tournaments? Run as a script it simulates 1,000 of each kind."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from simulated_results import Setting, coverage

SETTINGS = {
    "match of 5 pairs": Setting(bots=2, pairs=5),
    "match of 50 pairs": Setting(bots=2, pairs=50),
    "match of 50 pairs, deals matter": Setting(bots=2, pairs=50, deals=0.5),
    "4 bots, 5 pairs": Setting(bots=4, pairs=5),
    "4 bots, 5 pairs, deals matter": Setting(bots=4, pairs=5, deals=0.5),
    "8 bots, 10 pairs, wide": Setting(bots=8, pairs=10, spread=1.2),
    "8 bots, 10 pairs, deals matter": Setting(bots=8, pairs=10, deals=0.5),
}


def measure(tournaments: int = 100) -> dict[str, float]:
    """Coverage in percent by kind of tournament and quantity, and the seconds that 200 bots take."""
    figures = {
        f"coverage, {name}: {what}": 100 * share
        for name, setting in SETTINGS.items()
        for what, share in asdict(coverage(setting, tournaments, seed=1)).items()
    }
    return {**figures, "full_leaderboard_200_bots_s": _seconds(bots=200)}


def _seconds(bots: int) -> float:
    began = time.perf_counter()
    coverage(Setting(bots=bots, pairs=1), 1, seed=1)
    return time.perf_counter() - began


if __name__ == "__main__":
    for figure, value in measure(1000).items():
        print(f"{figure:60} {value:6.1f}")
