"""Games before they are played: paired, planned, given out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena_engine.game import SEATS
from arena_server.model.entrants import Entrant
from arena_server.model.spec import Spec


@dataclass(frozen=True, slots=True)
class Pairing:
    """Entrants who meet over one deal, once with every rotation of the seats.

    Attributes:
        entrants: their indices in the spec, in seat order of the first game.
    """

    entrants: tuple[int, ...]

    def rotations(self) -> list[tuple[int, ...]]:
        """The seatings of its games."""
        return [self.entrants[shift:] + self.entrants[:shift] for shift in range(len(self.entrants))]


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """A game of the schedule.

    Attributes:
        number: place in the schedule order, from 1.
        pairing: number of its pairing in the tournament, from 1; names the deal.
        seats: the entrants' indices in the spec, in seat order.
    """

    tournament: str
    number: int
    stage: int
    pairing: int
    seats: tuple[int, ...]
    deal: Mapping[str, str]

    @property
    def letters(self) -> str:
        """The seat letters of this game."""
        return SEATS[: len(self.seats)]


@dataclass(frozen=True, slots=True)
class Token:
    """Under which a game is given out; a result under another one is refused (design, the way of one game, 2)."""

    epoch: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """A planned game as it is given out to be played.

    Attributes:
        entrants: who sits there, in seat order.
        seeds: each seat's own seed, in seat order.
        alone: whether no other game may run beside it (a retry after a stall).
        anonymous: whether bots are not told whom they play.
        trial: whether it only tests a bot: it belongs to no tournament and goes on no record.
    """

    planned: PlannedGame
    token: Token
    spec: Spec
    seeds: tuple[int, ...]
    alone: bool = False
    anonymous: bool = False
    trial: bool = False

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """Who sits there, in seat order."""
        return tuple(self.spec.entrants[index] for index in self.planned.seats)

    @property
    def labels(self) -> tuple[str, ...]:
        """What people call those who sit there, in seat order."""
        known = self.spec.labels
        return tuple(known[index] for index in self.planned.seats)

    @property
    def game_id(self) -> str:
        """The game's public id."""
        return f"{self.planned.tournament}/{self.planned.number}"
