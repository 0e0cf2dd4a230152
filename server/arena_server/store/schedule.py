"""The schedule: planned stages as rows, and which games are still to be played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, func, insert, select, update

from arena_engine.game import Outcome
from arena_server.formats import Counted, Stage, season
from arena_server.formats.matchmaking import Past
from arena_server.formats.season import Call, Here
from arena_server.model import ArenaError, Pairing, PlannedGame, UserError
from arena_server.store import advancing, tournaments
from arena_server.store.database import Database
from arena_server.store.tables import GAME, SEAT, STAGE, TOURNAMENT, WAIT
from arena_server.store.views import GameStatus, Tournament

_AT_ONCE = 1000
"""Rows that are in memory, of as many as a season has."""


def add_stage(  # noqa: PLR0913 - as of the store
    database: Database,
    tournament: Tournament,
    number: int,
    pairings: Sequence[Pairing],
    deals: Sequence[Mapping[str, str]],
    *,
    again: bool = False,
    call: Call | None = None,
) -> None:
    """Writes the games of a stage; see ``Store.add_stage``."""
    with database.write() as connection:
        check_epoch(connection, tournament)
        stages = last(connection, tournament, GAME.c.stage)
        if again and number == stages and _is_planned(connection, tournament, number, pairings, deals):
            return
        check_not_frozen(tournaments.by_id(connection, tournament.id))
        if number != stages + 1:
            raise ArenaError(f"stage {number} of {tournament.name} cannot follow stage {stages}")
        first = (last(connection, tournament, GAME.c.pairing) + 1, last(connection, tournament, GAME.c.number) + 1)
        games = list(planned_games(tournament.name, number, pairings, deals, first))
        if games:
            connection.execute(insert(GAME), [_game_row(tournament.id, game) for game in games])
            connection.execute(insert(SEAT), [row for game in games for row in _seat_rows(tournament.id, game)])
            planned = TOURNAMENT.c.planned + len(games)
            connection.execute(update(TOURNAMENT).where(TOURNAMENT.c.id == tournament.id).values(planned=planned))
            advancing.settle(connection, tournament.id, games[0].number)
        if call is not None:
            connection.execute(insert(STAGE).values(tournament_id=tournament.id, number=number, **_call_row(call)))


def last(connection: Connection, tournament: Tournament, column: ColumnElement[int]) -> int:
    """The highest stage, pairing or game number there is; 0 before the first one.

    One at a time: of several in a statement SQLite finds none at the end of its index, and walks over all games.
    """
    query = select(func.coalesce(func.max(column), 0)).where(GAME.c.tournament_id == tournament.id)
    return connection.execute(query).scalar_one()


def _is_planned(
    connection: Connection,
    tournament: Tournament,
    number: int,
    pairings: Sequence[Pairing],
    deals: Sequence[Mapping[str, str]],
) -> bool:
    """Whether this very stage is: its commit went through, and the connection was lost before we heard of it."""
    seats = connection.execute(_seats_of(tournament).where(GAME.c.stage == number))
    stored = [_game(tournament, list(rows))[0] for _, rows in groupby(seats, key=lambda row: row.number)]
    first = (stored[0].pairing, stored[0].number)
    return stored == list(planned_games(tournament.name, number, pairings, deals, first))


def planned_games(
    name: str,
    stage: int,
    pairings: Sequence[Pairing],
    deals: Iterable[Mapping[str, str]],
    first: tuple[int, int],
) -> Iterator[PlannedGame]:
    """The games of a stage: every rotation of every pairing over its deal.

    Args:
        name: of the tournament.
        stage: its number.
        pairings: in schedule order.
        deals: one for each pairing.
        first: numbers of the first pairing and of the first game.
    """
    numbers = count(first[1])
    for pairing, (met, deal) in enumerate(zip(pairings, deals, strict=True), first[0]):
        for seats in met.rotations():
            yield PlannedGame(name, next(numbers), stage, pairing, seats, deal)


def _call_row(call: Call) -> dict[str, Any]:
    return {
        "day": call.day,
        "known": call.known,
        "present": [[one.entrant, one.owner, int(one.busy)] for one in call.present],
        "room": call.room,
        "rules": call.rules,
    }


def calls(connection: Connection, tournament: Tournament) -> dict[int, Call]:
    """What the stages of a season were planned upon, by number."""
    query = select(STAGE).where(STAGE.c.tournament_id == tournament.id).order_by(STAGE.c.number)
    return {
        row.number: Call(row.day, row.known, tuple(_here(*one) for one in row.present), row.room, row.rules)
        for row in connection.execute(query)
    }


def _here(entrant: int, owner: int = 0, busy: int = 0) -> Here:
    return Here(entrant, owner, bool(busy))


def past(database: Database, tournament: Tournament) -> tuple[int, Past]:
    """How many stages of a season are planned, and what they amount to."""
    days = select(STAGE.c.number, STAGE.c.day).where(STAGE.c.tournament_id == tournament.id)
    found, number = Past(), 0
    with database.read() as connection:
        day_of = {row.number: row.day for row in connection.execute(days)}
        for number, planned in _planned_stages(connection, tournament):
            season.note(found, planned, day_of[number])
    return number, found


def pairings(database: Database, tournament: Tournament) -> list[Stage]:
    """Every stage with its pairings, whether played or not, without results."""
    with database.read() as connection:
        return [Stage(number, tuple(planned)) for number, planned in _planned_stages(connection, tournament)]


def _planned_stages(connection: Connection, tournament: Tournament) -> Iterator[tuple[int, Iterator[Pairing]]]:
    """The pairings of every stage, in order. Who sits first in the games of one, game by game, is whom it pairs."""
    query = (
        select(GAME.c.stage, GAME.c.pairing, SEAT.c.entrant)
        .join(SEAT, (SEAT.c.tournament_id == GAME.c.tournament_id) & (SEAT.c.number == GAME.c.number))
        .where(GAME.c.tournament_id == tournament.id, SEAT.c.seat == 0)
        .order_by(GAME.c.number)
        .execution_options(yield_per=_AT_ONCE)
    )
    for number, rows in groupby(connection.execute(query), key=attrgetter("stage")):
        yield (
            number,
            (Pairing(tuple(row.entrant for row in games)) for _, games in groupby(rows, key=attrgetter("pairing"))),
        )


class FrozenError(UserError):
    """A season changes no more; somebody has frozen it while it went on."""


def check_not_frozen(held: Tournament) -> None:
    """Raises FrozenError for a season that is."""
    if held.spec.frozen is not None:
        raise FrozenError(f"{held.name} is frozen", f"game {held.spec.frozen} is its last", "begin another season")


def check_epoch(connection: Connection, tournament: Tournament) -> None:
    """Raises ArenaError when another coordinator has taken the tournament since."""
    query = select(TOURNAMENT.c.epoch).where(TOURNAMENT.c.id == tournament.id).with_for_update()
    if connection.execute(query).scalar_one() != tournament.epoch:
        raise ArenaError(f"another command has taken over tournament {tournament.name}", "", "leave it to that one")


def closed_stages(database: Database, tournament: Tournament) -> tuple[Stage, ...]:
    """The stages without an open game, with the results that count."""
    with database.read() as connection:
        return stages(connection, tournament)


def stages(connection: Connection, tournament: Tournament) -> tuple[Stage, ...]:
    """The same within a transaction."""
    rows = connection.execute(_seats_of(tournament))
    games = [list(seats) for _, seats in groupby(rows, key=lambda row: row.number)]
    closed = []
    for number, group in groupby(games, key=lambda seats: seats[0].stage):
        stage = list(group)
        if not any(seats[0].status == GameStatus.PLANNED for seats in stage):
            results = ((_game(tournament, seats)[0], counted(seats[0].status, seats)) for seats in stage)
            closed.append(Stage.of(number, results))
    return tuple(closed)


def any_open(connection: Connection, tournament: Tournament) -> bool:
    """Whether a game is still to be played."""
    query = select(GAME.c.number).where(GAME.c.tournament_id == tournament.id, GAME.c.status == GameStatus.PLANNED)
    return connection.execute(query.limit(1)).first() is not None


def counted(status: str, seats: Sequence[Row[Any]]) -> Counted | None:
    """What rows of ``seat``, in seat order, say of a game; None where it does not count, or they are damaged."""
    ranks, scores = tuple(seat.rank for seat in seats), tuple(seat.score for seat in seats)
    if status != GameStatus.FINISHED or not all(isinstance(number, int) for number in ranks + scores):
        return None
    blamed = tuple(seat.failure is not None for seat in seats)
    return Counted(tuple(seat.entrant for seat in seats), Outcome(ranks, scores), blamed)


def waits(database: Database, tournament: Tournament) -> dict[int, float]:
    """For how many seconds open games have waited for their bots, by number, as last noted."""
    query = select(WAIT.c.number, WAIT.c.seconds).where(WAIT.c.tournament_id == tournament.id)
    with database.read() as connection:
        return {row.number: row.seconds for row in connection.execute(query)}


def note_waits(database: Database, tournament: Tournament, seconds: Mapping[int, float]) -> None:
    """Writes for how long games have waited, by number; all others do not wait."""
    rows = [{"tournament_id": tournament.id, "number": number, "seconds": each} for number, each in seconds.items()]
    with database.write() as connection:
        connection.execute(delete(WAIT).where(WAIT.c.tournament_id == tournament.id))
        if rows:
            connection.execute(insert(WAIT), rows)


def open_games(database: Database, tournament: Tournament) -> list[tuple[PlannedGame, int]]:
    """The games still to be played, each with its void attempts so far."""
    with database.read() as connection:
        planned = _seats_of(tournament).where(GAME.c.status == GameStatus.PLANNED)
        rows = groupby(connection.execute(planned), key=lambda row: row.number)
        return [_game(tournament, list(seats)) for _, seats in rows]


def _seats_of(tournament: Tournament) -> Select[Any]:
    return (
        select(GAME, SEAT.c.entrant, SEAT.c.rank, SEAT.c.score, SEAT.c.failure)
        .join(SEAT, (SEAT.c.tournament_id == GAME.c.tournament_id) & (SEAT.c.number == GAME.c.number))
        .where(GAME.c.tournament_id == tournament.id)
        .order_by(GAME.c.number, SEAT.c.seat)
    )


def _game(tournament: Tournament, seats: Sequence[Row[Any]]) -> tuple[PlannedGame, int]:
    """A game and the void attempts so far, from the rows of its seats."""
    row = seats[0]
    entrants = tuple(seat.entrant for seat in seats)
    return PlannedGame(tournament.name, row.number, row.stage, row.pairing, entrants, row.deal), row.attempt


def _game_row(tournament_id: int, game: PlannedGame) -> dict[str, Any]:
    return {
        "tournament_id": tournament_id,
        "number": game.number,
        "stage": game.stage,
        "pairing": game.pairing,
        "deal": dict(game.deal),
        "status": GameStatus.PLANNED,
        "attempt": 0,
    }


def _seat_rows(tournament_id: int, game: PlannedGame) -> Iterator[dict[str, Any]]:
    for seat, entrant in enumerate(game.seats):
        yield {
            "tournament_id": tournament_id,
            "number": game.number,
            "seat": seat,
            "entrant": entrant,
            "flagged": False,
        }
