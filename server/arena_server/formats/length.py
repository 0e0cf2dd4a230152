"""How many games a format plans: known beforehand, or between two numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from arena_engine.game import Outcome
from arena_server.formats import plan
from arena_server.formats.elimination import EXTRA_DEALS
from arena_server.formats.stage import Counted, Stage
from arena_server.model import Pairing, Spec


def length(spec: Spec) -> tuple[int, int]:
    """The fewest and the most games of the whole plan; equal where results do not matter.

    Raises:
        UserError: as ``formats.plan``.
    """
    first = plan(spec, ()) or ()
    if spec.format in _DEPENDING:
        return _DEPENDING[spec.format](spec)
    closed: list[Stage] = []
    pairings: Sequence[Pairing] | None = first
    while pairings is not None:
        closed.append(_stage(len(closed) + 1, pairings))
        pairings = plan(spec, closed)
    games = sum(len(stage.pairings) for stage in closed) * spec.seats
    return games, games


def _stage(number: int, pairings: Sequence[Pairing]) -> Stage:
    """As if the first seat had won every game."""
    results = [
        tuple(Counted(seats, _first_wins(seats), (False,) * len(seats)) for seats in pairing.rotations())
        for pairing in pairings
    ]
    return Stage(number, tuple(pairings), tuple(results))


def _first_wins(seats: Sequence[int]) -> Outcome:
    return Outcome(tuple(range(1, len(seats) + 1)), tuple(range(len(seats), 0, -1)))


def _swiss(spec: Spec) -> tuple[int, int]:
    """So many rounds; fewer where results leave no round without a repeat, which cannot be in the first half."""
    rounds, tables = spec.rounds or 1, len(spec.entrants) // 2
    return min(rounds, max(1, tables)) * tables * spec.games, rounds * tables * spec.games


def _knockout(spec: Spec) -> tuple[int, int]:
    bouts = len(spec.entrants) - 1
    return bouts * spec.games, bouts * _longest(spec)


def _double(spec: Spec) -> tuple[int, int]:
    """All but one lose twice, the winner at most once."""
    losses = 2 * (len(spec.entrants) - 1)
    return losses * spec.games, (losses + 1) * _longest(spec)


def _longest(spec: Spec) -> int:
    """Games of a bout that is drawn until the margin decides it."""
    return spec.games + EXTRA_DEALS * spec.seats


_DEPENDING: Mapping[str, Callable[[Spec], tuple[int, int]]] = {
    "swiss": _swiss,
    "knockout": _knockout,
    "double-elimination": _double,
}
"""Formats whose number of games depends on results."""
