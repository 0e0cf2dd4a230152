"""Rated games taken apart: who did better than whom, and which games share a deal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from arena_server.ratings.fold import Finished
from arena_server.ratings.trueskill import Rating

Cell = tuple[int, int, int, int]
"""One entrant, its seat, the other, its seat."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A game that the ratings include, tuples in seat order.

    Attributes:
        number: place in the schedule order.
        pairing: games of one pairing share the deal.
        entrants: indices of who sat there.
        before: TrueSkill ratings as they were when it was folded.
    """

    number: int
    pairing: int
    entrants: tuple[int, ...]
    before: tuple[Rating, ...]
    result: Finished


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two seats of one game.

    Attributes:
        one: index of an entrant, like ``other``.
        one_seat: where it sat, 0 is seat a; like ``other_seat``.
        score: of the one: 1 better, 0.5 level, 0 worse.
    """

    one: int
    one_seat: int
    other: int
    other_seat: int
    score: float

    @property
    def cell(self) -> Cell:
        """Who sat where."""
        return self.one, self.one_seat, self.other, self.other_seat


Pair = Sequence[Comparison]
"""All comparisons of one pairing: the unit of the statistics, since its games share a deal."""


def comparisons(game: Meeting) -> Iterator[Comparison]:
    """Each two seats of a game; a seat to blame lost, and two seats to blame say nothing about each other."""
    for one, other in combinations(range(len(game.entrants)), 2):
        score = _score(game.result, one, other)
        if score is not None:
            yield Comparison(game.entrants[one], one, game.entrants[other], other, score)


def pairs(games: Iterable[Meeting]) -> list[Pair]:
    """The comparisons by pairing, in the order of the first game of each; pairings that say nothing are left out.

    Equal ones are one object: there are few, however many games were played.
    """
    found: dict[int, Pair] = {}
    known: dict[Pair, Pair] = {}
    for game in games:
        pair = *found.get(game.pairing, ()), *comparisons(game)
        found[game.pairing] = known.setdefault(pair, pair)
    return [pair for pair in found.values() if pair]


def _score(result: Finished, one: int, other: int) -> float | None:
    blamed, other_blamed = result.failures[one] is not None, result.failures[other] is not None
    if blamed or other_blamed:
        return None if blamed and other_blamed else float(other_blamed)
    difference = result.ranks[other] - result.ranks[one]
    return 0.5 if not difference else float(difference > 0)
