"""An executor that plays on paper, and a watcher that notes what it is told."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from simulation import Simulation

from arena_engine.game import Game
from arena_server.coordinator import Snapshot
from arena_server.executors import Running
from arena_server.model import Assignment, Ending, Result
from arena_server.referee.events import Ask, Event, NotSeated, Replied


class Paper:
    """An executor whose games take a random while and end as a rule says."""

    def __init__(
        self, game: Game, capacity: int, rule: Callable[[Assignment], Ending] = lambda _: Ending.NORMAL
    ) -> None:
        self.game = game
        self.capacity = capacity
        self.rule = rule
        self.playing: Counter[bool] = Counter()
        self.most = 0
        self.beside_alone = 0
        self.given: list[tuple[int, int]] = []
        self.dice = random.Random(1)

    def running(self) -> list[Running]:
        return []

    async def play(self, assignment: Assignment) -> Result:
        self.given.append((assignment.planned.number, assignment.token.attempt))
        self.playing[assignment.alone] += 1
        self.most = max(self.most, self.playing.total())
        if self.playing[True]:
            self.beside_alone = max(self.beside_alone, self.playing.total() - 1)
        try:
            await asyncio.sleep(self.dice.random() / 200)
            return self.result(assignment)
        finally:
            self.playing[assignment.alone] -= 1

    def result(self, assignment: Assignment) -> Result:
        ending = self.rule(assignment)
        letters = assignment.planned.letters
        seat = letters[assignment.planned.seats.index(0)] if ending is Ending.START_FAILURE else ""
        starts: dict[str, list[tuple[float, Event]]] = {seat: [(0.0, NotSeated(seat, "no"))]} if seat else {}
        simulation = Simulation(self.game, assignment, dict.fromkeys(letters, seeded), starts)
        result = simulation.run()
        if ending is Ending.VOID:
            return replace(result, ending=Ending.VOID, outcome=None, reason="on paper")
        return result


def seeded(simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
    seed = simulation.assignment.seeds["abc".index(ask.seat)]
    moves = simulation.match.state.legal_moves(ask.seat)
    return [(0.01, Replied(ask.seat, ask.ply, str(random.Random(seed + ask.ply).choice(moves))))]


class Watcher:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.results: list[Result] = []
        self.last: Snapshot | None = None

    def stands(self, snapshot: Snapshot) -> None:
        self.last = snapshot

    def ended(self, result: Result) -> None:
        self.results.append(result)

    def notes(self, line: str) -> None:
        self.lines.append(line)
