"""Seasons on a store: stages that are planned while others are played, and what verify makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import update
from tournaments import Playing, entrants, tiny_spec

from arena_engine.game import find
from arena_server.formats import Stage, season
from arena_server.formats.matchmaking import Past, Rules
from arena_server.formats.season import Call, Here
from arena_server.model import Spec, UserError
from arena_server.store import Store, Tournament, queries
from arena_server.store.dealing import dealt
from arena_server.store.tables import STAGE
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

    def play(self, games: int | None = None) -> None:
        playing = Playing(self.store, self.lock, find("tiny"))
        self.store.record([playing.normal(one) for one in playing.assignments()[:games]])

    def join(self, bots: int) -> None:
        grown = replace(self.tournament.spec, entrants=entrants(bots), late=(), withdrawn=())
        self.tournament = self.store.extend(self.tournament, grown)

    def check(self) -> tuple[str, ...]:
        report = verify(self.store, queries.tournament(self.store, "season"))
        return tuple(problem.what for problem in report.problems)


@pytest.fixture
def opened(url: str) -> Iterator[Season]:
    with Store.open(url) as store:
        season = Season(store, 5)
        season.plan(0, 1, 2, 3, 4)
        season.play()
        season.plan(0, 2, 3, 4)
        season.plan(0, 1, 2, 3, 4)  # while the stage before it is played
        season.play(4)
        season.join(7)
        season.plan(1, 4, 5, 6, room=2)
        season.play(3)
        season.plan(0, 2, 3, 4, 5)
        yield season


def test_stages_follow_from_who_was_there(opened: Season) -> None:
    assert opened.check() == ()
    opened.play()
    assert opened.check() == ()
    assert opened.store.progress(opened.tournament).open == 0
    assert opened.tournament.status != "finished"
    assert [len(stage.pairings) for stage in opened.store.pairings(opened.tournament)] == [1] * 5
    assert opened.store.past(opened.tournament) == (5, opened.past)


@pytest.mark.parametrize(
    "changed", [{"present": [[1, 0, 0], [3, 0, 0], [4, 0, 0]]}, {"known": 0, "present": [[3, 1, 0]] * 3}]
)
def test_another_call_gives_other_pairings(opened: Season, changed: dict[str, object]) -> None:
    with opened.store.database.write() as connection:
        connection.execute(update(STAGE).where(STAGE.c.number == 2).values(**changed))
    assert opened.check()


def test_stages_of_older_rules_are_planned_again_by_them(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules of no doubt at all choose the first that may meet; the newest ones do not."""
    monkeypatch.setattr(season, "RULES", {**season.RULES, 1: Rules(doubt=lambda _: 0.0)})
    with Store.open(url) as store:
        opened = Season(store, 5)
        for number in range(12):
            opened.plan(0, 1, 2, 3, 4, rules=1 + number // 6)
            opened.play()
        assert opened.check() == ()
        with store.database.write() as connection:
            connection.execute(update(STAGE).values(rules=2))
        assert opened.check()
        with store.database.write() as connection:
            connection.execute(update(STAGE).values(rules=99))
        assert opened.check()


def test_who_is_taken_out_and_comes_no_more(opened: Season) -> None:
    opened.play()
    opened.tournament = opened.store.withdraw(opened.tournament, 3)
    opened.plan(0, 1, 2)
    opened.play()
    assert opened.check() == ()
    with pytest.raises(UserError):
        opened.store.extend(opened.tournament, replace(opened.tournament.spec, games=6, late=(), withdrawn=()))


def test_a_season_may_begin_with_nobody(url: str) -> None:
    with Store.open(url) as store:
        season = Season(store, 0)
        assert season.check() == ()
        season.join(3)
        season.plan(0, 1, 2)
        season.play()
        assert season.check() == ()
        assert len(store.standings(season.tournament)) == 3
        assert isinstance(store.pairings(season.tournament)[0], Stage)


def test_one_server_a_database(url: str) -> None:
    with Store.open(url) as first, Store.open(url) as second:
        first.hold_site()
        with pytest.raises(UserError, match="has a server already"):
            second.hold_site()
        Season(second, 3)  # a tournament of another command goes on
    with Store.open(url) as third:
        third.hold_site()
