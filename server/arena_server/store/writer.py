"""The commit path: results into the journal and the columns, and what follows from them, in one transaction.

Written with SQLAlchemy Core and statements compiled once: this decides how many games a second can be recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from arena_server.model import Ending, Result, UserError
from arena_server.store import folding, journal
from arena_server.store.advancing import advance, update_tournament
from arena_server.store.database import Database
from arena_server.store.entries import Entries
from arena_server.store.tables import ATTEMPT, GAME, TOURNAMENT
from arena_server.store.views import GameStatus, Parked, Recorded

# Statements are built once: building one costs more than running it.
_TOURNAMENT = select(TOURNAMENT).where(TOURNAMENT.c.name_key == bindparam("key")).with_for_update()
_GAMES = select(GAME.c.number, GAME.c.status, GAME.c.attempt, GAME.c.ending).where(
    GAME.c.tournament_id == bindparam("of"), GAME.c.number.in_(bindparam("numbers", expanding=True))
)

_ATTEMPT = select(ATTEMPT.c.sequence, ATTEMPT.c.journal).where(
    ATTEMPT.c.tournament_id == bindparam("of"),
    ATTEMPT.c.number == bindparam("game"),
    ATTEMPT.c.attempt == bindparam("try"),
)


def record(database: Database, results: Sequence[Result], *, again: bool = False) -> list[Recorded]:
    """Writes results and advances the fold; see ``Store.record``."""
    if not results:
        return []
    name = results[0].assignment.planned.tournament
    if any(result.assignment.planned.tournament != name for result in results):
        raise ValueError("results of several tournaments")
    with database.write() as connection:
        return _Batch(connection, _tournament(connection, name), results, again=again).write()


def _tournament(connection: Connection, name: str) -> Row[Any]:
    row = connection.execute(_TOURNAMENT, {"key": name.casefold()}).one_or_none()
    if row is None:
        raise UserError("no such tournament in this database", name, "see that --db is the one it was started with")
    return row


@dataclass
class _Open:
    """A game as the batch finds and leaves it."""

    status: GameStatus
    attempts: int
    ending: str | None = None

    @property
    def settled(self) -> bool:
        """Whether it was closed without being played."""
        return self.status is GameStatus.CANCELLED or self.ending == Ending.FORFEIT


class _Batch:
    """Results on their way into one transaction."""

    def __init__(self, connection: Connection, tournament: Row[Any], results: Sequence[Result], *, again: bool) -> None:
        self._connection = connection
        self._tournament = tournament
        self._results = results
        self._again = again
        self._entries = Entries(connection, tournament, tournament.commits, tournament.chain_head)
        self._stopped: int | None = tournament.stopped
        numbers = [result.assignment.planned.number for result in results]
        found = connection.execute(_GAMES, {"of": tournament.id, "numbers": numbers})
        self._found = {number: _Open(GameStatus(status), *rest) for number, status, *rest in found}

    def write(self) -> list[Recorded]:
        """Everything that is not refused, and the answer to each result."""
        recorded = [self._take(result) for result in self._results]
        parked: tuple[Parked, ...] = ()
        if self._entries.length > self._tournament.commits:
            advanced = advance(self._connection, self._tournament, self._entries)
            self._stopped, parked = advanced.stopped, advanced.parked
            update_tournament(self._connection, self._tournament, advanced, self._entries)
        if self._again:
            parked = self._parked()  # an earlier try may have done it, unheard
        *answers, last = [self._answer(one) for one in recorded]
        return [*answers, replace(last, parked=parked)]

    def _parked(self) -> tuple[Parked, ...]:
        """Whom this try or an earlier one has parked, and perhaps others whom the first pairing parked before."""
        first = min(result.assignment.planned.number for result in self._results)
        seats = len(self._results[0].assignment.planned.seats)
        return folding.parked_from(self._connection, self._tournament.id, first - (first - 1) % seats)

    def _answer(self, recorded: Recorded) -> Recorded:
        """As it is after the stop rule was asked."""
        if self._stopped is None:
            return recorded
        status = GameStatus.CANCELLED if recorded.number > self._stopped else recorded.status
        return replace(recorded, status=status, stopped=True)

    def _take(self, result: Result) -> Recorded:
        number, attempt = result.assignment.planned.number, result.assignment.token.attempt
        refused = self._refusal(result)
        if refused and self._again and self._is_on_record(result):
            return Recorded(number, attempt, self._found[number].status)
        if refused:
            game = self._found.get(number, _Open(GameStatus.CANCELLED, 0))
            return Recorded(number, attempt, game.status, refused, needless=number in self._found and game.settled)
        game = self._found[number]
        game.attempts += 1
        game.status = self._entries.add(result)
        return Recorded(number, attempt, game.status)

    def _is_on_record(self, result: Result) -> bool:
        """Whether this very result is: its commit went through, and the connection was lost before we heard of it."""
        token, number = result.assignment.token, result.assignment.planned.number
        key = {"of": self._tournament.id, "game": number, "try": token.attempt}
        row = self._connection.execute(_ATTEMPT, key).one_or_none()
        if row is None or token.epoch != self._tournament.epoch:
            return False
        entry = journal.encode(journal.Entry(result, row.sequence, self._tournament.contract_sha256))
        return bool(row.journal == entry)

    def _refusal(self, result: Result) -> str:
        number, token = result.assignment.planned.number, result.assignment.token
        game = self._found.get(number)
        if game is None:
            return f"there is no game {number}"
        if token.epoch != self._tournament.epoch:
            return f"given out in epoch {token.epoch}, now is {self._tournament.epoch}"
        if game.status is not GameStatus.PLANNED:
            return f"game {number} is {game.status} already"
        if token.attempt != game.attempts + 1:
            return f"attempt {token.attempt} of game {number}, where {game.attempts + 1} is the next"
        return ""
