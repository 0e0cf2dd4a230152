"""The games of parked entrants: lost unplayed, or taken off.

A game is concerned when one of its seats was parked by an earlier game of the schedule. What was
played before that was known stays in the journal as an attempt that does not count: so the result is the same however
many games are played at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, update

from arena_engine.game import find
from arena_server.model import Assignment, Ending, Failure, PlannedGame, Result, Spec, Token
from arena_server.store import journal
from arena_server.store.contracts import spec_of
from arena_server.store.entries import Entries
from arena_server.store.tables import ATTEMPT, ENTRANT, GAME, SEAT
from arena_server.store.views import GameStatus

_PARKED = select(ENTRANT.c.position, ENTRANT.c.parked).where(
    ENTRANT.c.tournament_id == bindparam("of"), ENTRANT.c.parked.is_not(None)
)
_THEIRS = (
    select(SEAT.c.number)
    .where(SEAT.c.tournament_id == bindparam("of"), SEAT.c.number >= bindparam("first"))
    .where(SEAT.c.entrant.in_(bindparam("places", expanding=True)))
)
_GAMES = (
    select(GAME, SEAT.c.entrant, SEAT.c.failure)
    .join(SEAT, (SEAT.c.tournament_id == GAME.c.tournament_id) & (SEAT.c.number == GAME.c.number))
    .where(GAME.c.tournament_id == bindparam("of"), GAME.c.number.in_(_THEIRS))
    .order_by(GAME.c.number, SEAT.c.seat)
)

_LAST_ENTRY = (
    select(ATTEMPT.c.journal)
    .where(ATTEMPT.c.tournament_id == bindparam("of"), ATTEMPT.c.number == bindparam("game"))
    .order_by(ATTEMPT.c.attempt.desc())
    .limit(1)
)
_TAKE_OFF = (
    update(GAME)
    .where(GAME.c.tournament_id == bindparam("of"), GAME.c.number == bindparam("game"))
    .values(status=GameStatus.CANCELLED)
)


@dataclass(frozen=True, slots=True)
class Concerned:
    """A game that its parked seats do not play.

    Attributes:
        attempts: at it so far.
        absent: who is parked, by seat letter.
    """

    planned: PlannedGame
    status: GameStatus
    attempts: int
    absent: Mapping[str, int]


def parked(connection: Connection, tournament_id: int) -> dict[int, int]:
    """Who is parked, and by which game."""
    return {row.position: row.parked for row in connection.execute(_PARKED, {"of": tournament_id})}


def settle(
    connection: Connection, tournament: Row[Any], entries: Entries, entrants: Collection[int], first: int
) -> None:
    """Forfeits games of those who are parked, or takes them off.

    Args:
        connection: of the transaction.
        tournament: its row.
        entries: the forfeits are added there.
        entrants: whose games are looked at: a long career would be a lot to read for every stage.
        first: number of the game from which on they are.
    """
    spec = spec_of(tournament.contract)
    games = list(_unsettled(connection, tournament, {"places": list(entrants), "first": first}))
    if spec.probation.then == "cancel":
        _take_off(connection, tournament.id, games)
        return
    reasons = _Reasons(connection, tournament.id, spec)
    for game in games:
        failures = [reasons.failure(letter, entrant) for letter, entrant in game.absent.items()]
        token = Token(tournament.epoch, game.attempts + 1)
        entries.add(_forfeit(Assignment(game.planned, token, spec, ()), failures))


def absent(planned: PlannedGame, since: Mapping[int, int]) -> dict[str, int]:
    """The seats whose entrants an earlier game has parked, each with its entrant."""
    return {
        letter: entrant
        for letter, entrant in zip(planned.letters, planned.seats, strict=True)
        if entrant in since and since[entrant] < planned.number
    }


def failure(letter: str, number: int, why: str, last: Failure) -> Failure:
    """What a forfeited game says of a parked seat: why it is absent, with the evidence of its last failure.

    Args:
        letter: the seat.
        number: of the game that decided it.
        why: in words.
        last: what it did there.
    """
    reason = f"parked after game {number}: {why}; the last time: {last.reason}"
    return Failure(letter, Ending.FORFEIT, 0, reason, evidence=last.evidence)


def failure_of(result: Result, entrant: int) -> Failure:
    """What an entrant did in a game."""
    letter = result.assignment.planned.letters[result.assignment.planned.seats.index(entrant)]
    return next(failure for failure in result.failures if failure.seat == letter)


def _unsettled(connection: Connection, tournament: Row[Any], theirs: Mapping[str, Any]) -> Iterator[Concerned]:
    """Of these games those that are neither forfeited by all of their parked seats nor taken off, in schedule order."""
    since = parked(connection, tournament.id)
    rows_of_all = connection.execute(_GAMES, {"of": tournament.id, **theirs}).all()
    for _, rows in groupby(rows_of_all, key=lambda row: row.number):
        seats = list(rows)
        game = _concerned(tournament.name, seats, since)
        forfeited = {
            letter for letter, seat in zip(game.planned.letters, seats, strict=True) if seat.failure == "forfeit"
        }
        if game.absent and game.status is not GameStatus.CANCELLED and forfeited != set(game.absent):
            yield game


def _take_off(connection: Connection, tournament_id: int, games: Sequence[Concerned]) -> None:
    """From now on these games do not count, played or not."""
    if games:
        connection.execute(_TAKE_OFF, [{"of": tournament_id, "game": game.planned.number} for game in games])


def _forfeit(assignment: Assignment, failures: Sequence[Failure]) -> Result:
    """The result of a game whose failing seats never came."""
    planned = assignment.planned
    game = find(assignment.spec.game)
    state = game.start(planned.deal, len(planned.seats))
    return Result(
        assignment=assignment,
        ending=Ending.FORFEIT,
        outcome=game.forfeit(state, [failure.seat for failure in failures]),
        moves=(),
        failures=tuple(failures),
        position=state.text,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        duration_us=0,
    )


class _Reasons:
    """Why those who are parked are, each looked up once."""

    def __init__(self, connection: Connection, tournament_id: int, spec: Spec) -> None:
        self._connection = connection
        self._id = tournament_id
        self._spec = spec
        self._known: dict[int, tuple[int, str, Failure]] = {}

    def failure(self, letter: str, entrant: int) -> Failure:
        """What a game says of the seat that this one does not take."""
        if entrant not in self._known:
            self._known[entrant] = self._look_up(entrant)
        return failure(letter, *self._known[entrant])

    def _look_up(self, entrant: int) -> tuple[int, str, Failure]:
        query = select(ENTRANT).where(ENTRANT.c.tournament_id == self._id, ENTRANT.c.position == entrant)
        row = self._connection.execute(query).one()
        entry = self._connection.execute(_LAST_ENTRY, {"of": self._id, "game": row.parked}).scalar_one()
        last = failure_of(journal.decode(entry, self._spec).result, entrant)
        return row.parked, row.parked_why, last


def _concerned(name: str, seats: Sequence[Row[Any]], since: Mapping[int, int]) -> Concerned:
    row = seats[0]
    entrants = tuple(seat.entrant for seat in seats)
    planned = PlannedGame(name, row.number, row.stage, row.pairing, entrants, row.deal)
    return Concerned(planned, GameStatus(row.status), row.attempt, absent(planned, since))
