"""Tables: who sits together, dealt as often as the spec says; and what every format asks of a spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from arena_server.formats.stage import Stage
from arena_server.model import Entrant, Pairing, Spec, UserError

Table = tuple[int, ...]
"""Entrants' indices in the spec, in seat order."""

TWO_SEATS = 2


def dealt(spec: Spec, tables: Iterable[Table]) -> tuple[Pairing, ...]:
    """Pairings that give each table ``spec.games`` games: pass after pass, the first seat moving on each time."""
    order = [Pairing(table).rotations() for table in tables]
    passes = range(spec.games // spec.seats)
    return tuple(Pairing(rotations[turn % spec.seats]) for turn in passes for rotations in order)


def missing(spec: Spec, tables: Iterable[Table], closed: Sequence[Stage]) -> tuple[Pairing, ...] | None:
    """What of ``dealt`` no closed stage has, among those who take part; None where nothing is left.

    So a first plan and what an extension adds to it are one thing.
    """
    present = set(spec.present(len(closed) + 1))
    planned = Counter(frozenset(pairing.entrants) for stage in closed for pairing in stage.pairings)
    found = []
    for pairing in dealt(spec, (table for table in tables if present.issuperset(table))):
        met = frozenset(pairing.entrants)
        if planned[met]:
            planned[met] -= 1
        else:
            found.append(pairing)
    return tuple(found) or None


def check(spec: Spec) -> None:
    """What every format needs.

    Raises:
        UserError: too few entrants, one of them twice, or a number of games that is no multiple of the seats.
    """
    if len(spec.entrants) < spec.seats:
        fix = f"{spec.game} has {spec.seats} seats: name at least {spec.seats} bots"
        raise UserError("too few bots", len(spec.entrants), fix, key=("bots",))
    check_distinct(spec.entrants)
    if spec.games < 1 or spec.games % spec.seats:
        below = max(spec.games, 0) // spec.seats * spec.seats
        choice = f"{below} or {below + spec.seats}" if below else f"{spec.seats}"
        fix = f"a multiple of {spec.seats} is needed, since every deal is played from each seat; did you mean {choice}?"
        raise UserError("number of games", spec.games, fix, key=("games",))


def check_distinct(entrants: Sequence[Entrant]) -> None:
    """Raises UserError where one is there twice."""
    seen = set()
    for place, entrant in enumerate(entrants):
        if entrant.key in seen:
            fix = "name each bot once, or give one of them other options"
            raise UserError("the same bot twice", entrant.label, fix, key=("bots", place))
        seen.add(entrant.key)


def check_two_seats(spec: Spec, others: Sequence[str]) -> None:
    """Raises UserError where the game has more than two seats; names the formats that can play it."""
    if spec.seats != TWO_SEATS:
        fix = f"{spec.game} has {spec.seats} seats: choose {', '.join(others)}"
        raise UserError("a format for games of two seats", spec.format, fix, key=("format",))


def check_rounds(spec: Spec, most: int | None = None) -> int:
    """The number of rounds; raises UserError where it is none, or over the most that there can be."""
    rounds = spec.rounds
    if rounds is None or rounds < 1 or (most is not None and rounds > most):
        fix = "give 1 or more" if most is None else f"{len(spec.entrants)} bots can play 1 to {most} without a repeat"
        raise UserError("number of rounds", "none" if rounds is None else rounds, fix, key=("rounds",))
    return rounds
