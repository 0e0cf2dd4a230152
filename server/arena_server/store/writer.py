"""The commit path: results into the journal and the columns, and the ratings advanced, in one transaction.

Written with SQLAlchemy Core and statements compiled once: this decides how many games a second can be recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from arena_server.model import MAX_ATTEMPTS, Ending, Result, UserError
from arena_server.store import journal
from arena_server.store.advancing import advance
from arena_server.store.database import Database
from arena_server.store.tables import ATTEMPT, GAME, SEAT, TOURNAMENT
from arena_server.store.views import GameStatus, Recorded

Values = dict[str, Any]

# Statements are built once: building one costs more than running it.
_TOURNAMENT = select(TOURNAMENT).where(TOURNAMENT.c.name_key == bindparam("key")).with_for_update()
_GAMES = select(GAME.c.number, GAME.c.status, GAME.c.attempt).where(
    GAME.c.tournament_id == bindparam("of"), GAME.c.number.in_(bindparam("numbers", expanding=True))
)
_ADD_ATTEMPT = insert(ATTEMPT)
_UPDATE_GAME = (
    update(GAME)
    .where(GAME.c.tournament_id == bindparam("of"), GAME.c.number == bindparam("game"))
    .values({name: bindparam(name) for name in ("status", "attempt", "ending", "plies")})
)
_UPDATE_SEAT = (
    update(SEAT)
    .where(
        SEAT.c.tournament_id == bindparam("of"),
        SEAT.c.number == bindparam("game"),
        SEAT.c.seat == bindparam("place"),
    )
    .values({name: bindparam(name) for name in ("score", "rank", "failure")})
)
_UPDATE_TOURNAMENT = (
    update(TOURNAMENT)
    .where(TOURNAMENT.c.id == bindparam("of"))
    .values({name: bindparam(name) for name in ("commits", "chain_head", "watermark", "sums", "stopped")})
)


def record(database: Database, results: Sequence[Result]) -> list[Recorded]:
    """Writes results and advances the fold; see ``Store.record``."""
    if not results:
        return []
    name = results[0].assignment.planned.tournament
    if any(result.assignment.planned.tournament != name for result in results):
        raise ValueError("results of several tournaments")
    with database.write() as connection:
        return _Batch(connection, _tournament(connection, name), results).write()


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


class _Batch:
    """Results on their way into one transaction."""

    def __init__(self, connection: Connection, tournament: Row[Any], results: Sequence[Result]) -> None:
        self._connection = connection
        self._tournament = tournament
        self._results = results
        self._head = tournament.chain_head
        self._length = tournament.commits
        self._stopped: int | None = tournament.stopped
        self._attempts: list[Values] = []
        self._games: list[Values] = []
        self._seats: list[Values] = []
        numbers = [result.assignment.planned.number for result in results]
        found = connection.execute(_GAMES, {"of": tournament.id, "numbers": numbers})
        self._found = {number: _Open(GameStatus(status), attempts) for number, status, attempts in found}

    def write(self) -> list[Recorded]:
        """Everything that is not refused, and the answer to each result."""
        recorded = [self._take(result) for result in self._results]
        if self._attempts:
            self._connection.execute(_ADD_ATTEMPT, self._attempts)
            self._connection.execute(_UPDATE_GAME, self._games)
            if self._seats:
                self._connection.execute(_UPDATE_SEAT, self._seats)
            self._connection.execute(
                _UPDATE_TOURNAMENT,
                {
                    "of": self._tournament.id,
                    "commits": self._length,
                    "chain_head": self._head,
                    **self._advance(),
                },
            )
        return [self._answer(one) for one in recorded]

    def _advance(self) -> Values:
        advanced = advance(self._connection, self._tournament)
        self._stopped = advanced["stopped"]
        return advanced

    def _answer(self, recorded: Recorded) -> Recorded:
        """As it is after the stop rule was asked."""
        if self._stopped is None:
            return recorded
        status = GameStatus.CANCELLED if recorded.number > self._stopped else recorded.status
        return replace(recorded, status=status, stopped=True)

    def _take(self, result: Result) -> Recorded:
        number, attempt = result.assignment.planned.number, result.assignment.token.attempt
        refused = self._refusal(result)
        if refused:
            status = self._found[number].status if number in self._found else GameStatus.CANCELLED
            return Recorded(number, attempt, status, refused)
        self._append(result)
        return Recorded(number, attempt, self._close(result))

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

    def _append(self, result: Result) -> None:
        """One more link of the chain."""
        self._length += 1
        entry = journal.encode(journal.Entry(result, self._length, self._tournament.contract_sha256))
        self._head = journal.next_link(self._head, entry)
        self._attempts.append(
            {
                "tournament_id": self._tournament.id,
                "number": result.assignment.planned.number,
                "attempt": result.assignment.token.attempt,
                "epoch": result.assignment.token.epoch,
                "sequence": self._length,
                "ending": result.ending,
                "journal": entry,
                "chain_hash": self._head,
            }
        )

    def _close(self, result: Result) -> GameStatus:
        """The columns of the game after this attempt."""
        number = result.assignment.planned.number
        game = self._found[number]
        game.attempts += 1
        columns = game_columns(result)
        game.status = columns["status"]
        self._games.append({"of": self._tournament.id, "game": number, **columns})
        for place, seat in enumerate(seat_columns(result)):
            self._seats.append({"of": self._tournament.id, "game": number, "place": place, **seat})
        return game.status


def closes(result: Result) -> bool:
    """Whether the game is closed after this attempt."""
    return result.ending.rated or result.assignment.token.attempt >= MAX_ATTEMPTS


def game_columns(result: Result) -> Values:
    """What the columns of a game say after this attempt, its last so far."""
    attempt = result.assignment.token.attempt
    if result.ending.rated:
        return {
            "status": GameStatus.FINISHED,
            "attempt": attempt,
            "ending": result.ending,
            "plies": result.moves[-1].ply + 1 if result.moves else 0,
        }
    if closes(result):
        return {"status": GameStatus.ABANDONED, "attempt": attempt, "ending": Ending.ABANDONED, "plies": None}
    return {"status": GameStatus.PLANNED, "attempt": attempt, "ending": None, "plies": None}


def seat_columns(result: Result) -> list[Values]:
    """What the columns of a game's seats say after this attempt; nothing after a void one."""
    if result.outcome is None:
        return []
    failures = {failure.seat: failure.ending for failure in result.failures}
    seats = zip(result.assignment.planned.letters, result.outcome.scores, result.outcome.ranks, strict=True)
    return [{"score": score, "rank": rank, "failure": failures.get(letter)} for letter, score, rank in seats]
