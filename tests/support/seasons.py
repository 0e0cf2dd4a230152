"""A season on a store, without a server: a stage is planned whenever a test says so."""

from __future__ import annotations

import random
from dataclasses import replace

from tournaments import Playing, entrants, tiny_spec

from arena_engine.game import find
from arena_server.formats import season
from arena_server.formats.matchmaking import Past
from arena_server.formats.season import Call, Here
from arena_server.model import Spec
from arena_server.store import Store, Tournament, queries
from arena_server.store.dealing import dealt
from arena_server.store.verify import verify


def spec(bots: int) -> Spec:
    return tiny_spec(bots, 3, format="season")


class Season:
    """A season that is played as the server does, a stage whenever the test says so."""

    def __init__(self, store: Store, bots: int) -> None:
        self.store = store
        self.lock = store.lock(store.enter(spec(bots), name="season").tournament)
        self.tournament: Tournament = self.lock.tournament
        self.past = Past()

    def plan(self, *present: int, room: int = 1, rules: int = max(season.RULES)) -> None:
        known, ratings = self.store.rated(self.tournament)
        call = Call(1, known, tuple(map(Here, present)), room, rules)
        pairings = season.pairings(self.tournament.spec, call, ratings, self.past)
        season.note(self.past, pairings, 1)
        before = self.store.pairings(self.tournament)
        terms = self.tournament.at(len(before) + 1)
        given = dealt(terms, find("tiny"), before, pairings)
        self.store.add_stage(self.tournament, len(before) + 1, pairings, given, call=call)

    def play(self, games: int | None = None, dice: random.Random | None = None) -> None:
        """Plays so many of the open games: the first ones, or any."""
        playing = Playing(self.store, self.lock, find("tiny"))
        open_games = playing.assignments()
        if dice is not None:
            dice.shuffle(open_games)
        self.store.record([playing.normal(one) for one in open_games[:games]])

    def join(self, bots: int) -> None:
        grown = replace(self.tournament.spec, entrants=entrants(bots), late=(), withdrawn=())
        self.tournament = self.store.extend(self.tournament, grown)

    def check(self) -> tuple[str, ...]:
        report = verify(self.store, queries.tournament(self.store, "season"))
        return tuple(problem.what for problem in report.problems)
