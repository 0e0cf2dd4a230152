"""Everybody meets everybody equally often.

Two seats: the circle method, round after round, so that after every round all have played (nearly) as often; played
pair by pair, the order alone would shift ratings. More seats: every combination, in turns of the circle of entrants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from arena_server.formats.stage import Stage
from arena_server.model import Pairing, Spec, UserError

Table = tuple[int, ...]


def plan(spec: Spec, closed: Sequence[Stage]) -> Sequence[Pairing] | None:
    """All pairings, as the one stage; None once it is closed.

    ``spec.games`` is what each pair of entrants plays (with more than two seats: each combination), one pairing for
    every rotation of the seats. Each pass over the rounds moves the first seat on to the next entrant.

    Raises:
        UserError: too few entrants, one of them twice, or a number of games that is no multiple of the seats.
    """
    check(spec)
    if closed:
        return None
    return tuple(
        Pairing(Pairing(table).rotations()[turn % spec.seats])
        for turn in range(spec.games // spec.seats)
        for table in _tables(len(spec.entrants), spec.seats)
    )


def check(spec: Spec) -> None:
    """Raises UserError where the spec has no round-robin."""
    if len(spec.entrants) < spec.seats:
        fix = f"{spec.game} has {spec.seats} seats: name at least {spec.seats} bots"
        raise UserError("too few bots", len(spec.entrants), fix)
    seen = set()
    for entrant in spec.entrants:
        if entrant.key in seen:
            raise UserError(
                "the same bot twice", entrant.label, "name each bot once, or give one of them other options"
            )
        seen.add(entrant.key)
    if spec.games < 1 or spec.games % spec.seats:
        below = max(spec.games, 0) // spec.seats * spec.seats
        choice = f"{below} or {below + spec.seats}" if below else f"{spec.seats}"
        fix = f"a multiple of {spec.seats} is needed, since every deal is played from each seat; did you mean {choice}?"
        raise UserError("number of games", spec.games, fix)


def _tables(entrants: int, seats: int) -> Iterator[Table]:
    """Who sits together, every combination once, all entrants appearing evenly throughout."""
    return _rounds(entrants) if seats == 2 else _orbits(entrants, seats)  # noqa: PLR2004 - two seats


def _rounds(entrants: int) -> Iterator[Table]:
    """The circle method: one stays, the others move on by a place each round; an odd one has a bye."""
    circle = list(range(entrants + entrants % 2))
    half = len(circle) // 2
    for _ in range(len(circle) - 1):
        for one, other in zip(circle[:half], reversed(circle[half:]), strict=True):
            if other < entrants and one < entrants:
                yield one, other
        circle.insert(1, circle.pop())


def _orbits(entrants: int, seats: int) -> Iterator[Table]:
    """Each combination followed by all its turns round the circle: every such group seats everybody equally often."""
    done: set[Table] = set()
    for table in combinations(range(entrants), seats):
        for turn in range(entrants):
            turned = tuple(sorted((place + turn) % entrants for place in table))
            if turned not in done:
                done.add(turned)
                yield turned
