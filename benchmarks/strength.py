"""How strong the example bots are: plays the matches of example_bots/README.md with the real referee.

    python benchmarks/strength.py                 # all of it, about a quarter of an hour
    python benchmarks/strength.py greedy planner  # only the matches of these bots, as the first of the two
    python benchmarks/strength.py --pairs 5       # a quick look

Prints the README's table; exits with 1 if a bot is weaker than it must be. A pair is one deal played from
both seats; the interval is Wilson's over games.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

BOTS = Path(__file__).parents[1] / "example_bots"
ARENA = (sys.executable, "-c", "from arena_server.cli import main; main()")
SEED = "strength"
Z = 1.96


@dataclass(frozen=True)
class Match:
    bot: str
    against: str
    time: str
    pairs: int
    share: float  # of games that it must win


MATCHES = (
    Match("greedy", "random", "100ms", 100, 0.90),
    Match("planner", "greedy", "100ms", 100, 0.65),
    Match("mcts", "random", "1s", 20, 0.90),
    Match("mcts", "planner", "100ms", 100, 0.60),
)


def standing(match: Match, pairs: int, database: Path) -> dict[str, Any]:
    """The first bot's row of the leaderboard."""
    bots = [str(BOTS / name) for name in (match.bot, match.against)]
    contract = ["--games", str(2 * pairs), "--time", match.time, "--seed", SEED]
    where = ["--concurrency", "1", "--db", str(database), "--json"]
    run = subprocess.run([*ARENA, "run-tournament", *bots, *contract, *where], stdout=subprocess.PIPE, check=True)
    rows: list[dict[str, Any]] = json.loads(run.stdout)["standings"]
    return next(row for row in rows if row["bot"] == match.bot)


def wilson(wins: int, games: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    share, weight = wins / games, Z * Z / games
    middle = share + weight / 2
    half = Z * sqrt(share * (1 - share) / games + weight / (4 * games))
    return (middle - half) / (1 + weight), (middle + half) / (1 + weight)


def table_row(match: Match, row: dict[str, Any]) -> str:
    low, high = wilson(row["wins"], row["games"])
    failures = ", ".join(f"{count} {kind}" for kind, count in row["failures"].items()) or "none"
    cells = (
        f"{match.bot} against {match.against}",
        match.time,
        f"{row['wins']} of {row['games']}",
        f"{row['wins'] / row['games']:.1%}",
        f"{low:.1%} to {high:.1%}",
        f"{match.share:.0%}",
        f"{row['margin']:+.1f}",
        failures,
    )
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures the example bots.")
    parser.add_argument("bots", nargs="*", help="whose matches; none: all")
    parser.add_argument("--pairs", type=int, help="instead of as many as the README's figures have")
    parser.add_argument("--db", type=Path, help="where to keep the games; none: nowhere")
    given = parser.parse_args()
    good = True
    print("| match | a ply | won | share | 95 % interval | at least | mean margin | its failures |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for match in MATCHES:
            if not given.bots or match.bot in given.bots:
                row = standing(match, given.pairs or match.pairs, given.db or Path(folder, "strength.db"))
                print(table_row(match, row), flush=True)
                good = good and row["wins"] >= match.share * row["games"]
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
