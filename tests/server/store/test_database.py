"""Opening databases, good and bad."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlmodel import SQLModel
from tournaments import begin, tiny_spec

from arena_server.model import ArenaError, UserError
from arena_server.store import Store, migrations
from arena_server.store.database import Database


def test_a_path_and_a_url_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open("x.db") as store:
        made = store.enter(tiny_spec()).tournament
        assert store.label == "x.db"
    for url in ("sqlite:///x.db", f"sqlite:///{tmp_path}/x.db", "./x.db"):
        with Store.open(url, create=False) as store:
            assert store.enter(tiny_spec()).tournament == made


def test_a_password_is_told_nowhere(postgres: str) -> None:
    with Store.open(f"{postgres}&password=secret") as store:
        assert store.label.endswith("&password=***")
    with pytest.raises(UserError, match=r"not a database URL: 'postgresql://me:\*\*\*@db:port/x\?password=\*\*\*'"):
        Store.open("postgresql://me:secret@db:port/x?password=secret")


def test_the_migrations_make_the_tables(url: str) -> None:
    with Store.open(url) as store, store.database.read() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": migrations.VERSION_TABLE})
        assert compare_metadata(context, SQLModel.metadata) == []
        assert context.get_current_revision() == migrations.HEAD
    folder = Path(migrations.__file__).parent
    assert ScriptDirectory(folder).get_heads() == [migrations.HEAD]


def test_opening_is_safe_for_several_at_once(url: str) -> None:
    code = "import sys; from arena_server.store import Store; Store.open(sys.argv[1]).close()"
    commands = [subprocess.Popen([sys.executable, "-c", code, url], stderr=subprocess.PIPE) for _ in range(2)]
    for command in commands:
        _, errors = command.communicate(timeout=60)
        assert command.returncode == 0, errors.decode()


def text_file(path: Path) -> None:
    path.write_text("no database at all, but a text that is long enough for a header\n" * 40)


def someone_elses(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()


def newer(path: Path) -> None:
    Store.open(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {migrations.VERSION_TABLE} SET version_num = '9999'")
    connection.close()


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (text_file, "not an SQLite database"),
        (someone_elses, "not a database of an arena"),
        (newer, rf"made by a newer arena \(schema 9999, this one knows {migrations.HEAD}\)"),
        (Path.mkdir, "the database is a folder"),
    ],
)
def test_what_is_not_ours_is_told(tmp_path: Path, make: Callable[[Path], None], told: str) -> None:
    path = tmp_path / "x.db"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(UserError, match=told) as refused:
        Store.open(str(path))
    assert str(path) in str(refused.value)
    assert refused.value.fix
    assert before == (path.read_bytes() if path.is_file() else b"")


def test_a_folder_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no such folder for the database: .*/nowhere"):
        Store.open(str(tmp_path / "nowhere" / "x.db"))


def test_readers_make_no_database(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no such database: .* - `arena run-tournament`"):
        Store.open(str(tmp_path / "x.db"), create=False)
    assert Database.look(str(tmp_path / "x.db")) is None
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("usual_mask")
def test_a_database_is_its_owner_s_alone(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to("x.db")
    with Store.open(str(tmp_path / "link.db")) as store:
        begin(store, tiny_spec())
        modes = {path.name: path.lstat().st_mode & 0o777 for path in tmp_path.glob("x.db*")}
    assert modes == dict.fromkeys(("x.db", "x.db-wal", "x.db-shm", "x.db.lock"), 0o600)
    (tmp_path / "x.db").chmod(0o640)
    Store.open(str(tmp_path / "x.db")).close()
    assert (tmp_path / "x.db").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("mysql://host/x", "no such kind of database: mysql"),
        ("sqlite://", "a database in memory"),
        (":memory:", "a database in memory"),
        ("", "a database in memory"),
        ("://", "not a database URL"),
    ],
)
def test_a_url_that_is_none_is_told(url: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        Store.open(url)


def test_a_server_that_is_not_there_is_told_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="the database refused its work") as refused:
        Store.open(f"postgresql://me:secret@/arena?host={tmp_path}")
    assert "secret" not in str(refused.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_file_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    Store.open(str(path)).close()
    path.chmod(0o400)
    with pytest.raises(UserError, match="the database is not writable"):
        Store.open(str(path))


def fill_up(store: Store) -> None:
    for _ in range(20):
        store.enter(tiny_spec(), new=True)


def test_a_full_disk_leaves_what_was_there(store: Store) -> None:
    playing = begin(store, tiny_spec())
    first, *rest = playing.results()
    store.record([first])

    with store.database.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ArenaError, match=r"the disk is full: .*arena\.db - free some space") as refused:
        fill_up(store)
    assert refused.value.exit_code == 3
    with store.database.read() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 100000")
    assert not store.record(rest)[0].refused
    assert store.progress(playing.tournament).folded == 6


def test_a_damaged_file_is_told(store: Store, sqlite: str) -> None:
    begin(store, tiny_spec(games=60))
    store.close()
    with Path(sqlite).open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with pytest.raises(ArenaError, match="the database is damaged"), Store.open(sqlite) as damaged:
        damaged.enter(tiny_spec())


def test_a_locked_file_is_told(sqlite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_server.store.database.BUSY_TIMEOUT_S", 0.1)
    with Store.open(sqlite) as store:
        other = sqlite3.connect(sqlite, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ArenaError, match="the database is locked by another program"):
            store.enter(tiny_spec())
        other.close()
        assert store.enter(tiny_spec()).created
