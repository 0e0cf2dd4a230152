"""How a season ends: frozen, decided by a closing round-robin, archived."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

import pytest
from seasons import Season
from sqlalchemy import delete, update
from tournaments import play_on

from arena_server.model import Purpose, UserError
from arena_server.service.final_table import final_table
from arena_server.service.reading import StoreReader
from arena_server.store import Phase, Store, queries, registry, seasons
from arena_server.store.schedule import FrozenError
from arena_server.store.tables import AMENDMENT, ENTRANT, TOURNAMENT
from arena_server.store.verify import verify

OWNERS = ("Ada", "Bob", "Ada", "Cid", "Dot")


@pytest.fixture
def played(url: str) -> Iterator[Season]:
    """Five bots of four owners, some games over and some planned."""
    with Store.open(url) as store:
        for place, owner in enumerate(OWNERS):
            registry.add(store.database, f"bot{place}", "1.0", owner)
        season = Season(store, 5)
        season.plan(0, 1, 3)
        season.play()
        season.plan(2, 3, 4)
        season.play()
        season.plan(0, 1, 4)
        yield season


def found(season: Season) -> Phase:
    return queries.season(season.store, "SEASON").phase


def sound(season: Season, name: str) -> bool:
    report = verify(season.store, queries.tournament(season.store, name))
    return report.ok


def test_what_is_frozen_is_played_to_its_end_and_no_further(played: Season) -> None:
    assert found(played) is Phase.OPEN
    frozen = seasons.freeze(played.store.database, "season")
    assert (frozen.phase, frozen.ladder.spec.frozen) == (Phase.FROZEN, 9)
    assert seasons.freeze(played.store.database, "season") == frozen
    with pytest.raises(FrozenError):
        played.join(6)
    with pytest.raises(FrozenError):
        played.plan(0, 1, 2)
    with pytest.raises(FrozenError):
        played.store.withdraw(played.tournament, 1)
    assert played.check() == ()
    played.play()
    assert played.check() == ()
    assert queries.season(played.store, "season").progress.open == 0


def steps(season: Season) -> dict[str, Callable[[], object]]:
    database = season.store.database
    return {
        "close": lambda: seasons.close(database, "season"),
        "archive": lambda: seasons.archive(database, "season"),
        "archive without closing": lambda: seasons.archive(database, "season", without_closing=True),
    }


def test_steps_out_of_turn_are_refused_with_what_comes_before(played: Season) -> None:
    for step in steps(played).values():
        with pytest.raises(UserError, match="arena season freeze season"):
            step()
    seasons.freeze(played.store.database, "season")
    for step in steps(played).values():
        with pytest.raises(UserError, match="games that are not over"):
            step()
    played.play()
    with pytest.raises(UserError, match="arena season close season"):
        steps(played)["archive"]()
    steps(played)["close"]()
    with pytest.raises(UserError, match="is not over"):
        steps(played)["archive"]()
    for unknown in (seasons.freeze, seasons.close, seasons.archive):
        with pytest.raises(UserError, match="did you mean season"):
            unknown(played.store.database, "saeson")
        with pytest.raises(UserError, match="no such season"):
            unknown(played.store.database, "season-closing")


@pytest.fixture
def over(played: Season) -> Season:
    """Frozen, and its games over."""
    seasons.freeze(played.store.database, "season")
    played.play()
    return played


def test_a_closing_round_robin_decides(over: Season) -> None:
    store = over.store
    store.anchor(over.tournament, {"bot0": 50.0})
    closing = seasons.close(store.database, "season", games=6).closing
    assert closing is not None
    assert (closing.name, closing.spec.purpose, closing.spec.games) == ("season-closing", Purpose.CLOSING, 6)
    assert seasons.close(store.database, "season", top=3, games=3).closing == closing  # says what is there
    ladder = [row.entrant for row in store.standings(over.tournament)]
    assert list(closing.spec.entrants) == ladder
    assert queries.tournament(store).name == "season"
    play_on(store, closing.name)
    assert found(over) is Phase.CLOSED
    archived = seasons.archive(store.database, "season")
    assert archived.phase is Phase.ARCHIVED
    assert seasons.archive(store.database, "season", without_closing=True) == archived
    assert archived.ladder.secret
    assert sound(over, "season")
    assert sound(over, closing.name)
    pairs = {frozenset(pairing.entrants) for stage in store.pairings(closing) for pairing in stage.pairings}
    owner = {entrant.name: name for entrant, name in zip(over.tournament.spec.entrants, OWNERS, strict=True)}
    tables = {
        frozenset(table)
        for table in combinations(range(5), 3)
        if len({owner[closing.spec.entrants[place].name] for place in table}) == 3
    }
    assert pairs == tables
    table = final_table(StoreReader(store), archived)
    assert [row.rank for row in table] == [1, 2, 3, 4, 5]
    elo = [row.elo.value for row in table if row.elo]
    assert elo == sorted(elo, reverse=True)
    assert {row.elo.value for row in table if row.elo and row.ladder.entrant.name == "bot0"} == {50}
    assert [row.ladder.rank for row in table] != [1, 2, 3, 4, 5]


def test_who_plays_in_a_closing(over: Season) -> None:
    """Not who is retired or parked, nor an older version of a bot; of the others the best."""
    store = over.store
    best = [row.entrant.name for row in store.standings(over.tournament)]
    registry.retire(store.database, best[0], None)
    with store.database.write() as connection:
        connection.execute(update(ENTRANT).where(ENTRANT.c.name == best[1]).values(parked=1, parked_why="why"))
    closing = seasons.close(store.database, "season", top=3).closing
    assert closing is not None
    assert [one.name for one in closing.spec.entrants] == best[2:]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"top": 2}, "give --top 3"),
        ({"games": 5}, "number of games"),
        ({"games": 3000}, "too many games"),
    ],
)
def test_a_closing_that_cannot_be_played(over: Season, asked: dict[str, int], told: str) -> None:
    with pytest.raises(UserError, match=told):
        seasons.close(over.store.database, "season", **asked)
    assert found(over) is Phase.FROZEN


def test_owners_who_are_alone_need_no_closing(over: Season) -> None:
    for bot in ("bot1", "bot3", "bot4"):
        registry.retire(over.store.database, bot, None)
    with pytest.raises(UserError, match="too few bots"):
        seasons.close(over.store.database, "season")
    archived = seasons.archive(over.store.database, "season", without_closing=True)
    assert [row.rank for row in final_table(StoreReader(over.store), archived)] == [1, 2, 3, 4, 5]
    assert over.check() == ()


def test_a_taken_name(over: Season) -> None:
    over.store.enter(replace(over.tournament.spec, format="round-robin"), name="season-closing")
    closing = seasons.close(over.store.database, "season").closing
    assert closing is not None
    assert closing.name == "season-closing-2"


def test_verify_looks_at_the_end(over: Season) -> None:
    database = over.store.database
    other = over.store.enter(replace(over.tournament.spec, format="round-robin", late=()), name="other").tournament
    with database.write() as connection:
        connection.execute(update(TOURNAMENT).where(TOURNAMENT.c.name == "season").values(closing=other.id))
    assert any("no closing round-robin" in what for what in over.check())
    amendments = queries.tournament(over.store, "season").terms[1:]
    with database.write() as connection:
        connection.execute(update(AMENDMENT).values(contract='{"grows":{"frozen":6}}'))
    assert any("last game of what is frozen" in what for what in over.check())
    with database.write() as connection:
        connection.execute(delete(AMENDMENT).where(AMENDMENT.c.number == len(amendments)))
        connection.execute(update(TOURNAMENT).values(status="finished"))
    assert any("finished plan" in what for what in over.check())
