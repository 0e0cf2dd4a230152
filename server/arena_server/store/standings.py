"""The leaderboard and the progress of a tournament, read from what the fold keeps: quick while games are played."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, ScalarSelect, bindparam, func, literal, select

from arena_server.formats import active
from arena_server.model import FAILURES, Ending, Entrant, Spec, labels
from arena_server.ratings import Rating, Tally, conservative
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
    asked, spec = {"of": tournament.id}, tournament.spec
    whole = limit is None or limit >= len(spec.entrants)
    rows = connection.execute(_ENTRANTS if whole else _KEYS, asked).all()
    order = _best_first(rows, spec, among)
    begin = 0 if after is None else bisect_right(order, after.order(spec))
    places = [place for *_, place in order[begin : None if limit is None else begin + limit]]
    if not whole:
        rows = connection.execute(_SOME_ENTRANTS, {**asked, "places": places}).all()
    return _in_places(rows, spec, places, begin)


def standing(connection: Connection, tournament: Tournament, position: int) -> Standing:
    """The row of one entrant: as the leaderboard shows it, else as that of all versions does."""
    asked, spec = {"of": tournament.id}, tournament.spec
    shown = active(spec)
    among = shown if shown is not None and position in shown else None
    places = [place for *_, place in _best_first(connection.execute(_KEYS, asked).all(), spec, among)]
    rows = connection.execute(_SOME_ENTRANTS, {**asked, "places": [position]}).all()
    return _in_places(rows, spec, [position], places.index(position))[0]


_Place = tuple[float, float, str, int]
"""What a row is sorted by, see ``Key.order``; the last is the entrant."""


def _best_first(rows: Sequence[Any], spec: Spec, among: Collection[int] | None = None) -> list[_Place]:
    """Of all entrants, or of these by index. As by ``Key.order``, spelled out: most of what a page of many costs."""
    names = spec.name_keys
    found = sorted([(3 * sigma - mu, -mu, names[place], place) for place, mu, sigma, *_ in rows])
    return found if among is None else [row for row in found if row[-1] in among]


def _in_places(rows: Sequence[Any], spec: Spec, places: Sequence[int], before: int) -> list[Standing]:
    """The rows of these entrants, which follow each other behind so many others."""
    found, out = {row[0]: row for row in rows}, dict(spec.withdrawn)
    return [_placed(rank, found[place], spec, out) for rank, place in enumerate(places, before + 1)]


def _placed(rank: int, row: Any, spec: Spec, out: Collection[int]) -> Standing:
    place, mu, sigma, games, wins, losses, draws, margin, margin_games, failures, parked, why = row
    return Standing(
        rank=rank,
        position=place,
        entrant=spec.entrants[place],
        label=spec.labels[place],
        rating=Rating(mu, sigma),
        games=games,
        wins=wins,
        losses=losses,
        draws=draws,
        margin=_mean(margin, margin_games),
        failures=_in_order(failures),
        withdrawn=place in out,
        parked=None if parked is None else Parked(place, parked, why),
    )


def rated(connection: Connection, tournament: Tournament) -> tuple[int, dict[int, float]]:
    """Number of the last game that is rated, and the mean of every entrant after it."""
    of = {"of": tournament.id}
    watermark = connection.execute(_WATERMARK, of).scalar_one()
    return watermark, {place: mu for place, mu, _ in connection.execute(_KEYS, of)}


def ranked(rows: Sequence[tuple[Entrant, Tally]], spec: Spec) -> list[Standing]:
    """The same from entrants and their tallies, in the order of entry."""
    out = dict(spec.withdrawn)
    named = list(zip(range(len(rows)), rows, labels([who for who, _ in rows]), strict=True))
    best_first = sorted(named, key=lambda row: _order(*row[1]))
    return [
        Standing(
            rank=rank,
            position=place,
            entrant=who,
            label=label,
            rating=tally.rating,
            games=tally.games,
            wins=tally.wins,
            losses=tally.losses,
            draws=tally.draws,
            margin=_mean(tally.margin_total, tally.margin_games),
            failures=_in_order(tally.failures),
            withdrawn=place in out,
        )
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
    planned, watermark, last, given_up, taken_off, finished, abandoned, cancelled = connection.execute(
        _COUNTS, {"of": tournament.id}
    ).one()
    folded = watermark - given_up - taken_off
    return Progress(
        planned=planned,
        finished=folded + finished,
        folded=folded,
        abandoned=given_up + abandoned,
        cancelled=taken_off + cancelled + planned - last,
    )


def remarks(connection: Connection, tournament: Tournament, progress: Progress) -> Remarks:
    """What readers should know of single games; of very many the first."""
    of = {"of": tournament.id}
    given_up = connection.execute(_GIVEN_UP, of).scalars().all() if progress.abandoned else ()
    return Remarks(tuple(given_up), tuple(connection.execute(_FLAGGED, of).scalars().all()))


def _counted(status: GameStatus, after: ColumnElement[int], last: ColumnElement[int]) -> ScalarSelect[int]:
    """Games of that status behind one number, up to another."""
    here = (GAME.c.tournament_id == TOURNAMENT.c.id, GAME.c.status == status)
    return select(func.count()).where(*here, GAME.c.number > after, GAME.c.number <= last).scalar_subquery()


# Statements are built once: building one costs more than running it.
_KEYS = select(ENTRANT.c.position, ENTRANT.c.mu, ENTRANT.c.sigma).where(ENTRANT.c.tournament_id == bindparam("of"))
_COUNTED = ("games", "wins", "losses", "draws", "margin_total", "margin_games", "failures")
_SHOWN = (ENTRANT.c[name] for name in ("position", "mu", "sigma", *_COUNTED, "parked", "parked_why"))
_ENTRANTS = select(*_SHOWN).where(ENTRANT.c.tournament_id == bindparam("of"))
_SOME_ENTRANTS = _ENTRANTS.where(ENTRANT.c.position.in_(bindparam("places", expanding=True)))
_WATERMARK = select(TOURNAMENT.c.watermark).where(TOURNAMENT.c.id == bindparam("of"))
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
_NONE, _RATED, _LAST = literal(0), TOURNAMENT.c.watermark, func.coalesce(TOURNAMENT.c.stopped, TOURNAMENT.c.planned)
_COUNTS = select(
    TOURNAMENT.c.planned,
    _RATED,
    _LAST,
    _counted(GameStatus.ABANDONED, _NONE, _RATED),
    _counted(GameStatus.CANCELLED, _NONE, _RATED),
    _counted(GameStatus.FINISHED, _RATED, _LAST),
    _counted(GameStatus.ABANDONED, _RATED, _LAST),
    _counted(GameStatus.CANCELLED, _RATED, _LAST),
).where(TOURNAMENT.c.id == bindparam("of"))


def _mean(total: int, games: int) -> float | None:
    return total / games if games else None


def _in_order(failures: Mapping[str, int]) -> dict[Ending, int]:
    return {kind: failures[kind] for kind in FAILURES if kind in failures} if failures else {}
