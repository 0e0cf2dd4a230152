"""The games that the ratings include, as the statistics need them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, and_, select

from arena_server.ratings import INITIAL, Rating, Tally, fold
from arena_server.ratings.pairs import Meeting
from arena_server.store.folding import rated_game
from arena_server.store.tables import GAME, SEAT
from arena_server.store.views import Tournament

_AT_ONCE = 1_000
"""Rows that are fetched together."""


def meetings(
    connection: Connection,
    tournament: Tournament,
    since: int = 1,
    opponents: Collection[int] = (),
    among: Collection[int] | None = None,
) -> list[Meeting]:
    """In schedule order.

    Args:
        connection: to read from.
        tournament: whose games.
        since: only games from this number on.
        opponents: only games in which one of these sits; none: all games.
        among: only games in which nobody else sits; None: all games.
    """
    return [
        meeting
        for meeting in stream(connection, tournament)
        if meeting.number >= since
        and (not opponents or not set(opponents).isdisjoint(meeting.entrants))
        and (among is None or set(among).issuperset(meeting.entrants))
    ]


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
    """All of them, one after the other: however many there are, only a few are in memory."""
    query = (
        select(SEAT, GAME.c.pairing)
        .join(GAME, and_(GAME.c.tournament_id == SEAT.c.tournament_id, GAME.c.number == SEAT.c.number))
        .where(SEAT.c.tournament_id == tournament.id, SEAT.c.mu.is_not(None))
        .order_by(SEAT.c.number, SEAT.c.seat)
    )
    ratings = [INITIAL] * len(tournament.spec.entrants)
    rows = connection.execute(query, execution_options={"yield_per": _AT_ONCE})
    for _, game in groupby(rows, key=attrgetter("number")):
        seats = list(game)
        yield _meeting(seats, tuple(ratings[seat.entrant] for seat in seats))
        for seat in seats:
            ratings[seat.entrant] = Rating(seat.mu, seat.sigma)


def _meeting(seats: Sequence[Any], before: tuple[Rating, ...]) -> Meeting:
    number, entrants, result = rated_game(seats[0].number, seats)
    return Meeting(number, seats[0].pairing, entrants, before, result)
