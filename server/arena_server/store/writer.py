"""The commit path: results into the journal and the columns, and the ratings advanced, in one transaction.

Written with SQLAlchemy Core and statements compiled once: this decides how many games a second can be recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from arena_server.model import MAX_ATTEMPTS, Ending, Result, Spec, UserError
from arena_server.ratings import Finished, Rating, Tally, fold
from arena_server.store import journal, tournaments
from arena_server.store.database import Database
from arena_server.store.tables import ATTEMPT, ENTRANT, GAME, SEAT, TOURNAMENT
from arena_server.store.views import GameStatus, Recorded, Tournament

Values = dict[str, Any]

_UPDATE_GAME = (
    update(GAME)
    .where(GAME.c.tournament_id == bindparam("of"), GAME.c.number == bindparam("game"))
    .values({name: bindparam(name) for name in ("status", "attempt", "ending", "plies")})
)
_SEAT_HERE = (
    SEAT.c.tournament_id == bindparam("of"),
    SEAT.c.number == bindparam("game"),
    SEAT.c.seat == bindparam("place"),
)
_UPDATE_SEAT = update(SEAT).where(*_SEAT_HERE).values({name: bindparam(name) for name in ("score", "rank", "failure")})
_RATE_SEAT = update(SEAT).where(*_SEAT_HERE).values({name: bindparam(name) for name in ("mu", "sigma", "flagged")})
_UPDATE_ENTRANT = (
    update(ENTRANT)
    .where(ENTRANT.c.tournament_id == bindparam("of"), ENTRANT.c.position == bindparam("place"))
    .values(
        {
            name: bindparam(name)
            for name in (
                "mu",
                "sigma",
                "games",
                "wins",
                "losses",
                "draws",
                "margin_total",
                "margin_games",
                "failures",
            )
        }
    )
)


def record(database: Database, results: Sequence[Result]) -> list[Recorded]:
    """Writes results and advances the fold; see ``Store.record``."""
    if not results:
        return []
    name = results[0].assignment.planned.tournament
    if any(result.assignment.planned.tournament != name for result in results):
        raise ValueError("results of several tournaments")
    with database.write() as connection:
        tournament = _held(connection, name)
        recorded = _Batch(connection, tournament, results).write()
        if not all(one.refused for one in recorded):
            _advance(connection, tournament.id, tournament.spec)
        return recorded


def _held(connection: Connection, name: str) -> Tournament:
    query = select(TOURNAMENT).where(TOURNAMENT.c.name_key == name.casefold()).with_for_update()
    row = connection.execute(query).one_or_none()
    if row is None:
        raise UserError("no such tournament in this database", name, "see that --db is the one it was started with")
    return tournaments.view(row)


@dataclass
class _Open:
    """A game as the batch finds and leaves it."""

    status: GameStatus
    attempts: int


class _Batch:
    """Results on their way into one transaction."""

    def __init__(self, connection: Connection, tournament: Tournament, results: Sequence[Result]) -> None:
        self._connection = connection
        self._tournament = tournament
        self._results = results
        self._contract = journal.contract_sha256(tournament.spec)
        self._head = tournament.chain_head
        self._length = tournament.chain_length
        self._attempts: list[Values] = []
        self._games: list[Values] = []
        self._seats: list[Values] = []
        query = select(GAME.c.number, GAME.c.status, GAME.c.attempt).where(
            GAME.c.tournament_id == tournament.id,
            GAME.c.number.in_([result.assignment.planned.number for result in results]),
        )
        self._found = {
            number: _Open(GameStatus(status), attempts) for number, status, attempts in connection.execute(query)
        }

    def write(self) -> list[Recorded]:
        recorded = [self._take(result) for result in self._results]
        if self._attempts:
            self._connection.execute(insert(ATTEMPT), self._attempts)
            self._connection.execute(_UPDATE_GAME, self._games)
            if self._seats:
                self._connection.execute(_UPDATE_SEAT, self._seats)
            self._connection.execute(
                update(TOURNAMENT)
                .where(TOURNAMENT.c.id == self._tournament.id)
                .values(commits=self._length, chain_head=self._head)
            )
        return recorded

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
        entry = journal.encode(journal.Entry(result, self._length, self._contract))
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
    given_up = attempt >= MAX_ATTEMPTS
    status = GameStatus.ABANDONED if given_up else GameStatus.PLANNED
    return {"status": status, "attempt": attempt, "ending": Ending.ABANDONED if given_up else None, "plies": None}


def seat_columns(result: Result) -> list[Values]:
    """What the columns of a game's seats say after this attempt; nothing after a void one."""
    if result.outcome is None:
        return []
    failures = {failure.seat: failure.ending for failure in result.failures}
    seats = zip(result.assignment.planned.letters, result.outcome.scores, result.outcome.ranks, strict=True)
    return [{"score": score, "rank": rank, "failure": failures.get(letter)} for letter, score, rank in seats]


def _advance(connection: Connection, tournament_id: int, spec: Spec) -> None:
    """Folds every game that became contiguous in schedule order; abandoned and cancelled ones are passed over."""
    watermark = connection.execute(select(TOURNAMENT.c.watermark).where(TOURNAMENT.c.id == tournament_id)).scalar_one()
    last = _last_contiguous(connection, tournament_id)
    if last <= watermark:
        return
    games = _finished(connection, tournament_id, watermark, last)
    if games:
        _fold(connection, tournament_id, spec, games)
    connection.execute(update(TOURNAMENT).where(TOURNAMENT.c.id == tournament_id).values(watermark=last))


def _last_contiguous(connection: Connection, tournament_id: int) -> int:
    of = GAME.c.tournament_id == tournament_id
    first_open = connection.execute(select(func.min(GAME.c.number)).where(of, GAME.c.status == GameStatus.PLANNED))
    number: int | None = first_open.scalar()
    if number is not None:
        return number - 1
    last: int = connection.execute(select(func.max(GAME.c.number)).where(of)).scalar_one()
    return last


_Game = tuple[int, tuple[int, ...], Finished]
"""Number, entrants and how it ended, in seat order."""


def _finished(connection: Connection, tournament_id: int, after: int, last: int) -> list[_Game]:
    seats = connection.execute(
        select(SEAT.c.number, SEAT.c.entrant, SEAT.c.rank, SEAT.c.score, SEAT.c.failure)
        .where(SEAT.c.tournament_id == tournament_id, SEAT.c.number > after, SEAT.c.number <= last)
        .where(SEAT.c.rank.is_not(None))
        .order_by(SEAT.c.number, SEAT.c.seat)
    )
    games = []
    for number, rows in groupby(seats, key=lambda row: row.number):
        _, entrants, ranks, scores, failures = zip(*rows, strict=True)
        kinds = tuple(Ending(failure) if failure else None for failure in failures)
        games.append((number, entrants, Finished(ranks, scores, kinds)))
    return games


def _fold(connection: Connection, tournament_id: int, spec: Spec, games: Sequence[_Game]) -> None:
    tallies = _tallies(connection, tournament_id, {entrant for _, entrants, _ in games for entrant in entrants})
    rated: list[Values] = []
    for number, entrants, finished in games:
        after, flagged = fold([tallies[entrant] for entrant in entrants], finished, spec.draw_probability)
        tallies.update(zip(entrants, after, strict=True))
        for place, tally in enumerate(after):
            key = {"of": tournament_id, "game": number, "place": place}
            rated.append({**key, "mu": tally.rating.mu, "sigma": tally.rating.sigma, "flagged": flagged})
    connection.execute(_RATE_SEAT, rated)
    rows = [{"of": tournament_id, "place": place, **tally_columns(tally)} for place, tally in tallies.items()]
    connection.execute(_UPDATE_ENTRANT, rows)


def _tallies(connection: Connection, tournament_id: int, entrants: set[int]) -> dict[int, Tally]:
    query = select(ENTRANT).where(ENTRANT.c.tournament_id == tournament_id, ENTRANT.c.position.in_(sorted(entrants)))
    return {row.position: tally(row) for row in connection.execute(query)}


def tally(row: Any) -> Tally:
    """What a row of ``entrant`` says."""
    return Tally(
        rating=Rating(row.mu, row.sigma),
        games=row.games,
        wins=row.wins,
        losses=row.losses,
        draws=row.draws,
        margin_total=row.margin_total,
        margin_games=row.margin_games,
        failures=row.failures,
    )


def tally_columns(tally: Tally) -> Values:
    """The columns of ``entrant`` that say it."""
    return {
        "mu": tally.rating.mu,
        "sigma": tally.rating.sigma,
        "games": tally.games,
        "wins": tally.wins,
        "losses": tally.losses,
        "draws": tally.draws,
        "margin_total": tally.margin_total,
        "margin_games": tally.margin_games,
        "failures": dict(tally.failures),
    }
