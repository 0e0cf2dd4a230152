"""Challenges: who may challenge whom, for how many games, and how many may be open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import Barrier

import pytest

from arena_server.model import Entrant, Purpose, Spec, TimeControl, UserError
from arena_server.store import Store, queries, registry, tournaments
from arena_server.store.challenges import MAX_OPEN_OF_A_BOT, challenge
from arena_server.store.verify import verify

HOUSE = (
    Entrant("mcts", "0.3", "d" * 64, (("playouts", 50),)),
    Entrant("mcts", "0.3", "d" * 64, (("playouts", 200),)),
)
SEASON = Spec(
    HOUSE, format="season", games=2, deals=(("edition", "revised"),), time_control=TimeControl(limit_us=7_000_000)
)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """A server has played a season with house bots there; Ada, bob and eve are registered, and old, who is retired."""
    with Store.open(url) as opened:
        registry.add_house(opened.database, HOUSE)
        for bot in ("Ada", "bob", "eve", "old"):
            registry.add(opened.database, bot, "1", "Ada")
        registry.retire(opened.database, "old", None)
        with opened.lock(opened.enter(SEASON, name="2027").tournament) as lock:
            opened.begin_run(lock.tournament, {"house": [one.as_dict() for one in HOUSE]})
        yield opened


def test_it_is_a_match_by_the_rules_of_the_season(store: Store) -> None:
    made = challenge(store.database, ["ADA", "bob 1"], 4)
    assert (made.name, made.spec.format, made.spec.games) == ("challenge-1", "match", 4)
    assert made.spec.entrants == (Entrant("Ada", "1", ""), Entrant("bob", "1", ""))
    assert (made.spec.deals, made.spec.time_control) == (SEASON.deals, SEASON.time_control)
    assert challenge(store.database, ["ada", "bob"], 4).name == "challenge-2"  # once more
    assert verify(store, made).ok


def test_it_is_no_default_of_anything(store: Store) -> None:
    made = challenge(store.database, ["ada", "bob"], 4)
    assert queries.tournament(store).name == "2027"
    assert [one.name for one in queries.tournaments(store)] == ["2027"]
    assert [one.name for one in queries.tournaments(store, purpose=Purpose.CHALLENGE)] == [made.name]
    assert queries.tournament(store, "CHALLENGE-1").name == made.name
    assert queries.served(store) == {"2027", "challenge-1"}
    assert [event.name for event in store.side_events()] == [made.name]


def test_the_newest_version_plays_unless_another_is_named(store: Store) -> None:
    registry.add(store.database, "ada", "2", "Ada")
    assert challenge(store.database, ["ada", "bob"], 2).spec.labels == ("Ada 2", "bob 1")
    assert challenge(store.database, ["ada 1", "ada 2"], 2).spec.labels == ("Ada 1", "Ada 2")
    registry.retire(store.database, "ada", "2")
    assert challenge(store.database, ["ada", "bob"], 2).spec.labels == ("Ada 1", "bob 1")


def test_house_bots_are_those_of_the_server_that_ran_last(store: Store) -> None:
    made = challenge(store.database, ["mcts 0.3 playouts=200", "ada"], 2)
    assert made.spec.entrants[0] == HOUSE[1]
    with store.lock(queries.tournament(store)) as lock:
        store.begin_run(lock.tournament, {"house": []})
    with pytest.raises(UserError, match="does not launch this bot"):
        challenge(store.database, ["mcts", "ada"], 2)


@pytest.mark.parametrize(
    ("bots", "games", "told"),
    [
        (["ada", "nobody"], 2, "no such bot is registered"),
        (["ada", "bob 2"], 2, "bob has no such version"),
        (["ada", "old 1"], 2, "this version of old is retired"),
        (["ada", "old"], 2, "every version of old is retired"),
        (["ada", "mcts"], 2, "one of several.*mcts 0.3 playouts=50, mcts 0.3 playouts=200"),
        (["ada", "ADA 1"], 2, "the same bot twice"),
        (["ada"], 2, "too few bots"),
        (["ada", "bob", "eve"], 2, "a match is between 2 bots"),
        (["ada", "bob"], 3, "did you mean 2 or 4"),
        (["ada", "bob"], 0, "number of games"),
        (["ada", "bob"], 102, "a challenge has 100 at most"),
    ],
)
def test_what_cannot_be_played_is_refused(store: Store, bots: list[str], games: int, told: str) -> None:
    with pytest.raises(UserError, match=told):
        challenge(store.database, bots, games)
    assert store.side_events() == []


def test_without_a_season_there_are_no_rules(url: str) -> None:
    with Store.open(url) as empty, pytest.raises(UserError, match="no season was played here"):
        challenge(empty.database, ["ada", "bob"], 2)


def test_many_challenges_at_once_keep_to_names_and_quotas(store: Store) -> None:
    begin = Barrier(8)

    def ask(_number: int) -> str:
        begin.wait()
        try:
            return challenge(store.database, ["ada", "bob"], 2).name
        except UserError as error:
            return error.what

    with ThreadPoolExecutor(8) as threads:
        told = Counter(threads.map(ask, range(8)))
    made = {f"challenge-{number}": 1 for number in range(1, MAX_OPEN_OF_A_BOT + 1)}
    refused = {
        name: told.pop(name, 0) for name in (f"{bot} has {MAX_OPEN_OF_A_BOT} open challenges" for bot in ("Ada", "bob"))
    }
    assert told == made
    assert sum(refused.values()) == 8 - MAX_OPEN_OF_A_BOT


def test_a_name_that_a_command_takes_at_the_same_moment(store: Store) -> None:
    with ThreadPoolExecutor(1) as thread:
        with store.database.write() as connection:
            tournaments.create(connection, SEASON, "challenge-1")
            asked = thread.submit(challenge, store.database, ["ada", "bob"], 2)
            with suppress(TimeoutError):
                asked.result(0.3)  # it waits for what becomes of that one
        assert asked.result().name == "challenge-2"


def test_what_is_over_counts_no_more(store: Store) -> None:
    made = [challenge(store.database, ["ada", "bob"], 2) for _ in range(MAX_OPEN_OF_A_BOT)]
    with pytest.raises(UserError, match=f"bob has {MAX_OPEN_OF_A_BOT} open challenges"):
        challenge(store.database, ["eve", "bob"], 2)
    with store.lock(made[0]) as lock:
        held = store.call_off(lock.tournament, "bob 1 was not there")
    assert (held.status, held.called_off) == ("finished", "bob 1 was not there")
    assert verify(store, held).ok
    assert challenge(store.database, ["eve", "bob"], 2).name == f"challenge-{MAX_OPEN_OF_A_BOT + 1}"


def test_many_are_locked_at_once_and_the_store_still_works(store: Store) -> None:
    """On PostgreSQL each lock is a connection of the pool."""
    for number in range(24):
        made = store.enter(replace(SEASON, format="match", seed=str(number)), name=f"match{number}").tournament
        store.lock(made)
    assert len(queries.tournaments(store)) == 25
