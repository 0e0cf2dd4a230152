"""Tournaments on a store, without a referee: games are played by the engine, with random moves."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena_engine import deals
from arena_engine.game import Game, find
from arena_server.formats import plan
from arena_server.model import Assignment, Ending, Entrant, Failure, PlannedGame, Played, Result, Spec, Token
from arena_server.store import Lock, Store, Tournament, queries
from arena_server.store.dealing import dealt


def entrants(count: int) -> tuple[Entrant, ...]:
    return tuple(Entrant(f"bot{index}", "1.0", f"{index:064x}", (("c", 1.5),)) for index in range(count))


def tiny_spec(bots: int = 3, games: int = 6, **more: Any) -> Spec:
    """The game of three seats at once, with draws."""
    plain: dict[str, Any] = {"game": "tiny", "seats": 3, "draw_probability": 0.2, "seed": "7"}
    return Spec(entrants(bots), games=games, **{**plain, **more})


def versions_spec() -> Spec:
    """A season of two versions of one bot, another's two of which the later is to be withdrawn, and a third bot."""
    versions = (("ada", "1"), ("bob", "1"), ("eve", "1"), ("ADA", "2"), ("eve", "2"))
    return replace(patchwork_spec(), entrants=tuple(Entrant(*one, "") for one in versions), format="season")


def patchwork_spec(bots: int = 3, games: int = 4, **more: Any) -> Spec:
    return Spec(entrants(bots), games=games, **{"deals": (("edition", "original"),), "seed": "7", **more})


@dataclass
class Playing:
    """A tournament that is being played, its first stage planned."""

    store: Store
    lock: Lock
    game: Game

    @property
    def tournament(self) -> Tournament:
        return self.lock.tournament

    @property
    def spec(self) -> Spec:
        return self.tournament.spec

    def assignments(self) -> list[Assignment]:
        """Every open game under its next token."""
        return [self.assign(planned, voids) for planned, voids in self.store.open_games(self.tournament)]

    def assign(self, planned: PlannedGame, voids: int = 0) -> Assignment:
        secret = self.tournament.at(planned.stage).secret
        seeds = tuple(deals.bot_seed(secret, planned.number, seat) for seat in planned.letters)
        return Assignment(planned, Token(self.tournament.epoch, voids + 1), self.spec, seeds)

    def results(self) -> list[Result]:
        """One for each open game; every eighth is a forfeit."""
        return [self.forfeit(one) if one.planned.number % 8 == 0 else self.normal(one) for one in self.assignments()]

    def normal(self, assignment: Assignment) -> Result:
        return self._play(assignment, plies=1000)

    def forfeit(
        self, assignment: Assignment, seats: Sequence[str] = "a", ending: Ending = Ending.TIMEOUT, plies: int = 2
    ) -> Result:
        result = self._play(assignment, plies=plies)
        state = self.game.state(result.position)
        failures = tuple(
            Failure(seat, ending, plies, "too slow", 151_000, 1_000, None, state.text, "") for seat in seats
        )
        return replace(result, ending=ending, outcome=self.game.forfeit(state, list(seats)), failures=failures)

    def void(self, assignment: Assignment) -> Result:
        return replace(self._play(assignment, plies=1), ending=Ending.VOID, outcome=None, reason="stalled")

    def _play(self, assignment: Assignment, plies: int) -> Result:
        planned = assignment.planned
        dice = random.Random(assignment.seeds[0])
        state = self.game.start(planned.deal, len(planned.seats))
        moves: list[Played] = []
        ply = 0
        while not state.is_over and ply < plies:
            chosen = {seat: dice.choice(state.legal_moves(seat)) for seat in state.to_move}
            moves += [Played(ply, seat, str(move), 1000 + ply, 0, 900) for seat, move in chosen.items()]
            state = state.play(chosen)
            ply += 1
        outcome = state.outcome if state.is_over else None
        return Result(
            assignment, Ending.NORMAL, outcome, tuple(moves), (), state.text, "2026-11-30T00:00:00+00:00", 1_000_000
        )


def begin(store: Store, spec: Spec, *, name: str | None = None) -> Playing:
    """Enters a spec, takes its lock and plans its first stage."""
    return go_on(store, store.lock(store.enter(spec, name=name).tournament))


def go_on(store: Store, lock: Lock) -> Playing:
    """Plans the next stage of a locked tournament, where no game is open and the format plans on."""
    tournament = lock.tournament
    game = find(tournament.spec.game)
    closed = store.closed_stages(tournament)
    pairings = None if store.open_games(tournament) else plan(tournament.spec, closed)
    if pairings:
        number = len(closed) + 1
        store.add_stage(tournament, number, pairings, dealt(tournament.at(number), game, closed, pairings))
    return Playing(store, lock, game)


def play_on(store: Store, name: str) -> Tournament:
    """Plays a tournament to its end, as the coordinator would."""
    with store.lock(queries.tournament(store, name)) as lock:
        while (playing := go_on(store, lock)).assignments():
            store.record(playing.results())
        store.finish(playing.tournament)
    return queries.tournament(store, name)
