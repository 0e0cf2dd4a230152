"""How many games a ladder needs until its order stays right, over those of a round-robin of the same bots.

    python benchmarks/ladder.py

As a script: kinds of bots and servers beside the one that `make bench` measures. LADDERS=6 simulates fewer of each.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from simulated_ladder import Race
from simulated_results import Setting

from arena_server.formats.matchmaking import NOBODY, Call, Past, Rules, tables

ROOMY = 1000
RACES = {
    20: Race(Setting(bots=20, pairs=40, spread=1.2, deals=0.5), ROOMY),
    50: Race(Setting(bots=50, pairs=11, spread=1.2, deals=0.5), ROOMY),
}
"""Normal strengths with a deviation of 1.2 logits, 208 Elo; half of the luck is the deal's, the same for both games."""
OTHERS: Mapping[str, Race] = {
    "20, everybody always plays": replace(RACES[20], rules=Rules(playing=1.0)),
    "50, everybody always plays": replace(RACES[50], rules=Rules(playing=1.0)),
    "20, room for two tables": replace(RACES[20], room=2),
    "50, room for two tables": replace(RACES[50], room=2),
    "20, deals decide nothing": replace(RACES[20], setting=replace(RACES[20].setting, deals=0.0)),
    "20, half as far apart": replace(RACES[20], setting=replace(RACES[20].setting, spread=0.6, pairs=140)),
}


def measure() -> dict[str, float]:
    """Games of ladders over games of round-robins, and how long a call of 200 bots takes."""
    times = int(os.environ.get("LADDERS", "") or 32)
    found = {f"ladder_games_over_round_robin_{bots}": ratio(race, times) for bots, race in RACES.items()}
    return {
        "ladder_games_over_round_robin": max(found.values()),
        **found,
        "ladder_plan_200_bots_ms": plan_ms(200),
    }


def ratio(race: Race, times: int) -> float:
    """Of the sums over so many races."""
    ladders, round_robins = zip(*needed(race, times), strict=True)
    return float(sum(ladders) / sum(round_robins))


def needed(race: Race, times: int) -> list[tuple[int, int]]:
    """Games of ladder and round-robin, of so many races."""
    with ProcessPoolExecutor() as processes:
        return list(processes.map(race.needed, range(times)))


def plan_ms(bots: int) -> float:
    """The median of calls in the midst of a season, all bots free."""
    dice, past, taken = random.Random(1), Past(), []
    strengths = [dice.gauss(25, 5) for _ in range(bots)]
    everybody = dict.fromkeys(range(bots), NOBODY)
    for day in range(100):
        began = time.process_time()
        planned = tables(Call(everybody, strengths, day, ROOMY), past, Rules(playing=1.0))
        taken.append(time.process_time() - began)
        past.add(planned, day)
    return 1000 * median(taken)


if __name__ == "__main__":
    times = int(os.environ.get("LADDERS", "") or 100)
    print(f"{'':32} {'ladder':>8} {'r.-robin':>8} {'ratio':>6} {'of medians':>10} {'not within the horizon':>24}")
    for name, race in {**{str(bots): race for bots, race in RACES.items()}, **OTHERS}.items():
        ladders, round_robins = zip(*needed(race, times), strict=True)
        horizon = race.setting.pairs * race.setting.bots * (race.setting.bots - 1)
        late = [sum(games > horizon for games in those) for those in (ladders, round_robins)]
        print(
            f"{name:32} {sum(ladders) / times:8.0f} {sum(round_robins) / times:8.0f} "
            f"{sum(ladders) / sum(round_robins):6.2f} {median(ladders) / median(round_robins):10.2f} "
            f"{late[0]:12} and {late[1]} of {times}",
            flush=True,
        )
