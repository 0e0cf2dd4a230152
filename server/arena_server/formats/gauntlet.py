"""The first entrants, the challengers, each meet all the others; nobody else meets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from arena_server.formats.stage import Stage
from arena_server.formats.tables import Table, check, missing
from arena_server.model import Pairing, Spec, UserError


def plan(spec: Spec, closed: Sequence[Stage]) -> Sequence[Pairing] | None:
    """All pairings that are missing from the closed stages: at first the whole tournament; None where none is.

    ``spec.games`` is what each challenger plays against each of the others (with more than two seats: against each
    combination of them).

    Raises:
        UserError: no challenger, too few others, or what ``tables.check`` refuses.
    """
    check(spec)
    most = len(spec.entrants) - spec.seats + 1
    if not 1 <= spec.challengers <= most:
        fix = f"of {len(spec.entrants)} bots 1 to {most} can challenge the others"
        raise UserError("number of challengers", spec.challengers, fix, key=("challengers",))
    return missing(spec, _tables(spec), closed)


def _tables(spec: Spec) -> Iterator[Table]:
    """In turns: each challenger against the next of the others, so that all have played (nearly) as often."""
    others = list(combinations(range(spec.challengers, len(spec.entrants)), spec.seats - 1))
    for turn in range(len(others)):
        for challenger in range(spec.challengers):
            yield challenger, *others[(turn + challenger) % len(others)]
