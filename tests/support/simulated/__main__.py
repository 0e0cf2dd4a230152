"""``make simulate SEEDS=50000``: simulates seeds on every core and tells of those that break a promise."""

from __future__ import annotations

import argparse
import sys
import time

from simulated.figures import broken
from simulated.search import tell


def main() -> int:
    """Exit code 1: a promise was broken."""
    parser = argparse.ArgumentParser(prog="simulate")
    parser.add_argument("seeds", type=int, nargs="?", default=50_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    began = time.monotonic()
    failing: list[int] = []
    for done, (seed, error) in enumerate(broken(range(given.first, given.first + given.seeds)), 1):
        if error:
            failing.append(seed)
            print(f"seed {seed}: {error}", flush=True)
        rate = done / (time.monotonic() - began)
        line = f"{done} of {given.seeds} seeds, {len(failing)} broken, {rate:.0f} a second"
        if done == given.seeds or done % 100 == 0:
            print(line, end="\r" if sys.stdout.isatty() and done < given.seeds else "\n", flush=True)
    for seed in failing[:3]:
        print(tell(seed))
    if failing:
        print(f"broken by seeds {', '.join(map(str, failing))}")
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
