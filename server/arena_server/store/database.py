"""Opening a database, its transactions, and what its errors mean to a person.

SQLite runs in WAL with synchronous FULL: what was committed survives a power loss. Writers begin with BEGIN IMMEDIATE,
so that two of them wait for each other instead of failing half-way.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError

from arena_server.model import ArenaError, BreakdownError, UserError
from arena_server.store import migrations
from arena_server.text import without_passwords

BUSY_TIMEOUT_S = 30
"""SQLite's waiters poll and may be overtaken: beside eight busy writers 10 s were not always enough."""
MAX_LOCKS = 50
"""Tournaments that one process plays at once on a PostgreSQL: each lock is a connection, beside those that work."""
_STEPS = 5_000  # of SQLite's machine between two looks at the clocks: some 0.1 ms
_ON_THE_WALL = 10
_CANCELLED = "57014"  # PostgreSQL: by statement_timeout

_SQLITE_ERRORS = {
    "SQLITE_NOTADB": (UserError, "not an SQLite database", "choose another file with --db"),
    "SQLITE_CORRUPT": (
        BreakdownError,
        "the database is damaged",
        "restore it from a copy; `arena verify` checks the games",
    ),
    "SQLITE_READONLY": (UserError, "the database is not writable", "check the permissions of the file and its folder"),
    # Path and permissions were looked at before.
    "SQLITE_CANTOPEN": (
        BreakdownError,
        "the database cannot be opened: the disk failed or is full",
        "mend it or free some space, and run the same command again: it resumes",
    ),
    "SQLITE_FULL": (BreakdownError, "the disk is full", "free some space and run the same command again: it resumes"),
    "SQLITE_IOERR": (
        BreakdownError,
        "the disk failed or is full",
        "mend it or free some space, and run the same command again: it resumes",
    ),
    "SQLITE_BUSY": (BreakdownError, "the database is locked by another program", "close that program and try again"),
}


_AWAY = ("08", "40", "57P")
"""Classes of SQLSTATE that pass: the connection failed, the transaction met another one, the server stops or starts."""


class AwayError(BreakdownError):
    """The database is gone for the moment; what was being committed may be on record or not."""


class TooLongError(ArenaError):
    """A statement took longer than it may, and was stopped."""


class Database:
    """An open database with our schema.

    Attributes:
        engine: SQLAlchemy's.
        label: its path, or its URL without passwords.
    """

    def __init__(self, engine: Engine, label: str) -> None:
        self.engine = engine
        self.label = label
        isolation = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        self._reader = engine.execution_options(arena_begin="BEGIN", **isolation)

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> Self:
        """Opens a path, ``sqlite:///PATH`` or ``postgresql://...`` and migrates it; raises as ``Store.open``."""
        parsed = _parse(url)
        label = _label(parsed)
        if _is_sqlite(parsed):
            _check_file(Path(label), create=create)
            _make_file(Path(label))
        database = cls(_engine(parsed), label)
        try:
            database._migrate()
        except BaseException:
            database.close()
            raise
        return database

    @classmethod
    def look(cls, url: str) -> Self | None:
        """Opens it as it is, to read; None where there is none of ours, or one that an upgrade would change first.

        Raises:
            UserError: no such folder, not a database, not ours, or made by a newer arena.
        """
        parsed = _parse(url)
        label = _label(parsed)
        if _is_sqlite(parsed):
            _check_file(Path(label), create=True)
            if not Path(label).exists():
                return None
        database = cls(_engine(parsed), label)
        try:
            with database.read() as connection:
                current = migrations.is_current(connection, label)
        except BaseException:
            database.close()
            raise
        if not current:
            database.close()
        return database if current else None

    def close(self) -> None:
        """Closes every connection."""
        self.engine.dispose()

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of ours rather than a server."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction that may write; committed at the end, rolled back on any error."""
        with self.translated(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One transaction that sees one state of the database and holds up no writer."""
        with self.translated(), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def frozen(self) -> Iterator[Database]:
        """The database at one moment: all that is read from it sees the same state. For one thread."""
        with self.read() as connection:
            yield _Frozen(self, connection)

    def limited(self, seconds: float) -> Database:
        """The database for readers whose statements are stopped after so long; raises TooLongError for them."""
        return _Limited(self, seconds)

    def _migrate(self) -> None:
        with self.read() as connection:
            current = migrations.is_current(connection, self.label)
        if self.is_sqlite:  # only now: a database that is not ours stays as it is
            with self.translated(), self.engine.execution_options(arena_begin=None).begin() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        if not current:
            with self.write() as connection:
                migrations.upgrade(connection, self.label)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """What goes wrong in it, in our words."""
        try:
            yield
        except IntegrityError:
            raise
        except DBAPIError as error:
            raise self._told(error) from error

    def _told(self, error: DBAPIError) -> ArenaError:
        if "SQLITE_INTERRUPT" in _codes(error) or _CANCELLED in _codes(error):
            return TooLongError("this question takes too long here", "", "ask for less of it")
        if isinstance(error.orig, sqlite3.Error):
            code = "_".join(getattr(error.orig, "sqlite_errorname", "").split("_")[:2])
            if code in _SQLITE_ERRORS:
                kind, what, fix = _SQLITE_ERRORS[code]
                return kind(what, self.label, fix)
        reason = str(error.orig).strip().partition("\n")[0]
        kind = AwayError if _is_away(error) else BreakdownError
        return kind(f"the database refused its work ({reason})", self.label, "see that it runs and try again")


class _Frozen(Database):
    """Reads within one transaction."""

    def __init__(self, database: Database, connection: Connection) -> None:  # other engines are not made: it is quick
        self.engine, self.label = database.engine, database.label
        self._connection = connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        yield self._connection


def _is_away(error: DBAPIError) -> bool:
    if isinstance(error.orig, sqlite3.Error):
        return False
    state = getattr(error.orig, "sqlstate", None)  # none where no connection could be had
    return error.connection_invalidated or (
        isinstance(error, OperationalError) if state is None else state[:3].startswith(_AWAY)
    )


class _Limited(Database):
    """Stops statements that take too long."""

    def __init__(self, database: Database, seconds: float) -> None:
        super().__init__(database.engine, database.label)
        self._seconds = seconds

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with super().read() as connection:
            if self.is_sqlite:
                with _watched(connection, self._seconds):
                    yield connection
            else:
                connection.execute(text(f"SET LOCAL statement_timeout = {max(1, round(1000 * self._seconds))}"))
                yield connection


@contextmanager
def _watched(connection: Connection, seconds: float) -> Iterator[None]:
    """Of SQLite, which knows no timeout: looks at the clocks now and then while a statement runs.

    What counts is the thread's own time on a core, so that a busy machine fails no reader; and ten times as much on
    the wall, so that a slow disk holds up nobody for long.
    """
    raw: Any = connection.connection.dbapi_connection
    ends = [0.0, 0.0]

    def begin(*_: object) -> None:
        ends[:] = time.thread_time() + seconds, time.monotonic() + _ON_THE_WALL * seconds

    def is_over() -> bool:
        return time.thread_time() > ends[0] or time.monotonic() > ends[1]

    event.listen(connection, "before_cursor_execute", begin)
    begin()
    raw.set_progress_handler(is_over, _STEPS)
    try:
        yield
    finally:
        raw.set_progress_handler(None, 0)


def _codes(error: DBAPIError) -> tuple[str, str]:
    """How SQLite and PostgreSQL name it."""
    return getattr(error.orig, "sqlite_errorname", ""), getattr(error.orig, "sqlstate", None) or ""


def _parse(url: str) -> URL:
    if "://" not in url:
        return URL.create("sqlite", database=url)
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        fix = "write sqlite:///PATH or postgresql://HOST/NAME"
        raise UserError("not a database URL", repr(without_passwords(url)), fix) from None
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        if find_spec("psycopg") is None:
            raise UserError("PostgreSQL needs an extra", _label(parsed), "pip install 'patchwork-arena[postgres]'")
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername != "sqlite":
        raise UserError(
            "no such kind of database", parsed.drivername, "give a path, sqlite:///PATH or postgresql://..."
        )
    return parsed


def _is_sqlite(url: URL) -> bool:
    return url.drivername == "sqlite"


def _label(url: URL) -> str:
    return url.database or "" if _is_sqlite(url) else without_passwords(url.render_as_string())


def _check_file(path: Path, *, create: bool) -> None:
    if str(path) in ("", ".", ":memory:"):
        raise UserError("a database in memory", path, "name a file: games must survive the command")
    if path.is_dir():
        raise UserError("the database is a folder", path, "name a file in it")
    if not path.parent.is_dir():
        raise UserError("no such folder for the database", path.parent, "make it, or choose another file with --db")
    if os.statvfs(path.parent).f_flag & os.ST_RDONLY:
        fix = "make it writable, or choose another file with --db; a tournament that had begun resumes"
        raise ArenaError("the disk is read-only", path, fix)
    if path.exists():
        if not os.access(path, os.R_OK | os.W_OK):
            raise UserError("the database is not writable", path, "check the permissions of the file")
    elif not create:
        fix = "`arena run-tournament`, `arena bots add` and `arena serve` make one, or choose another file with --db"
        raise UserError("no such database", path, fix)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise UserError("the folder of the database is not writable", path.parent, "check its permissions")


def _make_file(path: Path) -> None:
    """For its owner alone, as what SQLite keeps beside it: it holds the secrets of what is played."""
    try:
        path.resolve().touch(0o600, exist_ok=False)
    except FileExistsError:
        pass  # and keeps its mode
    except OSError:
        kind, what, fix = _SQLITE_ERRORS["SQLITE_CANTOPEN"]
        raise kind(what, path, fix) from None


def _engine(url: URL) -> Engine:
    if not _is_sqlite(url):
        arguments = {"application_name": f"arena {os.getpid()}"}
        return create_engine(url, pool_pre_ping=True, max_overflow=MAX_LOCKS, connect_args=arguments)
    engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S, "isolation_level": None})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _record: object) -> None:
    for pragma in ("synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    statement = connection.get_execution_options().get("arena_begin", "BEGIN IMMEDIATE")
    if statement is not None:
        connection.exec_driver_sql(statement)
