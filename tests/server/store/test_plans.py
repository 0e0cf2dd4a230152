"""No query reads games by their number: each seeks in an index, or walks one as far as its page goes.

Outside stand the tables of formats that have their own (they need every stage), and fits, which bound the number of
games themselves; of a coordinator, what it asks once when it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event
from tournaments import Playing, begin, patchwork_spec, tiny_spec

from arena_engine.game import find
from arena_server.formats.season import Call, Here
from arena_server.model import Ending, Pairing, Purpose, UserError
from arena_server.service.reading import StoreReader
from arena_server.store import Lock, Store, queries, seasons
from arena_server.store.lists import Choice
from arena_server.store.schedule import planned_games
from arena_server.store.standings import Key
from arena_server.store.tables import TOURNAMENT

CHOICES = [
    Choice(),
    Choice(bot="bot1"),
    Choice(bot="bot1", opponent="bot2"),
    Choice(opponent="bot2"),
    Choice(ending=Ending.TIMEOUT),
    Choice(stage=1),
    Choice(stage=1, ending=Ending.TIMEOUT),
]
LARGE = r"(?:game|seat|me|other|attempt)"


@pytest.fixture
def asked(url: str) -> Iterator[tuple[Store, list[tuple[str, Any]]]]:
    """A store, and the statements that every query made."""
    with Store.open(url) as store:
        with (playing := begin(store, patchwork_spec(4, 4), name="nightly")).lock:
            store.record(playing.results()[:-3])
        with statements(store) as seen:
            ask(store)
            coordinate(store)
        yield store, seen


@contextmanager
def statements(store: Store) -> Iterator[list[tuple[str, Any]]]:
    seen: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        if statement.startswith("SELECT"):
            seen.append((statement, parameters))

    event.listen(store.database.engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(store.database.engine, "before_cursor_execute", note)


def ask(store: Store) -> None:
    reader, held = StoreReader(store), queries.tournament(store, "nightly")
    reader.tournaments()
    reader.leaderboard(None)
    reader.table(held)
    reader.crosstable(None)
    reader.game("last")
    reader.game("nightly/3")
    queries.find_game(store, "nig/3.1")
    queries.leaderboard(store, held, after=Key(25.0, 8.0, 1), limit=2)
    queries.tournaments(store, before=held, limit=2)
    queries.history(store, held, 1, before=9, limit=3)
    for choice in CHOICES:
        assert queries.page(store, held, choice, after=2, limit=3).games
        for watchable in ((), (1, 2)):
            assert queries.page(store, held, choice, after=2, limit=3, watchable=watchable).games
    assert queries.shows(store, held, 1)
    assert not queries.shows(store, held, held.planned, [1, 2])


def coordinate(store: Store) -> None:
    """What a server does again and again while a season goes on."""
    with store.lock(store.enter(tiny_spec(4, 3, format="season"), name="season").tournament) as lock:
        season = Season(store, lock)
        season.plan(0, 1, 2)
        season.fail(0)
        season.plan(1, 2, 3)
        season.play()
        store.rated(lock.tournament)
        store.standings(lock.tournament)
        store.progress(lock.tournament)
        store.note_waits(lock.tournament, {})
        store.side_events()
        seasons.phase(store.database, lock.tournament)
        store.withdraw(store.extend(lock.tournament, tiny_spec(5, 3, format="season")), 0)


class Season(Playing):
    """One whose stages a test plans, a pairing each."""

    def __init__(self, store: Store, lock: Lock) -> None:
        super().__init__(store, lock, find("tiny"))
        self._numbers = count(1)

    def plan(self, *seats: int) -> None:
        number, pairings, deals = next(self._numbers), [Pairing(seats)], [{"order": "abc"}]
        self.store.add_stage(self.tournament, number, pairings, deals, call=Call(1, 0, tuple(map(Here, seats))))
        planned = planned_games("season", number, pairings, deals, (number, (number - 1) * len(seats) + 1))
        self.open = [self.assign(one) for one in planned]

    def play(self) -> None:
        self.store.record([self.normal(one) for one in self.open])

    def fail(self, entrant: int) -> None:
        """It does not start in any open game: after three of them it is parked."""
        opened = [(one, one.planned.letters[one.planned.seats.index(entrant)]) for one in self.open]
        self.store.record([self.forfeit(one, seat, Ending.START_FAILURE, plies=0) for one, seat in opened])


def test_no_query_reads_games_by_their_number(asked: tuple[Store, list[tuple[str, Any]]]) -> None:
    store, seen = asked
    assert len(seen) > 30
    plan = sqlite_faults if store.database.is_sqlite else postgres_faults
    with store.database.read() as connection:
        faults = [
            (statement, fault) for statement, asked_for in seen for fault in plan(connection, statement, asked_for)
        ]
    assert not faults, "\n\n".join(f"{fault}\n{statement}" for statement, fault in faults)


def sqlite_faults(connection: Any, statement: str, parameters: Any) -> list[str]:
    """Steps that walk a large table: without an index, or within a tournament without an end."""
    rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
    steps = [row[-1] for row in rows]
    if re.match(r"SELECT (?:coalesce\()?(?:min|max)\([^()]*\)[^()]*\)? AS \w+\s+FROM game\s", statement):
        return []  # it looks at the end of an index alone
    ordered = "LIMIT" in statement and not any("TEMP B-TREE" in step for step in steps)
    return [step for step in steps if re.match(rf"SCAN {LARGE}\b", step) or (_is_endless(step) and not ordered)]


def _is_endless(step: str) -> bool:
    found = re.match(rf"SEARCH {LARGE}\b.*\((?P<terms>[^)]*)\)", step)
    return found is not None and "AND" not in found["terms"]


def postgres_faults(connection: Any, statement: str, parameters: Any) -> list[str]:
    """Likewise; small tables are walked whatever there is, so that is made dear."""
    connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
    connection.exec_driver_sql("SET LOCAL enable_bitmapscan = off")
    rows = connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).all()
    return [row[0] for row in rows if re.search(rf"Seq Scan on {LARGE}\b", row[0])]


def test_no_query_walks_over_challenges(url: str) -> None:
    """Anybody with a token adds to them."""
    with Store.open(url) as store:
        begin(store, patchwork_spec(2, 2), name="nightly").lock.release()
        with store.database.write() as connection:
            add_challenges(connection, 3000)
        with statements(store) as seen:
            assert queries.tournament(store).name == "nightly"
            assert [held.name for held in queries.tournaments(store, limit=2)] == ["nightly"]
            assert queries.find_game(store, "NIGHTLY/1").id == "nightly/1"
            with pytest.raises(UserError, match="did you mean nightly"):
                queries.tournament(store, "nigthly")
            assert store.side_events() == []
        with store.database.read() as connection:
            plans = {statement: plan(connection, statement, asked_for) for statement, asked_for in seen}
    walk = r"SCAN tournament\b|Seq Scan on tournament\b|Scan Backward using tournament_pkey"
    assert len(plans) == 5
    assert not {statement: steps for statement, steps in plans.items() if re.search(walk, "\n".join(steps))}


def add_challenges(connection: Connection, number: int) -> None:
    """Finished ones, newer than all others."""
    these = {
        "name": "'challenge-' || i",
        "name_key": "'challenge-' || i",
        "purpose": "'challenge'",
        "status": "'finished'",
    }
    others = [column.name for column in TOURNAMENT.c if column.name not in {*these, "id"}]
    connection.exec_driver_sql(
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {number}) "
        f"INSERT INTO tournament ({', '.join([*these, *others])}) "
        f"SELECT {', '.join([*these.values(), *others])} FROM tournament, n"
    )
    if connection.dialect.name == "postgresql":  # as it does by itself; nobody does for SQLite
        connection.exec_driver_sql("ANALYZE")


def plan(connection: Connection, statement: str, parameters: Any) -> list[str]:
    explain = "EXPLAIN QUERY PLAN" if connection.dialect.name == "sqlite" else "EXPLAIN"
    return [row[-1] for row in connection.exec_driver_sql(f"{explain} {statement}", parameters)]


def test_games_that_are_hidden_cost_no_reader_anything(tmp_path: Path) -> None:
    """A closing plans all of its games at once: it costs the same in steps of the database, however many they are."""
    few, many = (hidden_steps(str(tmp_path / f"{bots}.db"), bots) for bots in (8, 40))
    assert many < 2 * few, (few, many)


def hidden_steps(url: str, bots: int) -> int:
    """Hundreds of steps that readers of a closing's first games take."""
    steps = count()

    def note(_connection: object, cursor: Any, *_: object) -> None:
        cursor.connection.set_progress_handler(lambda: next(steps) and 0, 100)

    with Store.open(url) as store:
        playing = begin(store, patchwork_spec(bots, 10, beside=Purpose.CLOSING), name="closing")
        with playing.lock:
            store.record([playing.normal(one) for one in playing.assignments()[:7]])
        held = queries.tournament(store, "closing")
        event.listen(store.database.engine, "before_cursor_execute", note)
        assert [game.number for game in queries.page(store, held, Choice(), watchable=()).games] == [1, 2, 3, 4, 5, 6]
        assert queries.shows(store, held, 6)
        assert not queries.shows(store, held, 7)
        return next(steps)


def test_a_walk_would_be_seen(url: str) -> None:
    with Store.open(url) as store:
        plan = sqlite_faults if store.database.is_sqlite else postgres_faults
        with store.database.read() as connection:
            nothing: Any = () if store.database.is_sqlite else {}
            assert plan(connection, "SELECT number FROM game WHERE plies = 3", nothing)
            if store.database.is_sqlite:
                assert plan(connection, "SELECT sum(plies) FROM game WHERE tournament_id = 1", nothing)


def test_a_stage_costs_as_much_however_long_the_season_and_the_careers_of_those_who_are_parked(store: Store) -> None:
    with store.lock(store.enter(tiny_spec(5, 3, format="season"), name="season").tournament) as lock:
        season = Season(store, lock)
        season.plan(0, 1, 2)
        season.fail(0)
        with work(store) as early:
            season.plan(1, 2, 3)
        for _ in range(50):
            season.play()
            season.plan(1, 2, 3)
        season.fail(1)
        assert [one.position for one in store.standings(lock.tournament) if one.parked] == [1, 0]
        with work(store) as late:
            season.plan(2, 3, 4)
    assert sum(late) < 1.5 * sum(early)


@contextmanager
def work(store: Store) -> Iterator[list[int]]:
    """Tens of steps that SQLite's machine takes meanwhile."""
    taken: list[int] = []
    watched: set[Any] = set()

    def note(connection: Any) -> None:
        raw = connection.connection.dbapi_connection
        raw.set_progress_handler(lambda: taken.append(1), 10)
        watched.add(raw)

    event.listen(store.database.engine, "begin", note)
    try:
        yield taken
    finally:
        event.remove(store.database.engine, "begin", note)
        for raw in watched:
            raw.set_progress_handler(None, 0)
