"""Seasons on a store: stages that are planned while others are played, and what verify makes of them."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seasons import Season
from sqlalchemy import update

from arena_server.formats import Stage, season
from arena_server.formats.matchmaking import Rules
from arena_server.model import UserError
from arena_server.store import Store
from arena_server.store.tables import STAGE


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


STEPS = st.lists(st.sampled_from(("plan", "plan", "play", "play two", "withdraw", "join")), max_size=14)


@settings(max_examples=60)
@given(steps=STEPS, dice=st.randoms(use_true_random=False))
def test_whatever_happens_it_is_sound(steps: list[str], dice: random.Random) -> None:
    """Who leaves may have open games of several stages, since a stage is planned while others are played."""
    with tempfile.TemporaryDirectory() as folder, Store.open(f"{folder}/arena.db") as store:
        opened = Season(store, 5)
        for step in steps:
            out = dict(opened.tournament.spec.withdrawn)
            present = [place for place in range(len(opened.tournament.spec.entrants)) if place not in out]
            if step == "plan" and len(present) >= 3:
                opened.plan(*dice.sample(present, dice.randint(3, len(present))), room=dice.randint(1, 2))
            elif step == "withdraw" and present:
                opened.tournament = store.withdraw(opened.tournament, dice.choice(present))
            elif step == "join":
                opened.join(len(opened.tournament.spec.entrants) + 1)
            else:
                opened.play(2 if step == "play two" else None, dice)
            assert opened.check() == (), step


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
