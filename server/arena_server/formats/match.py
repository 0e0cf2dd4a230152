"""A match: the bots of one table meet over and over."""

from __future__ import annotations

from collections.abc import Sequence

from arena_server.formats.stage import Stage
from arena_server.formats.tables import check, dealt
from arena_server.model import Pairing, Spec, UserError


def plan(spec: Spec, closed: Sequence[Stage]) -> Sequence[Pairing] | None:
    """All pairings, as the one stage; None once it is closed.

    Raises:
        UserError: not exactly as many entrants as seats, or what ``tables.check`` refuses.
    """
    check(spec)
    if len(spec.entrants) != spec.seats:
        fix = f"name {spec.seats}, or choose round-robin"
        raise UserError(f"a match is between {spec.seats} bots", len(spec.entrants), fix, key=("bots",))
    return None if closed else dealt(spec, [tuple(range(spec.seats))])
