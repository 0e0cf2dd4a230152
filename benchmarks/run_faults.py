"""`make faults`: what must hold under faults, measured in full; prints a table and writes faults.json.

``make faults PARTS=kills KILLS=50`` measures one part with fewer kills. Beside KILLS there are INSTANTS, GAMES,
GROWTH, WRITES, VERIFIED, SEEDS and SEASON; see the parts for what they mean.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "benchmarks")]

import table  # noqa: E402 - found by the line above

PARTS = ("clocks", "storage", "growth", "simulation", "kills", "season")
AIMS = {
    "false_time_losses_quiet": "== 0",
    "false_time_losses_loaded": "== 0",
    "voids_fraction_loaded": "<= 0.02",
    "missed_time_losses": "== 0",
    "charged_minus_true_p50_ms": "<= 2",
    "charged_minus_true_p99_ms": "<= 20",
    "kill_violations": "== 0",
    "lock_errors": "== 0",
    "verify_s_per_10k_games": "<= 60",
    "edits_found_fraction": ">= 1",
    "planted_bugs_caught": ">= 5",
    "simulation_violations": "== 0",
    "rss_mb_per_1k_games": "< 0.2",
    "season_false_losses": "== 0",
    "season_problems": "== 0",
}

if __name__ == "__main__":
    sys.exit(table.run("Measures what must hold under faults.", PARTS, AIMS, "faults.json", "faults."))
