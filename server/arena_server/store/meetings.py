"""The games that the ratings include, as the statistics need them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, and_, select

from arena_server.ratings import INITIAL, Rating, Tally, fold
from arena_server.ratings.fold import Finished
from arena_server.ratings.pairs import Meeting
from arena_server.store.folding import rated_game
from arena_server.store.tables import GAME, SEAT, TOURNAMENT
from arena_server.store.views import Tournament

_AT_ONCE = 1_000
"""Rows that are fetched together."""


@dataclass(frozen=True, slots=True)
class RatedGame:
    """A game as the ratings have it, tuples in seat order.

    Attributes:
        number: place in the schedule order.
        pairing: games of one pairing share the deal.
        entrants: indices of who sat there.
        after: TrueSkill ratings after it.
    """

    number: int
    pairing: int
    entrants: tuple[int, ...]
    result: Finished
    after: tuple[Rating, ...]


def tallies(meetings: Sequence[Meeting], tournament: Tournament) -> list[Tally]:
    """The fold over these games alone, in the order of entry."""
    found = [Tally() for _ in tournament.spec.entrants]
    for meeting in meetings:
        before = [found[place] for place in meeting.entrants]
        after, _ = fold(before, meeting.result, tournament.spec.draw_probability)
        for place, tally in zip(meeting.entrants, after, strict=True):
            found[place] = tally
    return found


def stream(connection: Connection, tournament: Tournament) -> Iterator[Meeting]:
    """All of them in schedule order, one after the other: however many there are, only a few are in memory."""
    return meetings(rated(connection, tournament), len(tournament.spec.entrants))


def meetings(games: Iterable[RatedGame], entrants: int) -> Iterator[Meeting]:
    """All rated games of so many entrants, in schedule order, with the ratings before each."""
    ratings = [INITIAL] * entrants
    for game in games:
        before = tuple(ratings[entrant] for entrant in game.entrants)
        yield Meeting(game.number, game.pairing, game.entrants, before, game.result)
        for entrant, rating in zip(game.entrants, game.after, strict=True):
            ratings[entrant] = rating


def rated(
    connection: Connection, tournament: Tournament, *, after: int = 0, limit: int | None = None
) -> Iterator[RatedGame]:
    """The rated games in schedule order: all, or only so many behind a number."""
    watermark = select(TOURNAMENT.c.watermark).where(TOURNAMENT.c.id == tournament.id).scalar_subquery()
    query = (
        select(SEAT, GAME.c.pairing)
        .join(GAME, and_(GAME.c.tournament_id == SEAT.c.tournament_id, GAME.c.number == SEAT.c.number))
        .where(
            SEAT.c.tournament_id == tournament.id,
            SEAT.c.number > after,
            SEAT.c.number <= watermark,  # what is still to be played is not even looked at
            SEAT.c.mu.is_not(None),
        )
        .order_by(SEAT.c.number, SEAT.c.seat)
        .limit(None if limit is None else limit * tournament.spec.seats)
    )
    rows = connection.execute(query, execution_options={"yield_per": _AT_ONCE})
    for _, seats in groupby(rows, key=attrgetter("number")):
        yield _rated(list(seats))


def _rated(seats: Sequence[Any]) -> RatedGame:
    number, entrants, result = rated_game(seats[0].number, seats)
    after = tuple(Rating(seat.mu, seat.sigma) for seat in seats)
    return RatedGame(number, seats[0].pairing, entrants, result, after)
