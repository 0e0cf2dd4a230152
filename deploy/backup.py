"""Saves and restores a server's database where that is SQLite. The standard library alone does it.

python backup.py save arena.db copy.db          also while the server plays
python backup.py restore copy.db arena.db       while nothing plays
python backup.py save arena.db copy.db --force  takes the place of an earlier copy

A copy is the state of one moment, one file, checked before it gets its name, and for its owner alone: it holds the
secrets of seasons that are not over. Run it as the server's user. Exit codes: 0 done; 2 refused; 3 the machine or the
data failed.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

BUSY_S = 30.0
_BESIDE = ("", "-wal", "-shm")  # SQLite's files of one database, itself first


class RefusedError(Exception):
    """What was asked for is not done, to harm nothing."""


def save(database: Path, copy: Path, *, force: bool) -> None:
    """Copies a database as it is at one moment, while others write to it.

    Raises:
        RefusedError: no such database, or the copy exists and nobody said that it may go.
        sqlite3.Error: it is no database of an arena, or damaged.
    """
    _check_free(copy, force=force)
    with _copied(database, copy) as new:
        _name(new, copy)


def restore(copy: Path, database: Path, *, force: bool) -> Path | None:
    """Puts a copy where a database was; what was there is kept beside it.

    Returns:
        Where the earlier database is now; None where there was none.

    Raises:
        RefusedError: as ``save``, or a server or a tournament has the database.
        sqlite3.Error: the copy is no database of an arena, or damaged.
    """
    _check_free(database, force=force)
    with _alone(database), _copied(copy, database) as new:
        kept = _set_aside(database)
        _name(new, database)
    return kept


def _check_free(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        raise RefusedError(f"{path} exists: name another file, or say --force")


@contextmanager
def _alone(database: Path) -> Iterator[None]:
    """Holds the whole lock file: the range of the server and those of all tournaments."""
    file = os.open(f"{database}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise RefusedError(f"a server or a tournament has {database}: stop it first") from None
    finally:
        os.close(file)


@contextmanager
def _copied(source: Path, target: Path) -> Iterator[Path]:
    """A checked copy beside the target, on disk; gone afterwards if it got no other name."""
    if not source.is_file():
        raise RefusedError(f"no such database: {source}")
    new = target.with_name(f".{target.name}.{os.getpid()}")
    file = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        _copy(source, new)
        os.fsync(file)
        yield new
    finally:
        os.close(file)
        new.unlink(missing_ok=True)


def _copy(source: Path, new: Path) -> None:
    read = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_S)
    with closing(read), closing(sqlite3.connect(new)) as written:
        read.backup(written)  # in one step, which needs no second try however busy the writers are
        written.execute("PRAGMA journal_mode = DELETE")  # complete without a second file
        written.execute("SELECT 1 FROM arena_schema")
        (found,) = written.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(f"{source} is damaged: {found}")


def _set_aside(database: Path) -> Path | None:
    """Renames a database with its log: a log left behind would be written into the one that comes."""
    aside = f".{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"
    kept = None
    for suffix in _BESIDE:
        path = database.with_name(database.name + suffix)
        if path.exists():
            moved = path.rename(database.with_name(f"{database.name}{aside}{suffix}"))
            kept = kept or moved
    return kept


def _name(new: Path, target: Path) -> None:
    """At once, and so that it is there after a power loss."""
    new.replace(target)
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("do", choices=["save", "restore"])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--force", action="store_true", help="take the place of what is there")
    asked = parser.parse_args()
    source, target = asked.source.resolve(), asked.target.resolve()
    try:
        kept = None
        if asked.do == "save":
            save(source, target, force=asked.force)
        else:
            kept = restore(source, target, force=asked.force)
    except RefusedError as refused:
        print(f"backup: {refused}", file=sys.stderr)
        sys.exit(2)
    except (sqlite3.Error, OSError) as error:
        print(f"backup: {source} was not copied: {error}", file=sys.stderr)
        sys.exit(3)
    print(f"{target}: {target.stat().st_size} bytes, checked" + (f"; earlier: {kept}" if kept else ""))


if __name__ == "__main__":
    main()
