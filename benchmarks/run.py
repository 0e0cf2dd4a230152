"""`make bench`: prints a table and writes bench.json, a flat map from a figure's name to its value.

These machines are noisy: compare the ratios, not the absolutes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "benchmarks")]

AIMS = {"referee_over_floor": "<= 1.6", "recorded_games_per_s": ">= 150"}
"""What we aim at, beside the figure."""


def main() -> None:
    """Measures everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=500, help="games of each measured match")
    games = parser.parse_args().games
    import recording  # noqa: PLC0415 - needs the paths above
    import referee  # noqa: PLC0415 - likewise

    figures = {**referee.measure(games), **recording.measure(games)}
    (ROOT / "bench.json").write_text(json.dumps(figures, indent=2) + "\n")
    for name, value in figures.items():
        print(f"{name:32} {value:12,.2f}  {AIMS.get(name, '')}".rstrip())


main()
