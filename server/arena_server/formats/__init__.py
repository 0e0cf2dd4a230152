"""Pure planners: which entrants meet next, given a spec and the stages already played."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches

from arena_server.formats import round_robin
from arena_server.formats.stage import Stage
from arena_server.model import Pairing, Spec, UserError

__all__ = ["FORMATS", "Stage", "plan"]

FORMATS: Mapping[str, Callable[[Spec, Sequence[Stage]], Sequence[Pairing] | None]] = {"round-robin": round_robin.plan}
"""Every planner by the name of its format."""


def plan(spec: Spec, closed: Sequence[Stage]) -> Sequence[Pairing] | None:
    """The pairings of the next stage, in schedule order; None when the tournament is done.

    Args:
        spec: what is to be played.
        closed: every stage so far, all of its games closed.

    Raises:
        UserError: no such format, or the format cannot play this spec.
    """
    if spec.format not in FORMATS:
        near = get_close_matches(spec.format, FORMATS, n=1)
        fix = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(FORMATS))}"
        raise UserError("no such format", repr(spec.format), fix)
    return FORMATS[spec.format](spec, closed)
