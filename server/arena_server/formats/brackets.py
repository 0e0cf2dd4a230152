"""The bouts of a knockout and of a double elimination, as a list in which each follows those that feed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seed:
    """An entrant by its place in the order of seeds; one that does not exist is a bye."""

    place: int


@dataclass(frozen=True, slots=True)
class Winner:
    """Who wins the bout of that index."""

    bout: int


@dataclass(frozen=True, slots=True)
class Loser:
    """Who loses the bout of that index."""

    bout: int


Source = Seed | Winner | Loser


@dataclass(frozen=True, slots=True)
class Bout:
    """Two who meet.

    Attributes:
        first: also of the seats in the first game.
        level: grows from round to round; in a double elimination all rounds of the losers come after the others.
        again: whether it is the second final: played only where ``second`` won the bout before it.
    """

    first: Source
    second: Source
    level: int
    again: bool = False


def knockout(entrants: int) -> list[Bout]:
    """Who loses is out."""
    bouts: list[Bout] = []
    _rounds(bouts, _seeded(entrants))
    return bouts


def double_elimination(entrants: int) -> list[Bout]:
    """Who loses twice is out: the first time it goes on among the losers, whose last meets the unbeaten one."""
    bouts: list[Bout] = []
    rounds = _rounds(bouts, _seeded(entrants))
    left: list[Source] = _pair(bouts, [Loser(bout) for bout in rounds[0]])
    for number, beaten in enumerate(rounds[1:]):
        # From alternate ends, so that those who met meet again late.
        fallen = [Loser(bout) for bout in (reversed(beaten) if number % 2 == 0 else beaten)]
        left = _pair(bouts, [source for two in zip(left, fallen, strict=True) for source in two])
        if len(left) > 1:
            left = _pair(bouts, left)
    unbeaten = Winner(rounds[-1][0])
    bouts.append(Bout(unbeaten, left[0], _next_level(bouts)))
    bouts.append(Bout(unbeaten, left[0], _next_level(bouts), again=True))
    return bouts


def _seeded(entrants: int) -> list[Source]:
    """The first round from top to bottom, filled up with byes to a power of two."""
    order = [0]
    while len(order) < entrants:
        last = 2 * len(order) - 1
        order = [place for seed in order for place in (seed, last - seed)]
    return [Seed(place) for place in order]


def _rounds(bouts: list[Bout], left: list[Source]) -> list[Sequence[int]]:
    """Adds round after round until one is left; the indices of each round's bouts."""
    rounds: list[Sequence[int]] = []
    while len(left) > 1:
        left = _pair(bouts, left)
        rounds.append(range(len(bouts) - len(left), len(bouts)))
    return rounds


def _pair(bouts: list[Bout], sources: Sequence[Source]) -> list[Source]:
    """Adds a bout for every two; who goes on. A single one goes on by itself."""
    if len(sources) == 1:
        return list(sources)
    level = _next_level(bouts)
    bouts.extend(Bout(first, second, level) for first, second in zip(sources[::2], sources[1::2], strict=True))
    return [Winner(bout) for bout in range(len(bouts) - len(sources) // 2, len(bouts))]


def _next_level(bouts: Sequence[Bout]) -> int:
    return bouts[-1].level + 1 if bouts else 0
