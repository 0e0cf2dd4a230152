"""A stage: the games that a format plans at once, and what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Self

from arena_engine.game import Outcome
from arena_server.model import Pairing, PlannedGame


@dataclass(frozen=True, slots=True)
class Counted:
    """A closed game that counts; abandoned and cancelled ones do not.

    Attributes:
        seats: the entrants' indices in the spec, in seat order.
        outcome: in seat order.
        blamed: whether a seat is to blame for the ending, in seat order.
    """

    seats: tuple[int, ...]
    outcome: Outcome
    blamed: tuple[bool, ...]

    def points(self, entrant: int) -> int:
        """Half points: 2 for each other seat beaten, 1 for each it is equal to; none where it is to blame."""
        place = self.seats.index(entrant)
        if self.blamed[place]:
            return 0
        mine, ranks = self.outcome.ranks[place], self.outcome.ranks
        return sum(2 * (mine < rank) + (mine == rank) for other, rank in enumerate(ranks) if other != place)

    def margin(self, entrant: int) -> int:
        """Its score above the best of the others; 0 in a forfeited game, whose scores say nothing."""
        if any(self.blamed):
            return 0
        place, scores = self.seats.index(entrant), self.outcome.scores
        return scores[place] - max(scores[:place] + scores[place + 1 :])


@dataclass(frozen=True, slots=True)
class Meeting:
    """Entrants who met in a stage, over one deal or several.

    Attributes:
        entrants: in seat order of the first game.
        games: those that count.
    """

    entrants: tuple[int, ...]
    games: tuple[Counted, ...]

    def points(self, entrant: int) -> int:
        """Half points over its games."""
        return sum(game.points(entrant) for game in self.games)

    def margin(self, entrant: int) -> int:
        """Total score margin over its games."""
        return sum(game.margin(entrant) for game in self.games)


@dataclass(frozen=True, slots=True)
class Stage:
    """What was planned at once.

    Attributes:
        number: from 1.
        pairings: in schedule order.
        results: of each pairing, the games that count.
    """

    number: int
    pairings: Sequence[Pairing]
    results: tuple[tuple[Counted, ...], ...] = ()

    @classmethod
    def of(cls, number: int, games: Iterable[tuple[PlannedGame, Counted | None]]) -> Self:
        """From its games in schedule order, each with None where it does not count."""
        pairings = [list(rotations) for _, rotations in groupby(games, key=lambda game: game[0].pairing)]
        return cls(
            number,
            tuple(Pairing(rotations[0][0].seats) for rotations in pairings),
            tuple(tuple(counted for _, counted in rotations if counted) for rotations in pairings),
        )

    def meetings(self) -> Sequence[Meeting]:
        """Who met whom, all deals of the same entrants together, in schedule order of the first."""
        found: dict[frozenset[int], Meeting] = {}
        for pairing, games in zip(self.pairings, self.results, strict=True):
            key = frozenset(pairing.entrants)
            before = found.get(key, Meeting(pairing.entrants, ()))
            found[key] = Meeting(before.entrants, before.games + games)
        return list(found.values())
