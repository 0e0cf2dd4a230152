"""One coordinator a tournament: the lock, gone with the process however that ends."""

from __future__ import annotations

import fcntl
import os
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, text, update
from sqlalchemy.exc import DBAPIError

from arena_server.model import UserError
from arena_server.store import schedule, tournaments
from arena_server.store.database import Database
from arena_server.store.tables import TOURNAMENT
from arena_server.store.views import Status, Tournament

_SLOT = 16  # bytes of the lock file a tournament has: room for a process id in words
_CLASS = 0x6172656E  # "aren": our half of PostgreSQL's advisory keys
_HOLDER = (
    "SELECT application_name || coalesce(' on ' || host(client_addr), '') FROM pg_stat_activity JOIN pg_locks"
    " USING (pid) WHERE locktype = 'advisory' AND classid = :class AND objid = :id AND granted"
)
_OURS = (
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = :class AND objid = :id AND granted"
    " AND pid = pg_backend_pid()"
)
_TRIES, _PAUSE_S = 10, 0.1


class TakenError(UserError):
    """Another process has it."""


class _Held:
    """A lock that this process has until it is given back. Any thread may use it: several write to one database."""

    def __init__(self, database: Database, number: int, taken: str) -> None:
        self._database = database
        self._number = number
        self._taken = taken
        self._mutex = threading.Lock()
        self._held = (_take_file if database.is_sqlite else _take_advisory)(database, number, taken)

    def hold(self) -> None:
        """Takes it again where it went with a connection that was lost.

        Raises:
            AwayError: the database is still away.
            UserError: another command has it now.
        """
        with self._mutex:
            if isinstance(self._held, Connection) and not _is_ours(self._held, self._number):
                with self._database.translated():
                    self._held = _take_advisory(self._database, self._number, self._taken)
                self._check()

    def _check(self) -> None:
        """Looks at what another may have done before it was taken again."""

    @property
    def is_held(self) -> bool:
        """Whether it was not given back."""
        return self._held is not None

    def release(self) -> None:
        """Gives it back; harmless when done already."""
        with self._mutex:
            held, self._held = self._held, None
            _release(held)


class Lock(_Held):
    """A tournament held by this process: whatever an earlier coordinator gave out is stale from now on.

    Attributes:
        tournament: as of the taking, with its new epoch.
    """

    def __init__(self, database: Database, tournament: Tournament) -> None:
        super().__init__(database, tournament.id, f"tournament {tournament.name} is being played by another command")
        try:
            self.tournament = _raise_epoch(database, tournament)
        except BaseException:
            self.release()
            raise

    def _check(self) -> None:
        """Raises ArenaError where another command has played it meanwhile."""
        with self._database.read() as connection:
            schedule.check_epoch(connection, self.tournament)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class SiteLock(_Held):
    """A database held by this process as its server."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, 0, "this database has a server already")  # no tournament has that number


def _release(held: int | Connection | None) -> None:
    if isinstance(held, int):
        os.close(held)
    elif held is not None and not held.closed:
        with suppress(DBAPIError):  # a server that is gone has let go of it
            held.execute(text("SELECT pg_advisory_unlock_all()"))
        held.invalidate()  # ends the session, which the server may take a moment to do
        held.close()


def _taken(what: str, holder: str) -> TakenError:
    return TakenError(what, holder, "wait for it, or watch it with `arena leaderboard`")


def _take_file(database: Database, number: int, taken: str) -> int | Connection | None:
    path = Path(f"{Path(database.label).resolve()}.lock")
    start = number * _SLOT
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        # An open-file-description lock: unlike fcntl.lockf's it is not lost when this process opens the file once more.
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, start, _SLOT, 0))
        os.pwrite(file, f"{os.getpid():<{_SLOT}}".encode(), start)
    except BlockingIOError:
        holder = os.pread(file, _SLOT, start).decode(errors="replace").strip("\0 ")
        os.close(file)
        raise _taken(taken, f"pid {holder}") from None
    except BaseException:
        os.close(file)
        raise
    return file


def _take_advisory(database: Database, number: int, taken: str) -> int | Connection | None:
    connection = database.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    keys = {"class": _CLASS, "id": number}
    try:
        for _ in range(_TRIES):  # the server takes a moment to notice that a holder was killed
            if connection.execute(text("SELECT pg_try_advisory_lock(:class, :id)"), keys).scalar():
                return connection
            holder = connection.execute(text(_HOLDER), keys).scalar()
            time.sleep(_PAUSE_S)
    except BaseException:
        connection.close()
        raise
    connection.close()
    raise _taken(taken, str(holder or "it ended just now").replace("arena ", "pid "))


def _is_ours(held: Connection, number: int) -> bool:
    """Whether this very session still has the lock; it is closed where not."""
    if held.closed:
        return False
    try:
        ours = bool(held.execute(text(_OURS), {"class": _CLASS, "id": number}).scalar())
    except DBAPIError:
        ours = False
    if not ours:
        held.invalidate()
        held.close()
    return ours


def _raise_epoch(database: Database, tournament: Tournament) -> Tournament:
    with database.write() as connection:
        values = {"epoch": TOURNAMENT.c.epoch + 1}
        connection.execute(update(TOURNAMENT).where(TOURNAMENT.c.id == tournament.id).values(values))
        connection.execute(
            update(TOURNAMENT)
            .where(TOURNAMENT.c.id == tournament.id, TOURNAMENT.c.status == Status.PLANNED)
            .values(status=Status.RUNNING, started_at=tournaments.now())
        )
        return tournaments.by_id(connection, tournament.id)
