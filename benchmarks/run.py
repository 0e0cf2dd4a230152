"""`make bench`: prints a table and writes bench.json, a flat map from a figure's name to its value.

These machines are noisy: compare the ratios, not the absolutes. ``python benchmarks/run.py engine`` measures one part.
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "benchmarks")]

PARTS = ("referee", "recording", "engine", "gym")
"""Modules with a `measure`; the referee's comes first, since its keeper must start before grpc is imported."""
AIMS = {
    "referee_over_floor": "<= 1.6",
    "recorded_games_per_s": ">= 150",
    "random_games_per_cpu_s_compiled": ">= 200,000",
    "legal_moves_compiled_over_pure": ">= 5",
    "after_compiled_over_pure": ">= 5",
    "uct_playouts_per_cpu_s": ">= 60,000",
}
"""What we aim at, beside the figure."""


def main() -> None:
    """Measures, prints as it goes, and keeps the figures of parts that were not asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    wanted = parser.parse_args().parts
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    path = ROOT / "bench.json"
    figures: dict[str, float] = json.loads(path.read_text()) if wanted and path.exists() else {}
    for part in [part for part in PARTS if part in wanted or not wanted]:
        measured: dict[str, float] = import_module(part).measure()
        for name, value in measured.items():
            print(f"{name:40} {value:14,.2f}  {AIMS.get(name, '')}".rstrip(), flush=True)
        figures.update(measured)
        path.write_text(json.dumps(figures, indent=2) + "\n")


main()
