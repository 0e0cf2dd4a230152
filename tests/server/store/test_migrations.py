"""Databases of earlier arenas, with rows in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic.command import upgrade
from alembic.config import Config
from sqlalchemy import Connection, text
from tournaments import tiny_spec

from arena_server.model import About, canonical_json
from arena_server.store import Store, database, migrations, queries

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
