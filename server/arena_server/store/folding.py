"""The fold as columns: ratings and counts advanced over every game that became contiguous in schedule order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from arena_server.model import Ending
from arena_server.ratings import Finished, Rating, Tally, fold
from arena_server.store.tables import ENTRANT, GAME, SEAT
from arena_server.store.views import GameStatus

_COUNTS = ("games", "wins", "losses", "draws", "margin_total", "margin_games", "failures")

# Statements are built once: building one costs more than running it.
_FIRST_OPEN = select(func.min(GAME.c.number)).where(
    GAME.c.tournament_id == bindparam("of"), GAME.c.status == GameStatus.PLANNED
)
_LAST = select(func.coalesce(func.max(GAME.c.number), 0)).where(GAME.c.tournament_id == bindparam("of"))
_FINISHED = (
    select(SEAT.c.number, SEAT.c.entrant, SEAT.c.rank, SEAT.c.score, SEAT.c.failure)
    .where(
        SEAT.c.tournament_id == bindparam("of"), SEAT.c.number > bindparam("after"), SEAT.c.number <= bindparam("last")
    )
    .where(SEAT.c.rank.is_not(None))  # abandoned and cancelled games are passed over
    .order_by(SEAT.c.number, SEAT.c.seat)
)
_ENTRANTS = select(ENTRANT).where(
    ENTRANT.c.tournament_id == bindparam("of"), ENTRANT.c.position.in_(bindparam("places", expanding=True))
)
_RATE_SEAT = (
    update(SEAT)
    .where(
        SEAT.c.tournament_id == bindparam("of"),
        SEAT.c.number == bindparam("game"),
        SEAT.c.seat == bindparam("place"),
    )
    .values({name: bindparam(name) for name in ("mu", "sigma", "flagged")})
)
_UPDATE_ENTRANT = (
    update(ENTRANT)
    .where(ENTRANT.c.tournament_id == bindparam("of"), ENTRANT.c.position == bindparam("place"))
    .values({name: bindparam(name) for name in ("mu", "sigma", *_COUNTS)})
)

RatedGame = tuple[int, tuple[int, ...], Finished]
"""Number, entrants and how it ended, in seat order."""


def contiguous(connection: Connection, tournament_id: int) -> int:
    """Number of the last game of which all before are closed, too."""
    of = {"of": tournament_id}
    first_open: int | None = connection.execute(_FIRST_OPEN, of).scalar()
    last: int = connection.execute(_LAST, of).scalar_one() if first_open is None else first_open - 1
    return last


def advance(connection: Connection, tournament_id: int, watermark: int, last: int, draw_probability: float) -> None:
    """Folds what is behind the watermark, up to the game of that number, its new place."""
    rows = connection.execute(_FINISHED, {"of": tournament_id, "after": watermark, "last": last})
    games = [rated_game(number, list(seats)) for number, seats in groupby(rows, key=lambda row: row.number)]
    if games:
        _fold(connection, tournament_id, games, draw_probability)


def rated_game(number: int, seats: Sequence[Any]) -> RatedGame:
    """What rows of ``seat``, in seat order, give to the fold."""
    finished = Finished(
        ranks=tuple(seat.rank for seat in seats),
        scores=tuple(seat.score for seat in seats),
        failures=tuple(Ending(seat.failure) if seat.failure else None for seat in seats),
    )
    return number, tuple(seat.entrant for seat in seats), finished


def tally(row: Any) -> Tally:
    """What a row of ``entrant`` says."""
    return Tally(Rating(row.mu, row.sigma), **{name: getattr(row, name) for name in _COUNTS})


def _fold(connection: Connection, tournament_id: int, games: Sequence[RatedGame], draw_probability: float) -> None:
    places = sorted({entrant for _, entrants, _ in games for entrant in entrants})
    found = connection.execute(_ENTRANTS, {"of": tournament_id, "places": places})
    tallies = {row.position: tally(row) for row in found}
    rated = []
    for number, entrants, finished in games:
        after, flagged = fold([tallies[entrant] for entrant in entrants], finished, draw_probability)
        tallies.update(zip(entrants, after, strict=True))
        for place, one in enumerate(after):
            rated.append({"of": tournament_id, "game": number, "place": place, "flagged": flagged, **_rating(one)})
    connection.execute(_RATE_SEAT, rated)
    connection.execute(_UPDATE_ENTRANT, [_entrant(tournament_id, place, one) for place, one in tallies.items()])


def _rating(tally: Tally) -> dict[str, float]:
    return {"mu": tally.rating.mu, "sigma": tally.rating.sigma}


def _entrant(tournament_id: int, position: int, tally: Tally) -> dict[str, Any]:
    counts = {name: getattr(tally, name) for name in _COUNTS}
    return {"of": tournament_id, "place": position, **_rating(tally), **counts}
