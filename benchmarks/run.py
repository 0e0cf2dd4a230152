"""`make bench`: prints a table and writes bench.json, a flat map from a figure's name to its value.

These machines are noisy: compare the ratios, not the absolutes. ``python benchmarks/run.py engine`` measures one part.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "benchmarks")]

import table  # noqa: E402 - found by the line above

PARTS = ("referee", "recording", "engine", "gym", "query", "ladder", "load")
"""Modules with a `measure`; the referee's comes first, since its keeper must start before grpc is imported."""
AIMS = {
    "referee_over_floor": "<= 1.6",
    "recorded_games_per_s": ">= 150",
    "random_games_per_cpu_s_compiled": ">= 200,000",
    "legal_moves_compiled_over_pure": ">= 5",
    "after_compiled_over_pure": ">= 5",
    "uct_playouts_per_cpu_s": ">= 60,000",
    "leaderboard_p50_ms_1m_games": "<= 5",
    "leaderboard_1m_over_10k": "<= 1.5",
    "ladder_games_over_round_robin": "<= 0.6",
    "standing_connections": "== 100",
    "standing_false_losses": "== 0",
    "standing_lost_or_double": "== 0",
    "standing_leaderboard_p99_ms": "<= 10",
    "standing_rss_mb_per_1k_games": "< 0.2",
    "standing_back_s": "< 30",
    "ladder_plan_200_bots_ms": "< 50",
}
"""What we aim at, beside the figure."""

if __name__ == "__main__":
    table.run("Measures the arena against floors of the same run.", PARTS, AIMS, "bench.json")
