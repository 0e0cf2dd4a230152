"""Every edit of a stored tournament is found."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Table
from sqlmodel import SQLModel
from tournaments import Playing, begin, patchwork_spec, tiny_spec

from arena_server.model import ArenaError, Ending, canonical_json
from arena_server.store import Store, journal, queries, tables
from arena_server.store.verify import Report, verify

SILENT = ("id", "tournament_id", "created_at", "started_at", "finished_at", "status", "tags", "anchors", "called_off")
"""Columns that follow from nothing else: keys, times, words, how far a run is; but a game's status does follow."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, str]]:
    """A finished tournament with draws, forfeits and a void attempt, and its file."""
    path = str(tmp_path_factory.mktemp("verify") / "arena.db")
    with Store.open(path) as store:
        playing = begin(store, tiny_spec(bots=4, games=3), name="cup")
        store.record([playing.void(playing.assignments()[1])])
        store.record(playing.results())
        store.finish(playing.tournament)
        playing.lock.release()
        yield store, path


def check(store: Store) -> Report:
    return verify(store, store.tournament(1))  # whatever it is called now


@contextmanager
def edited(path: str, *statements: tuple[str, tuple[object, ...]]) -> Iterator[None]:
    """The file with these changes; as it was afterwards."""
    with closing(sqlite3.connect(path)) as connection, closing(sqlite3.connect(":memory:")) as copy:
        connection.backup(copy)
        for statement, values in statements:
            assert connection.execute(statement, values).rowcount == 1
        connection.commit()
        try:
            yield
        finally:
            copy.backup(connection)


def test_a_sound_tournament_is_sound(played: tuple[Store, str]) -> None:
    store, _ = played
    seen: list[tuple[int, int]] = []
    tournament = queries.tournament(store)
    report = verify(store, tournament, lambda done, total: seen.append((done, total)))
    assert report.problems == ()
    assert report.ok
    assert report.first is None
    assert (report.games, report.attempts) == (12, 13)
    assert report.chain_head == tournament.chain_head
    assert seen[-1] == (13, 13)


@pytest.mark.parametrize("games", [0, 1, 7])
def test_a_tournament_that_is_being_played_is_sound(store: Store, games: int) -> None:
    playing = begin(store, patchwork_spec(bots=3, games=4))
    store.record(playing.results()[12 - games :])
    report = verify(store, playing.tournament)
    assert report.problems == ()
    assert report.games == games


def columns() -> list[tuple[str, str]]:
    every = [tables.TOURNAMENT, tables.ENTRANT, tables.GAME, tables.SEAT, tables.ATTEMPT]
    return [
        (table.name, column.name)
        for table in every
        for column in table.columns
        if column.name not in SILENT or (table.name, column.name) == ("game", "status")
    ]


def row_key(table: Table) -> str:
    """The first row of a game that was folded; game 2, which was void once, for attempts."""
    number = {
        "game": " AND number = 3",
        "seat": " AND number = 3 AND seat = 1",
        "attempt": " AND number = 2 AND attempt = 2",
    }
    key = "id" if table.name == "tournament" else "tournament_id"
    return f"{key} = 1" + number.get(table.name, "") + (" AND position = 1" if table.name == "entrant" else "")


def changed(column: str, value: Any) -> object:  # noqa: PLR0911 - one for each kind of value
    """Another value of the same kind."""
    match value:
        case None:
            return 1
        case int() if column in ("position", "number", "seat", "sequence"):
            return 99
        case bytes():
            return bytes([*value[:-1], value[-1] ^ 1])
        case float():
            return value * (1 + 2**-52)
        case int():
            return value + 1 if value > 1 else 1 - value
        case str() if column == "contract":
            return value.replace('"games":3', '"games":6')
        case str() if value.startswith("{"):
            return '{"order":"xyz"}'
        case _:
            return f"{value[:-1]}{'0' if value[-1] != '0' else '1'}"


@pytest.mark.parametrize(("table", "column"), columns())
def test_an_edit_of_any_column_is_found(played: tuple[Store, str], table: str, column: str) -> None:
    store, path = played
    where = row_key(SQLModel.metadata.tables[table])
    with closing(sqlite3.connect(path)) as connection:
        value = connection.execute(f"SELECT {column} FROM {table} WHERE {where}").fetchone()[0]
    with edited(path, (f"UPDATE {table} SET {column} = ? WHERE {where}", (changed(column, value),))):
        report = check(store)
    assert not report.ok, f"{table}.{column}: {value!r} -> {changed(column, value)!r}"
    if table in ("game", "seat", "attempt") and column != "number":
        assert report.first is not None
        assert report.first.number == (2 if table == "attempt" else 3), report.problems


def test_a_contract_that_says_nothing_is_told(played: tuple[Store, str]) -> None:
    store, path = played
    edit = ("UPDATE tournament SET contract = ?", ("{}",))
    with edited(path, edit), pytest.raises(ArenaError, match="a tournament's contract is damaged"):
        check(store)


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("game SET deal", '{"order" "abc"}', "planned game is"),
        ("seat SET seat", 19, r"order of seats is \[0, 1, 19\]"),
    ],
)
def test_damage_is_told_by_its_game(played: tuple[Store, str], column: str, value: object, told: str) -> None:
    """What can no longer be read, or only moves the last seat on."""
    store, path = played
    last = " AND seat = 2" if column.startswith("seat") else ""
    statement = f"UPDATE {column} = ? WHERE tournament_id = 1 AND number = 3{last}"
    with edited(path, (statement, (value,))):
        first = check(store).first
    assert first is not None
    assert first.number == 3
    assert re.search(told, first.what)


def test_a_missing_row_is_found(played: tuple[Store, str]) -> None:
    store, path = played
    for table in ("attempt", "seat", "game"):
        more = " AND attempt = 1" if table == "attempt" else " AND seat = 2" if table == "seat" else ""
        with edited(path, (f"DELETE FROM {table} WHERE number = 5{more}", ())):
            report = check(store)
        assert report.first is not None
        assert report.first.number == 5, table


def forge(entry: bytes, **changes: object) -> bytes:
    return canonical_json({**json.loads(entry), **changes})


def test_a_journal_rewritten_with_its_chain_is_still_no_game(played: tuple[Store, str]) -> None:
    """Whoever can compute hashes still has to play by the rules."""
    store, path = played
    with closing(sqlite3.connect(path)) as connection:
        entry = connection.execute("SELECT journal FROM attempt WHERE number = 4").fetchone()[0]
    outcome = json.loads(entry)["outcome"]
    for changes, told in (
        ({"position": "9 9 9 5"}, "the moves lead to"),
        ({"outcome": [outcome[0][::-1], [7, 7, 7]]}, "outcome"),
        ({"ending": "timeout"}, "does not agree with the position and the blame"),
        ({"format": 2}, "2"),
        ({"moves": []}, "the moves lead to"),
    ):
        forged = forge(entry, **changes)
        statement = "UPDATE attempt SET journal = ?, ending = ? WHERE number = 4"
        with edited(path, (statement, (forged, json.loads(forged)["ending"]))), rechained(path):
            report = check(store)
        found = [problem.what for problem in report.problems if problem.number == 4]
        assert any(told in what for what in found), (told, report.problems)


@contextmanager
def rechained(path: str) -> Iterator[None]:
    """Every hash computed anew, as a forger would."""
    with closing(sqlite3.connect(path)) as connection:
        contract, commitment = connection.execute("SELECT contract_sha256, commitment FROM tournament").fetchone()
        head = journal.first_link(contract, commitment)
        for sequence, entry in connection.execute("SELECT sequence, journal FROM attempt ORDER BY sequence").fetchall():
            head = journal.next_link(head, entry)
            connection.execute("UPDATE attempt SET chain_hash = ? WHERE sequence = ?", (head, sequence))
        connection.execute("UPDATE tournament SET chain_head = ?", (head,))
        connection.commit()
    yield


def test_bytes_of_the_journal_are_canonical(played: tuple[Store, str]) -> None:
    store, path = played
    with closing(sqlite3.connect(path)) as connection:
        entry = connection.execute("SELECT journal FROM attempt WHERE number = 4").fetchone()[0]
    spaced = json.dumps(json.loads(entry)).encode()
    with edited(path, ("UPDATE attempt SET journal = ? WHERE number = 4", (spaced,))), rechained(path):
        report = check(store)
    assert report.first is not None
    assert (report.first.number, report.first.attempt) == (4, 1)
    assert report.first.what.startswith("journal is ")


def test_a_flipped_bit_anywhere_in_the_journal_is_found(played: tuple[Store, str]) -> None:
    store, path = played
    with closing(sqlite3.connect(path)) as connection:
        entry = connection.execute("SELECT journal FROM attempt WHERE number = 6").fetchone()[0]
    for place in range(0, len(entry), 97):
        flipped = bytearray(entry)
        flipped[place] ^= 1 << (place % 8)
        with edited(path, ("UPDATE attempt SET journal = ? WHERE number = 6", (bytes(flipped),))):
            report = check(store)
        assert report.first is not None
        assert report.first.number == 6


def test_a_legal_move_filed_as_illegal_is_found(store: Store) -> None:
    playing: Playing = begin(store, patchwork_spec(bots=2, games=2))
    first, second = playing.assignments()
    result = playing.forfeit(first, "a")
    failure = replace(result.failures[0], ending=Ending.ILLEGAL_MOVE, reply=">")
    state = playing.game.state(result.position)
    failure = replace(failure, seat=state.to_move[0])
    outcome = playing.game.forfeit(state, [failure.seat])
    store.record([replace(result, ending=Ending.ILLEGAL_MOVE, failures=(failure,), outcome=outcome)])
    store.record([playing.normal(second)])
    report = verify(store, playing.tournament)
    assert report.first is not None
    assert (report.first.number, report.first.what[:15]) == (1, "'>' of seat " + failure.seat + " i")


def test_no_flood_of_problems(store: Store) -> None:
    playing = begin(store, tiny_spec(bots=4, games=12))
    store.record(playing.results())
    with store.database.write() as connection:
        connection.exec_driver_sql("UPDATE seat SET score = score + 1")
    report = verify(store, playing.tournament)
    assert len(report.problems) == 20
    assert report.first is not None
    assert report.first.number == 1
