"""A match: the bots of one table meet over and over."""

from __future__ import annotations

from collections.abc import Sequence

from arena_server.formats.stage import Stage
from arena_server.formats.tables import check, missing
from arena_server.model import Pairing, Spec, UserError


def plan(spec: Spec, closed: Sequence[Stage]) -> Sequence[Pairing] | None:
    """All pairings that are missing from the closed stages: at first the whole tournament; None where none is.

    Raises:
        UserError: not exactly as many entrants as seats, or what ``tables.check`` refuses.
    """
    check(spec)
    if len(spec.entrants) != spec.seats:
        fix = f"name {spec.seats}, or choose round-robin"
        raise UserError(f"a match is between {spec.seats} bots", len(spec.entrants), fix, key=("bots",))
    return missing(spec, [tuple(range(spec.seats))], closed)
