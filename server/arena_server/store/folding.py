"""The fold as columns: ratings and counts advanced over every game that became contiguous in schedule order.

Here it is also decided who is parked, in schedule order: so at any concurrency, killed or not, after the same game.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from arena_server.model import Ending, Spec
from arena_server.ratings import Finished, Rating, Tally, counted, fold, probation
from arena_server.store.tables import ENTRANT, GAME, SEAT
from arena_server.store.views import GameStatus, Parked

COUNTS = ("games", "wins", "losses", "draws", "margin_total", "margin_games", "failures", "unstarted")

# Statements are built once: building one costs more than running it.
_FIRST_OPEN = select(func.min(GAME.c.number)).where(
    GAME.c.tournament_id == bindparam("of"), GAME.c.status == GameStatus.PLANNED
)
_LAST = select(func.coalesce(func.max(GAME.c.number), 0)).where(GAME.c.tournament_id == bindparam("of"))
_FINISHED = (
    select(SEAT.c.number, SEAT.c.entrant, SEAT.c.rank, SEAT.c.score, SEAT.c.failure)
    .join(GAME, (GAME.c.tournament_id == SEAT.c.tournament_id) & (GAME.c.number == SEAT.c.number))
    .where(
        SEAT.c.tournament_id == bindparam("of"), SEAT.c.number > bindparam("after"), SEAT.c.number <= bindparam("last")
    )
    .where(GAME.c.status == GameStatus.FINISHED)  # abandoned and cancelled games are passed over
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
    .values({name: bindparam(name) for name in ("mu", "sigma", *COUNTS)})
)

_PARK = (
    update(ENTRANT)
    .where(ENTRANT.c.tournament_id == bindparam("of"), ENTRANT.c.position == bindparam("place"))
    .values(parked=bindparam("parked"), parked_why=bindparam("why"))
)
_PARKED_FROM = (
    select(ENTRANT.c.position, ENTRANT.c.parked, ENTRANT.c.parked_why)
    .where(ENTRANT.c.tournament_id == bindparam("of"), ENTRANT.c.parked >= bindparam("first"))
    .order_by(ENTRANT.c.parked, ENTRANT.c.position)
)

RatedGame = tuple[int, tuple[int, ...], Finished]
"""Number, entrants and how it ended, in seat order."""


def contiguous(connection: Connection, tournament_id: int) -> int:
    """Number of the last game of which all before are closed, too."""
    of = {"of": tournament_id}
    first_open: int | None = connection.execute(_FIRST_OPEN, of).scalar()
    last: int = connection.execute(_LAST, of).scalar_one() if first_open is None else first_open - 1
    return last


def finished(connection: Connection, tournament_id: int, after: int, last: int) -> list[RatedGame]:
    """The games that count, of those behind one number up to another."""
    if last <= after:
        return []
    rows = connection.execute(_FINISHED, {"of": tournament_id, "after": after, "last": last})
    return [rated_game(number, list(seats)) for number, seats in groupby(rows, key=lambda row: row.number)]


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
    return Tally(
        Rating(row.mu, row.sigma),
        row.games,
        row.wins,
        row.losses,
        row.draws,
        row.margin_total,
        row.margin_games,
        row.failures,
        row.unstarted,
    )


def advance(connection: Connection, tournament_id: int, games: Sequence[RatedGame], draw_probability: float) -> None:
    """Folds the games that follow in schedule order."""
    if not games:
        return
    tallies = {row.position: tally(row) for row in _entrants(connection, tournament_id, games)}
    rated = []
    for number, entrants, finished in games:
        after, flagged = fold([tallies[entrant] for entrant in entrants], finished, draw_probability)
        tallies.update(zip(entrants, after, strict=True))
        for place, one in enumerate(after):
            rated.append({"of": tournament_id, "game": number, "place": place, "flagged": flagged, **_rating(one)})
    connection.execute(_RATE_SEAT, rated)
    connection.execute(_UPDATE_ENTRANT, [_entrant(tournament_id, place, one) for place, one in tallies.items()])


def first_parked(
    connection: Connection, tournament_id: int, games: Sequence[RatedGame], spec: Spec
) -> tuple[Parked, ...]:
    """Whom the first of these games parks that parks anybody; they are not folded yet."""
    if not any(any(finished.failures) for _, _, finished in games):
        return ()
    rows = _entrants(connection, tournament_id, games)
    tallies = {row.position: tally(row) for row in rows}
    playing = {row.position for row in rows if row.parked is None}
    for number, entrants, finished in games:
        after = counted([tallies[entrant] for entrant in entrants], finished)
        tallies.update(zip(entrants, after, strict=True))
        parked = tuple(newly_parked(number, zip(entrants, after, strict=True), playing, spec))
        if parked:
            return parked
    return ()


def park(connection: Connection, tournament_id: int, parked: Sequence[Parked]) -> None:
    """Notes that these play no more."""
    connection.execute(_PARK, [_parked(tournament_id, one) for one in parked])


def _entrants(connection: Connection, tournament_id: int, games: Sequence[RatedGame]) -> Sequence[Any]:
    """The rows of those who play in these games."""
    places = sorted({entrant for _, entrants, _ in games for entrant in entrants})
    return connection.execute(_ENTRANTS, {"of": tournament_id, "places": places}).all()


def newly_parked(
    number: int, tallies: Iterable[tuple[int, Tally]], playing: Container[int], spec: Spec
) -> Iterator[Parked]:
    """Whom of its entrants, with their tallies after it, a game has parked.

    Args:
        number: of the game.
        tallies: each with its entrant.
        playing: the entrants that are not parked yet.
        spec: of the tournament.
    """
    for entrant, one in tallies:
        why = probation.parked(spec.probation, one) if entrant in playing else ""
        if why:
            yield Parked(entrant, number, why)


def parked_from(connection: Connection, tournament_id: int, number: int) -> tuple[Parked, ...]:
    """Whom the games from that number on have parked, in schedule order."""
    rows = connection.execute(_PARKED_FROM, {"of": tournament_id, "first": number})
    return tuple(Parked(row.position, row.parked, row.parked_why) for row in rows)


def _parked(tournament_id: int, one: Parked) -> dict[str, Any]:
    return {"of": tournament_id, "place": one.entrant, "parked": one.number, "why": one.why}


def _rating(tally: Tally) -> dict[str, float]:
    return {"mu": tally.rating.mu, "sigma": tally.rating.sigma}


def _entrant(tournament_id: int, position: int, tally: Tally) -> dict[str, Any]:
    counts = {name: getattr(tally, name) for name in COUNTS}
    return {"of": tournament_id, "place": position, **_rating(tally), **counts}
