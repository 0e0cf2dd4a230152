"""A match under a simulated clock: scripted bots instead of processes, so that thousands of games run in seconds."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from arena_engine import deals
from arena_engine.game import Game
from arena_server.model import Assignment, Entrant, PlannedGame, Result, Spec, TimeControl, Token
from arena_server.referee.clocks import Now
from arena_server.referee.events import Ask, Begin, Effect, Event, Over, Ready, Seated, Ticked
from arena_server.referee.match import Match

MARGIN_US = 50_000
START_LIMIT = 30.0

Script = Callable[["Simulation", Ask], list[tuple[float, Event]]]
"""What happens after a request: delays in seconds, and events."""


def assignment(game: Game, control: str, seats: int = 2) -> Assignment:
    """An assignment of bots that exist on paper only."""
    entrants = tuple(Entrant(f"bot{index}", "1", "0" * 64) for index in range(seats))
    options = game.options({})
    spec = Spec(
        entrants, game.name, game.rules, seats, tuple(sorted(options.items())), time_control=TimeControl.parse(control)
    )
    deal = game.deal(options, seats, deals.shuffler(b"secret", game.name, 1))
    planned = PlannedGame("paper", 1, 1, 1, tuple(range(seats)), deal)
    return Assignment(planned, Token(1, 1), spec, tuple(range(seats)))


@dataclass
class Simulation:
    """Runs one match to its end.

    Attributes:
        scripts: what each seat does when asked.
        starts: what happens instead of getting seated and ready, by seat.
        asks: every request, in order, with the instant it went out.
    """

    game: Game
    assignment: Assignment
    scripts: dict[str, Script]
    starts: dict[str, list[tuple[float, Event]]] = field(default_factory=dict)
    at: float = 100.0
    stalled: float = 0.0
    asks: list[tuple[float, Ask]] = field(default_factory=list)
    begins: list[Begin] = field(default_factory=list)
    overs: list[Result] = field(default_factory=list)

    def run(self, limit: float = 10_000.0) -> Result:
        """Until the match is over and for a while on; fails if that takes over `limit` simulated seconds."""
        margins = (MARGIN_US,) * len(self.assignment.planned.seats)
        self.match = Match(self.assignment, self.game, margins, "2026-11-30T00:00:00+00:00", self.now())
        self._queue: list[tuple[float, int, Event]] = []
        self._order = itertools.count()
        for seat in self.assignment.planned.letters:
            usual: list[tuple[float, Event]] = [(0.1, Seated(seat, self.at + START_LIMIT)), (0.2, Ready(seat))]
            self._schedule(self.starts.get(seat, usual))
        end = self.at + limit
        while self._step():
            assert self.at < end, "the match does not end"
        assert self.match.result is not None, "nothing more happens, and the match is not over"
        return self.match.result

    def now(self) -> Now:
        return Now(self.at, self.stalled)

    def stall(self, seconds: float) -> None:
        """The referee itself stands still."""
        self.at += seconds
        self.stalled += seconds

    def _step(self) -> bool:
        alarm = self.match.alarm()
        if self._queue and (alarm is None or self._queue[0][0] <= alarm):
            at, _, event = heapq.heappop(self._queue)
        elif alarm is not None:
            at, event = alarm, Ticked()
        else:
            return False
        self.at = max(self.at, at)
        self._do(self.match.on(event, self.now()))
        return True

    def _do(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Ask():
                    self.asks.append((self.at, effect))
                    self.match.asked(effect.seat, self.now(), 0)
                    self._schedule(self.scripts[effect.seat](self, effect))
                case Begin():
                    self.begins.append(effect)
                case Over(result=result):
                    self.overs.append(result)

    def _schedule(self, happenings: list[tuple[float, Event]]) -> None:
        for delay, event in happenings:
            heapq.heappush(self._queue, (self.at + delay, next(self._order), event))
