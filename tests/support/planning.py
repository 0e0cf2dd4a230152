"""Tournaments on paper: a format plans, a rule says how each game ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena_engine.game import Outcome
from arena_server.formats import Counted, Stage, plan
from arena_server.model import Entrant, Spec
from arena_server.store.schedule import planned_games

Rule = Callable[[tuple[int, ...]], Outcome | None]
"""How a game of these entrants, in seat order, ends; None: it does not count."""


def spec(bots: int, games: int, seats: int = 2, **more: Any) -> Spec:
    return Spec(tuple(Entrant(f"bot{n}", "1", "00") for n in range(bots)), games=games, seats=seats, **more)


@dataclass
class Played:
    """A tournament played to its end."""

    stages: list[Stage] = field(default_factory=list)

    @property
    def seatings(self) -> list[tuple[int, ...]]:
        """The seats of every planned game."""
        return [seats for stage in self.stages for pairing in stage.pairings for seats in pairing.rotations()]

    @property
    def rounds(self) -> list[list[frozenset[int]]]:
        """Who met, stage by stage."""
        return [[frozenset(meeting.entrants) for meeting in stage.meetings()] for stage in self.stages]


def play(of: Spec, rule: Rule, most: int = 500) -> Played:
    """Plays until the plan is done; fails after so many stages."""
    played = Played()
    while (pairings := plan(of, played.stages)) is not None:
        assert pairings, "a stage of no games never closes"
        assert plan(of, tuple(played.stages)) == pairings
        number = len(played.stages) + 1
        assert number <= most, "it does not end"
        games = planned_games("paper", number, pairings, [{}] * len(pairings), (1, 1))
        played.stages.append(Stage.of(number, [(game, counted(game.seats, rule)) for game in games]))
    return played


def counted(seats: tuple[int, ...], rule: Rule) -> Counted | None:
    outcome = rule(seats)
    return None if outcome is None else Counted(seats, outcome, (False,) * len(seats))


def by_score(scores: Sequence[int]) -> Outcome:
    """The more points, the better the rank."""
    return Outcome(tuple(1 + sum(other > score for other in scores) for score in scores), tuple(scores))


def first_wins(seats: tuple[int, ...]) -> Outcome:
    """The earlier entry always wins."""
    return by_score([-entrant for entrant in seats])


def drawn(seats: tuple[int, ...]) -> Outcome:
    return by_score([0] * len(seats))
