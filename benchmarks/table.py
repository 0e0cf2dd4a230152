"""Measures parts, prints a table beside what is aimed at, and keeps the figures in a flat JSON file."""

from __future__ import annotations

import argparse
import json
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
}


def run(description: str, parts: Sequence[str], aims: Mapping[str, str], name: str, package: str = "") -> int:
    """Measures the parts that the command line names, or all; figures of the others are kept.

    Args:
        description: what `--help` says.
        parts: modules with a `measure() -> dict[str, float]`, in the order in which they are measured.
        aims: a relation and a number for each figure: ``<= 1.6``.
        name: of the JSON file.
        package: where the modules are.

    Returns:
        1 where a figure that was measured misses its aim.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)}; all by default")
    wanted = parser.parse_args().parts
    if unknown := set(wanted) - set(parts):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    path = ROOT / name
    figures: dict[str, float] = json.loads(path.read_text()) if wanted and path.exists() else {}
    missed = 0
    for part in [part for part in parts if part in wanted or not wanted]:
        measured: dict[str, float] = import_module(f"{package}{part}").measure()
        for figure, value in measured.items():
            met = is_met(value, aims.get(figure))
            missed += not met
            print(f"{figure:40} {value:14,.2f}  {aims.get(figure, '')}{'' if met else '  MISSED'}".rstrip(), flush=True)
        figures.update(measured)
        path.write_text(json.dumps(figures, indent=2) + "\n")
    return 1 if missed else 0


def is_met(value: float, aim: str | None) -> bool:
    """Whether a figure is what is aimed at."""
    if aim is None:
        return True
    relation, number = aim.split()
    return RELATIONS[relation](value, float(number.replace(",", "")))


def progress(done: int, total: int, what: str) -> None:
    """How far a part is: in place on a terminal, now and then elsewhere."""
    if sys.stderr.isatty():
        print(f"{done} of {total} {what}", end="\r" if done < total else "\n", file=sys.stderr, flush=True)
    elif done == total or done % max(1, total // 10) == 0:
        print(f"{done} of {total} {what}", file=sys.stderr, flush=True)
