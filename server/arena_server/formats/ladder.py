"""A ladder: neighbours meet, and whoever does better stands higher afterwards.

The order of entry is the ladder at the beginning, the first on top; who comes later begins at the bottom, and where
one was taken out the others move together.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena_server.formats.place import Place
from arena_server.formats.stage import Stage
from arena_server.formats.tables import check, check_rounds, dealt
from arena_server.model import Pairing, Spec


def plan(spec: Spec, closed: Sequence[Stage]) -> Sequence[Pairing] | None:
    """The next round: every table of neighbours, the first one lower by a rung after each round.

    Raises:
        UserError: no number of rounds, or what ``tables.check`` refuses.
    """
    check(spec)
    if len(closed) >= check_rounds(spec):
        return None
    present, seats = spec.present(len(closed) + 1), spec.seats
    order = [entrant for entrant in _ladder(spec, closed) if entrant in present]
    first = len(closed) % seats % (len(order) - seats + 1)
    return dealt(spec, [tuple(order[rung : rung + seats]) for rung in range(first, len(order) - seats + 1, seats)])


def places(spec: Spec, closed: Sequence[Stage]) -> Sequence[Place]:
    """The ladder from the top, each with the rung it came from."""
    ladder = enumerate(_ladder(spec, closed), 1)
    return [Place(rank, entrant, {"from": str(entrant + 1)}) for rank, entrant in ladder]


def _ladder(spec: Spec, closed: Sequence[Stage]) -> list[int]:
    """Equal points leave two as they stand."""
    order = list(range(len(spec.entrants)))
    for stage in closed:
        for meeting in stage.meetings():
            rungs = sorted(order.index(entrant) for entrant in meeting.entrants)
            better = sorted((order[rung] for rung in rungs), key=meeting.points, reverse=True)
            for rung, entrant in zip(rungs, better, strict=True):
                order[rung] = entrant
    return order
