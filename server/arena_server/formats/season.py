"""A season: open-ended, played by a standing server. Whenever somebody is free, a stage is planned, while others go on.

Who is free does not follow from the contract: it is recorded with the stage as its ``Call``. From the call, the results
up to the game that it names, and the stages before it, the pairings follow, so that they can be verified.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena_server.formats import matchmaking
from arena_server.formats.matchmaking import Past, Strengths
from arena_server.formats.stage import Stage
from arena_server.formats.tables import dealt
from arena_server.model import Pairing, Spec, UserError

RULES: Mapping[int, matchmaking.Rules] = {
    1: matchmaking.Rules(doubt=math.erfc),  # whose last bit is another one on another machine
    2: matchmaking.Rules(),
}
"""By number: stages are planned by the last ones, and planned again by those of their time."""


@dataclass(frozen=True, slots=True)
class Here:
    """An entrant that is there.

    Attributes:
        entrant: its index.
        owner: number of its owner; 0: nobody's.
        busy: whether it cannot begin a game now.
    """

    entrant: int
    owner: int = matchmaking.NOBODY
    busy: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """What a stage is planned upon.

    Attributes:
        day: of the planning, in days since 1970, UTC; never less than that of the stage before.
        known: number of the last game that was rated then.
        present: who was there, by index.
        room: how many tables can be seated at most.
        rules: number of the rules that it is planned by.
    """

    day: int
    known: int
    present: tuple[Here, ...]
    room: int = 1
    rules: int = max(RULES)


def active(spec: Spec) -> frozenset[int]:
    """The entrants, by index, that are paired: of each bot the version that was entered last and is not withdrawn."""
    return spec.newest


def pairings(spec: Spec, call: Call, ratings: Strengths, past: Past) -> tuple[Pairing, ...]:
    """The next stage; none where nobody may meet.

    Args:
        spec: of the season.
        call: who may play.
        ratings: mean of each entrant that is there, by index, after the games that the call knows.
        past: all stages so far.
    """
    moment = matchmaking.Call(
        owners={one.entrant: one.owner for one in call.present},
        strengths=ratings,
        day=call.day,
        room=call.room,
        busy=frozenset(one.entrant for one in call.present if one.busy),
        seats=spec.seats,
    )
    return dealt(spec, matchmaking.tables(moment, past, RULES[call.rules])) if call.rules in RULES else ()


def note(past: Past, planned: Iterable[Pairing], day: int) -> None:
    """Takes a stage into account."""
    past.add([pairing.entrants for pairing in planned], day)


def plan(spec: Spec, _closed: Sequence[Stage]) -> None:
    """Raises UserError: nobody but a server knows who is there."""
    raise UserError("a season is played by a server", repr(spec.format), "see `arena serve`", key=("format",))
