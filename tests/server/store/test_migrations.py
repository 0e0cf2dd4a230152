"""Databases of earlier arenas, with rows in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from alembic.command import upgrade
from alembic.config import Config
from sqlalchemy import Connection, MetaData, text
from sqlmodel import SQLModel
from tournaments import begin, tiny_spec

from arena_server.model import About, Assignment, Ending, canonical_json
from arena_server.ratings import probation
from arena_server.store import Store, database, migrations, queries
from arena_server.store.verify import verify

TOURNAMENT: dict[str, Any] = {
    "name": "old",
    "name_key": "old",
    "contract": canonical_json(tiny_spec(3).contract()).decode(),
    "contract_sha256": "",
    "secret": b"x" * 32,
    "commitment": "",
    "public_seed": True,
    "rules": "1",
    "ratings": "",
    "status": "finished",
    "chain_head": "",
    "created_at": "2026-11-30T00:00:00+00:00",
    **dict.fromkeys(("epoch", "planned", "watermark", "commits"), 0),
}
ENTRANT: dict[str, Any] = {
    "tournament_id": 1,
    "version": "1.0",
    "digest": "",
    "options": "{}",
    "mu": 26.0,
    "sigma": 8.0,
    "failures": "{}",
    **dict.fromkeys(("games", "wins", "losses", "draws", "margin_total", "margin_games"), 0),
}


def add(connection: Connection, table: str, row: dict[str, Any]) -> None:
    names = ", ".join(row)
    connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({', '.join(':' + name for name in row)})"), row)


def make(url: str, revision: str) -> None:
    """A database as the arena of that schema left it: a tournament of three entrants."""
    engine = database._engine(database._parse(url))
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        upgrade(config, revision)
        add(connection, "tournament", TOURNAMENT)
        for position in range(3):
            add(connection, "entrant", {**ENTRANT, "position": position, "name": f"bot{position}"})
    engine.dispose()


def test_a_database_of_the_first_schema_is_brought_up(url: str) -> None:
    make(url, "0001")
    with Store.open(url, create=False) as store:
        old = queries.tournament(store, "old")
        assert (old.tags, queries.runs(store, old)) == ((), [])
        assert queries.abouts(store, old) == (About(),) * 3
        assert {standing.mu for standing in store.standings(old)} == {26.0}
        store.describe(old, tags=["kept"], about=[About("Ada")])
        assert queries.abouts(store, old)[0].owner == "Ada"


REVISIONS = sorted(path.name[:4] for path in (Path(migrations.__file__).parent / "versions").glob("0*.py"))


@pytest.mark.parametrize("revision", REVISIONS)
def test_rows_of_every_schema_live_on(url: str, revision: str) -> None:
    """A tournament half-way, with two start failures in a row: it is sound after the upgrade, and goes on."""
    with Store.open(url) as store:
        playing = begin(store, tiny_spec())
        first, second, *rest = playing.assignments()
        starts = [playing.forfeit(one, seat_of(one, 0), Ending.START_FAILURE, 0) for one in (first, second)]
        store.record([*starts, playing.void(rest[0])])
        playing.lock.release()
        before = store.enter(tiny_spec()).tournament, store.standings(playing.tournament)
        with store.database.write() as connection:
            as_of(connection, revision)
    with Store.open(url) as store:
        assert (store.enter(tiny_spec()).tournament, store.standings(before[0])) == before
        assert verify(store, before[0]).ok
        playing = begin(store, tiny_spec())
        third = playing.assignments()[0]
        store.record([playing.forfeit(third, seat_of(third, 0), Ending.START_FAILURE, 0)])
        parked = [row.parked.number for row in store.standings(playing.tournament) if row.parked]
        assert parked == [3]
        assert verify(store, playing.tournament).ok


def test_what_was_played_before_bots_were_parked_stays_as_it_is(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four start failures in a row, and games after them: sound then, sound now; the next one parks."""
    with Store.open(url) as store, monkeypatch.context() as patch:
        patch.setattr(probation, "STARTS", 99)  # as if there were no such rule
        playing = begin(store, tiny_spec(games=12))
        games = playing.assignments()
        starts = [playing.forfeit(one, seat_of(one, 0), Ending.START_FAILURE, 0) for one in games[:8]]
        store.record([*starts[:4], playing.normal(games[4]), *starts[5:8]])
        playing.lock.release()
        with store.database.write() as connection:
            as_of(connection, "0004")
    with Store.open(url) as store:
        cup = store.enter(tiny_spec(games=12)).tournament
        report = verify(store, cup)
        assert report.ok, report.problems
        playing = begin(store, tiny_spec(games=12))
        ninth = playing.assignments()[0]
        store.record([playing.forfeit(ninth, seat_of(ninth, 0), Ending.START_FAILURE, 0)])
        assert [row.parked.number for row in store.standings(cup) if row.parked] == [9]
        report = verify(store, cup)
        assert report.ok, report.problems


def seat_of(assignment: Assignment, entrant: int) -> str:
    return assignment.planned.letters[assignment.planned.seats.index(entrant)]


def as_of(connection: Connection, revision: str) -> None:
    """The same rows as that schema kept them."""
    rows = {table: connection.execute(table.select()).mappings().all() for table in SQLModel.metadata.sorted_tables}
    SQLModel.metadata.drop_all(connection)
    connection.exec_driver_sql(f"DROP TABLE {migrations.VERSION_TABLE}")
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.attributes["connection"] = connection
    upgrade(config, revision)
    known = MetaData()
    known.reflect(connection)
    for table, found in rows.items():
        if table.name in known.tables and found:
            old = known.tables[table.name]
            connection.execute(
                old.insert(), [{column.name: row[column.name] for column in old.columns} for row in found]
            )
