"""The leaderboard and the progress of a tournament, read from what the fold keeps: quick while games are played."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Integer, ScalarSelect, bindparam, func, literal, select

from arena_server.formats import active
from arena_server.model import FAILURES, Ending, Entrant, Spec, labels
from arena_server.ratings import Rating, Tally, conservative
from arena_server.store.folding import COUNTS
from arena_server.store.tables import ENTRANT, GAME, SEAT, TOURNAMENT
from arena_server.store.views import GameStatus, Parked, Progress, Remarks, Standing, Tournament

MAX_REMARKS = 1000
"""Games of one kind that are named."""


class Key(NamedTuple):
    """Where a row stands in a leaderboard: its rating, and its place in the contract."""

    mu: float
    sigma: float
    position: int

    def order(self, spec: Spec) -> tuple[float, float, str, int]:
        """What rows are sorted by; what is left equal stands in the order of entry."""
        mu, sigma, position = self
        return -conservative(mu, sigma), -mu, spec.name_keys[position], position


def standings(
    connection: Connection,
    tournament: Tournament,
    after: Key | None = None,
    limit: int | None = None,
    among: Collection[int] | None = None,
) -> list[Standing]:
    """Best first by mu - 3 sigma, mu, name.

    Args:
        connection: to read from.
        tournament: whose.
        after: only rows behind this one, wherever it stands now.
        limit: at most so many.
        among: only these entrants, by index; None: all.
    """
    order, spec = _best_first(connection, tournament, among), tournament.spec
    begin = 0 if after is None else bisect_right(order, after.order(spec))
    end = len(order) if limit is None else begin + limit
    return _rows(connection, tournament, [place for *_, place in order[begin:end]], begin)


def standing(connection: Connection, tournament: Tournament, position: int) -> Standing:
    """The row of one entrant: as the leaderboard shows it, else as that of all versions does."""
    shown = active(tournament.spec)
    order = _best_first(connection, tournament, shown if shown is not None and position in shown else None)
    places = [place for *_, place in order]
    return _rows(connection, tournament, [position], places.index(position))[0]


_Place = tuple[float, float, str, int]
"""What a row is sorted by, see ``Key.order``; the last is the entrant."""


def _best_first(connection: Connection, tournament: Tournament, among: Collection[int] | None = None) -> list[_Place]:
    """Of all entrants, or of these by index. As by ``Key.order``, spelled out: most of what a page of many costs."""
    rows, names = connection.execute(_KEYS, {"of": tournament.id}).all(), tournament.spec.name_keys
    found = sorted([(3 * sigma - mu, -mu, names[place], place) for mu, sigma, place in rows])
    return found if among is None else [row for row in found if row[-1] in among]


def _rows(connection: Connection, tournament: Tournament, places: Sequence[int], before: int) -> list[Standing]:
    """The rows of these entrants, which follow each other behind so many others."""
    asked: dict[str, Any] = {"of": tournament.id}
    query, spec = _ENTRANTS, tournament.spec
    if len(places) < len(spec.entrants):
        query, asked["places"] = _SOME_ENTRANTS, places
    rows = {row.position: row for row in connection.execute(query, asked).all()}
    entrants, names, out = spec.entrants, spec.labels, dict(spec.withdrawn)
    found = []
    for rank, place in enumerate(places, before + 1):
        row = rows[place]
        parked = None if row.parked is None else Parked(place, row.parked, row.parked_why)
        who = (entrants[place], names[place], Rating(row.mu, row.sigma))
        found.append(_standing(rank, place, *who, row, withdrawn=place in out, parked=parked))
    return found


def rated(connection: Connection, tournament: Tournament) -> tuple[int, dict[int, float]]:
    """Number of the last game that is rated, and the mean of every entrant after it."""
    of = {"of": tournament.id}
    _, watermark, _ = connection.execute(_HOW_FAR, of).one()
    return watermark, {place: mu for mu, _, place in connection.execute(_KEYS, of)}


def ranked(rows: Sequence[tuple[Entrant, Tally]], spec: Spec) -> list[Standing]:
    """The same from entrants and their tallies, in the order of entry."""
    out = dict(spec.withdrawn)
    named = list(zip(range(len(rows)), rows, labels([who for who, _ in rows]), strict=True))
    best_first = sorted(named, key=lambda row: _order(*row[1]))
    return [
        _standing(rank, place, who, label, tally.rating, tally, withdrawn=place in out)
        for rank, (place, (who, tally), label) in enumerate(best_first, 1)
    ]


def _order(who: Entrant, tally: Tally) -> tuple[float, float, str]:
    return -tally.rating.conservative, -tally.rating.mu, who.name.casefold()


def entrant(row: Any) -> Entrant:
    """Who a row of ``entrant`` is."""
    return Entrant(row.name, row.version, row.digest, tuple(sorted(row.options.items())))


def progress(connection: Connection, tournament: Tournament) -> Progress:
    """How many games are where; counts only what is out of the ordinary, so that a million games take no longer.

    Every number up to the watermark is closed: rated, abandoned or cancelled. What is behind a stop is cancelled.
    """
    planned, watermark, stopped = connection.execute(_HOW_FAR, {"of": tournament.id}).one()
    last = planned if stopped is None else stopped
    given_up, taken_off, finished, abandoned, cancelled = connection.execute(
        _COUNTS, {"of": tournament.id, "watermark": watermark, "last": last}
    ).one()
    folded = watermark - given_up - taken_off
    return Progress(
        planned=planned,
        finished=folded + finished,
        folded=folded,
        abandoned=given_up + abandoned,
        cancelled=taken_off + cancelled + planned - last,
    )


def _counted(status: GameStatus, after: ColumnElement[int], last: ColumnElement[int]) -> ScalarSelect[int]:
    """Games of that status behind one number, up to another."""
    here = (GAME.c.tournament_id == bindparam("of"), GAME.c.status == status)
    return select(func.count()).where(*here, GAME.c.number > after, GAME.c.number <= last).scalar_subquery()


def remarks(connection: Connection, tournament: Tournament) -> Remarks:
    """What readers should know of single games; of very many the first."""
    of = {"of": tournament.id}
    return Remarks(*(tuple(connection.execute(query, of).scalars().all()) for query in (_GIVEN_UP, _FLAGGED)))


# Statements are built once: building one costs more than running it.
_NONE, _WATERMARK, _LAST = literal(0), bindparam("watermark", type_=Integer), bindparam("last", type_=Integer)
_KEYS = select(ENTRANT.c.mu, ENTRANT.c.sigma, ENTRANT.c.position).where(ENTRANT.c.tournament_id == bindparam("of"))
_SHOWN = (ENTRANT.c[name] for name in ("position", "mu", "sigma", *COUNTS, "parked", "parked_why"))
_ENTRANTS = select(*_SHOWN).where(ENTRANT.c.tournament_id == bindparam("of"))
_SOME_ENTRANTS = _ENTRANTS.where(ENTRANT.c.position.in_(bindparam("places", expanding=True)))
_HOW_FAR = select(TOURNAMENT.c.planned, TOURNAMENT.c.watermark, TOURNAMENT.c.stopped).where(
    TOURNAMENT.c.id == bindparam("of")
)
_GIVEN_UP = (
    select(GAME.c.number)
    .where(GAME.c.tournament_id == bindparam("of"), GAME.c.status == GameStatus.ABANDONED)
    .order_by(GAME.c.number)
    .limit(MAX_REMARKS)
)
_FLAGGED = (
    select(SEAT.c.number)
    .where(SEAT.c.tournament_id == bindparam("of"), SEAT.c.flagged)
    .distinct()
    .order_by(SEAT.c.number)
    .limit(MAX_REMARKS)
)
_COUNTS = select(
    _counted(GameStatus.ABANDONED, _NONE, _WATERMARK),
    _counted(GameStatus.CANCELLED, _NONE, _WATERMARK),
    _counted(GameStatus.FINISHED, _WATERMARK, _LAST),
    _counted(GameStatus.ABANDONED, _WATERMARK, _LAST),
    _counted(GameStatus.CANCELLED, _WATERMARK, _LAST),
)


def _standing(  # noqa: PLR0913, PLR0917 - a row has many columns
    rank: int,
    position: int,
    who: Entrant,
    label: str,
    rating: Rating,
    counts: Any,
    *,
    withdrawn: bool,
    parked: Parked | None = None,
) -> Standing:
    """A row of the leaderboard; the counts are a tally's, or its row's."""
    return Standing(
        rank=rank,
        position=position,
        entrant=who,
        label=label,
        rating=rating,
        games=counts.games,
        wins=counts.wins,
        losses=counts.losses,
        draws=counts.draws,
        margin=counts.margin_total / counts.margin_games if counts.margin_games else None,
        failures=_in_order(counts.failures),
        withdrawn=withdrawn,
        parked=parked,
    )


def _in_order(failures: Mapping[str, int]) -> dict[Ending, int]:
    return {kind: failures[kind] for kind in FAILURES if kind in failures} if failures else {}
