"""Everybody meets everybody equally often.

Two seats: the circle method, round after round, so that after every round all have played (nearly) as often; played
pair by pair, the order alone would shift ratings. More seats: every combination, in turns of the circle of entrants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from arena_server.formats.stage import Stage
from arena_server.formats.tables import TWO_SEATS, Table, check, missing
from arena_server.model import Pairing, Spec


def plan(spec: Spec, closed: Sequence[Stage]) -> Sequence[Pairing] | None:
    """All pairings that are missing from the closed stages: at first the whole tournament; None where none is.

    Entrants of one owner do not meet, where the spec says who they are.

    ``spec.games`` is what each pair of entrants plays (with more than two seats: each combination), one pairing for
    every rotation of the seats. Each pass over the rounds moves the first seat on to the next entrant.

    Raises:
        UserError: too few entrants, one of them twice, or a number of games that is no multiple of the seats.
    """
    check(spec)
    tables = _tables(len(spec.entrants), spec.seats)
    return missing(spec, (table for table in tables if _may_meet(spec, table)), closed)


def _may_meet(spec: Spec, table: Table) -> bool:
    return not spec.owners or len({spec.owners[entrant] for entrant in table}) == len(table)


def _tables(entrants: int, seats: int) -> Iterator[Table]:
    """Who sits together, every combination once, all entrants appearing evenly throughout."""
    return _rounds(entrants) if seats == TWO_SEATS else _orbits(entrants, seats)


def _rounds(entrants: int) -> Iterator[Table]:
    """The circle method: one stays, the others move on by a place each round; an odd one has a bye."""
    circle = list(range(entrants + entrants % 2))
    half = len(circle) // 2
    for _ in range(len(circle) - 1):
        for one, other in zip(circle[:half], reversed(circle[half:]), strict=True):
            if other < entrants and one < entrants:
                yield one, other
        circle.insert(1, circle.pop())


def _orbits(entrants: int, seats: int) -> Iterator[Table]:
    """Each combination followed by all its turns round the circle: every such group seats everybody equally often."""
    done: set[Table] = set()
    for table in combinations(range(entrants), seats):
        for turn in range(entrants):
            turned = tuple(sorted((place + turn) % entrants for place in table))
            if turned not in done:
                done.add(turned)
                yield turned
