"""Are these the best? Asked now and then, and seldom wrong however often it is asked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from arena_server.ratings.bradley_terry import fit
from arena_server.ratings.pairs import Pair

_FIRST = 3
"""Passes before the first look: fewer do not yet tell how much pairs scatter."""
_FARTHER = 4 / 3
"""Each look waits until so many times the games are played: what little they add makes nothing clear."""


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen.

    Attributes:
        best: entrants by index, the best first.
        sure: one minus the chances, added up, that one of the others is better than one of them; at least 0.
        needed: how sure it must be at this look.
    """

    best: tuple[int, ...]
    sure: float
    needed: float


@dataclass(frozen=True, slots=True)
class Leaders:
    """The question who the best are.

    All looks together are wrong no more often than asked for: look m may spend 3/((m+2)(m+3)) of the errors allowed,
    which adds up to 1 for any number of looks, so that the end of the schedule does not matter.

    Attributes:
        count: so many of the entrants.
        percent: how sure it must be.
        each: pairings of a pass, in which everybody has met everybody he is to meet.
    """

    count: int
    percent: float
    entrants: int
    seats: int
    each: int

    def looks_after(self, pairings: int) -> bool:
        """Whether to look after so many pairings."""
        passes, rest = divmod(pairings, self.each)
        return rest == 0 and passes in takewhile(lambda at: at <= passes, _passes())

    def look(self, number: int, pairs: Sequence[Pair]) -> Look:
        """The look of that number, from 1, at everything played so far."""
        fitted = fit(pairs, self.entrants, self.seats)
        order = sorted(range(self.entrants), key=lambda entrant: -fitted.logits[entrant])
        best, others = order[: self.count], order[self.count :]
        doubt = math.fsum(1 - fitted.difference(one, other).positive for one in best for other in others)
        return Look(tuple(best), max(0.0, 1 - doubt), 1 - self._may_spend(number))

    def _may_spend(self, number: int) -> float:
        return (1 - self.percent / 100) * 3 / ((number + 2) * (number + 3))


def _passes() -> Iterator[int]:
    """After how many passes to look."""
    at = _FIRST
    while True:
        yield at
        at = math.ceil(at * _FARTHER)
