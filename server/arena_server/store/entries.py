"""Results on their way into the journal and the columns of their games, all in the caller's transaction."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, update

from arena_server.model import MAX_ATTEMPTS, Ending, Result
from arena_server.store import journal
from arena_server.store.tables import ATTEMPT, GAME, SEAT
from arena_server.store.views import GameStatus

Values = dict[str, Any]

# Statements are built once: building one costs more than running it.
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


class Entries:
    """What is to be written, and where the chain ends then.

    Attributes:
        head: of the chain.
        length: of the chain.
    """

    def __init__(self, connection: Connection, tournament: Row[Any], length: int, head: str) -> None:
        self.head = head
        self.length = length
        self._connection = connection
        self._tournament = tournament
        self._attempts: list[Values] = []
        self._games: list[Values] = []
        self._seats: list[Values] = []

    def add(self, result: Result) -> GameStatus:
        """One more link of the chain, and what it says of its game; the game's status after it."""
        self._append(result)
        place = {"of": self._tournament.id, "game": result.assignment.planned.number}
        columns = game_columns(result)
        self._games.append({**place, **columns})
        self._seats += [{**place, "place": seat, **values} for seat, values in enumerate(seat_columns(result))]
        return GameStatus(columns["status"])

    def write(self) -> None:
        """Writes what was added since the last time."""
        for statement, rows in (
            (_ADD_ATTEMPT, self._attempts),
            (_UPDATE_GAME, self._games),
            (_UPDATE_SEAT, self._seats),
        ):
            if rows:
                self._connection.execute(statement, rows)
                rows.clear()

    def _append(self, result: Result) -> None:
        self.length += 1
        entry = journal.encode(journal.Entry(result, self.length, self._tournament.contract_sha256))
        self.head = journal.next_link(self.head, entry)
        self._attempts.append(
            {
                "tournament_id": self._tournament.id,
                "number": result.assignment.planned.number,
                "attempt": result.assignment.token.attempt,
                "epoch": result.assignment.token.epoch,
                "sequence": self.length,
                "ending": result.ending,
                "journal": entry,
                "chain_hash": self.head,
            }
        )


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
