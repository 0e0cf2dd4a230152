"""A season: open-ended, played by a standing server. Whenever somebody is free, a stage is planned, while others go on.

Who is free does not follow from the contract: it is recorded with the stage as its ``Call``. From the call, the results
up to the game that it names, and the stages before it, the pairings follow, so that they can be verified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from arena_server.formats.stage import Stage
from arena_server.formats.tables import Table, dealt
from arena_server.model import Pairing, Spec, UserError

NEAR = 4.0
"""A difference of ratings that weighs as much as having met once more: about that of a win in three games of four."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a stage is planned upon.

    Attributes:
        day: of the planning, in days since 1970, UTC.
        known: number of the last game that was rated then.
        present: the entrants, by index, that could begin a game, each with the number of its owner; 0: nobody's.
        room: how many tables can be seated at most.
    """

    day: int
    known: int
    present: tuple[tuple[int, int], ...]
    room: int = 1


@dataclass
class Planned:
    """What the stages so far have planned.

    Attributes:
        tables: of each entrant.
        met: how often each two entrants sat together.
    """

    tables: Counter[int] = field(default_factory=Counter)
    met: Counter[tuple[int, int]] = field(default_factory=Counter)

    def add(self, pairings: Iterable[Pairing]) -> None:
        """Takes a stage into account."""
        for pairing in pairings:
            self.tables.update(pairing.entrants)
            self.met.update(combinations(sorted(pairing.entrants), 2))


def pairings(spec: Spec, call: Call, ratings: Sequence[float], planned: Planned) -> tuple[Pairing, ...]:
    """The next stage: those who have played least choose first, among whom they met seldom and who are of their rating.

    Args:
        spec: of the season.
        call: who may play.
        ratings: mean of each entrant after the games that the call knows.
        planned: all stages so far.

    Returns:
        At most ``call.room`` tables; none where nobody may meet.
    """
    owners = dict(call.present)
    waiting = sorted(owners, key=lambda entrant: (planned.tables[entrant], entrant))
    tables: list[Table] = []
    while waiting and len(tables) < call.room:
        table = _seated(waiting.pop(0), waiting, spec.seats, owners, ratings, planned)
        if table is not None:
            tables.append(table)
            waiting = [entrant for entrant in waiting if entrant not in table]
    return dealt(spec, tables)


def plan(spec: Spec, _closed: Sequence[Stage]) -> None:
    """Raises UserError: nobody but a server knows who is there."""
    raise UserError("a season is played by a server", repr(spec.format), "see `arena serve`", key=("format",))


def _seated(  # noqa: PLR0913, PLR0917 - what the choice rests on
    first: int,
    others: Sequence[int],
    seats: int,
    owners: dict[int, int],
    ratings: Sequence[float],
    planned: Planned,
) -> Table | None:
    """A table for one entrant with the best that are waiting; None where too few may sit with it."""

    def distance(entrant: int) -> tuple[float, int]:
        low, high = sorted((first, entrant))
        return planned.met[low, high] + abs(ratings[entrant] - ratings[first]) / NEAR, entrant

    table = [first]
    for entrant in sorted(others, key=distance):
        if len(table) < seats and all(_may_meet(owners[entrant], owners[sitting]) for sitting in table):
            table.append(entrant)
    return tuple(table) if len(table) == seats else None


def _may_meet(one: int, other: int) -> bool:
    """Not two of one owner."""
    return one == 0 or one != other
