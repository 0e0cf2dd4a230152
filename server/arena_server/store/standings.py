"""The leaderboard and the progress of a tournament, read from what the fold keeps: quick while games are played."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, func, select

from arena_server.model import FAILURES, Ending, Entrant, Spec, labels
from arena_server.ratings import Rating, Tally
from arena_server.store.folding import tally
from arena_server.store.tables import ENTRANT, GAME, SEAT, TOURNAMENT
from arena_server.store.views import GameStatus, Parked, Progress, Remarks, Standing, Tournament

MAX_REMARKS = 1000
"""Games of one kind that are named."""


@dataclass(frozen=True, slots=True)
class Key:
    """Where a row stands in a leaderboard: its rating, and its place in the contract."""

    mu: float
    sigma: float
    position: int

    def order(self, spec: Spec) -> tuple[float, float, str, int]:
        """What rows are sorted by; what is left equal stands in the order of entry."""
        rating, name = Rating(self.mu, self.sigma), spec.entrants[self.position].name
        return -rating.conservative, -rating.mu, name.casefold(), self.position


def standings(
    connection: Connection, tournament: Tournament, after: Key | None = None, limit: int | None = None
) -> list[Standing]:
    """Best first by mu - 3 sigma, mu, name.

    Args:
        connection: to read from.
        tournament: whose.
        after: only rows behind this one, wherever it stands now.
        limit: at most so many.
    """
    order = keys(connection, tournament)
    spec = tournament.spec
    begin = 0 if after is None else bisect_right(order, after.order(spec), key=lambda key: key.order(spec))
    end = len(order) if limit is None else begin + limit
    return _rows(connection, tournament, order[begin:end], begin)


def standing(connection: Connection, tournament: Tournament, position: int) -> Standing:
    """The row of one entrant."""
    order = keys(connection, tournament)
    place = next(place for place, key in enumerate(order) if key.position == position)
    return _rows(connection, tournament, order[place : place + 1], place)[0]


def keys(connection: Connection, tournament: Tournament) -> list[Key]:
    """Of all entrants, best first."""
    query = select(ENTRANT.c.mu, ENTRANT.c.sigma, ENTRANT.c.position).where(ENTRANT.c.tournament_id == tournament.id)
    found = [Key(*row) for row in connection.execute(query)]
    return sorted(found, key=lambda key: key.order(tournament.spec))


def _rows(connection: Connection, tournament: Tournament, wanted: Sequence[Key], before: int) -> list[Standing]:
    """The rows of these entrants, which follow each other behind so many others."""
    query = select(ENTRANT).where(ENTRANT.c.tournament_id == tournament.id)
    if len(wanted) < len(tournament.spec.entrants):
        query = query.where(ENTRANT.c.position.in_([key.position for key in wanted]))
    rows = {row.position: row for row in connection.execute(query)}
    names, out = tournament.spec.labels, dict(tournament.spec.withdrawn)
    found = []
    for rank, place in enumerate((key.position for key in wanted), before + 1):
        row = rows[place]
        shown = _standing(rank, entrant(row), tally(row), names[place], place in out)
        parked = None if row.parked is None else Parked(place, row.parked, row.parked_why)
        found.append(replace(shown, parked=parked))
    return found


def rated(connection: Connection, tournament: Tournament) -> tuple[int, list[Tally]]:
    """Number of the last game that is rated, and the tallies after it in the order of entry."""
    watermark = connection.execute(select(TOURNAMENT.c.watermark).where(TOURNAMENT.c.id == tournament.id)).scalar_one()
    query = select(ENTRANT).where(ENTRANT.c.tournament_id == tournament.id).order_by(ENTRANT.c.position)
    return watermark, [tally(row) for row in connection.execute(query)]


def ranked(rows: Sequence[tuple[Entrant, Tally]], spec: Spec) -> list[Standing]:
    """The same from entrants and their tallies, in the order of entry."""
    out = dict(spec.withdrawn)
    named = zip(rows, labels([who for who, _ in rows]), (place in out for place in range(len(rows))), strict=True)
    best_first = sorted(named, key=lambda row: _order(*row[0]))
    return [_standing(rank, *row, label, withdrawn) for rank, (row, label, withdrawn) in enumerate(best_first, 1)]


def _order(who: Entrant, tally: Tally) -> tuple[float, float, str]:
    return -tally.rating.conservative, -tally.rating.mu, who.name.casefold()


def entrant(row: Any) -> Entrant:
    """Who a row of ``entrant`` is."""
    return Entrant(row.name, row.version, row.digest, tuple(sorted(row.options.items())))


def progress(connection: Connection, tournament: Tournament) -> Progress:
    """How many games are where; counts only what is out of the ordinary, so that a million games take no longer.

    Every number up to the watermark is closed: rated, abandoned or cancelled. What is behind a stop is cancelled.
    """
    held = select(TOURNAMENT.c.planned, TOURNAMENT.c.watermark, TOURNAMENT.c.stopped)
    planned, watermark, stopped = connection.execute(held.where(TOURNAMENT.c.id == tournament.id)).one()
    last = planned if stopped is None else stopped
    closed = {
        status: [_count(connection, tournament, status, *span) for span in ((0, watermark), (watermark, last))]
        for status in (GameStatus.ABANDONED, GameStatus.CANCELLED)
    }
    folded = watermark - sum(before for before, _ in closed.values())
    return Progress(
        planned=planned,
        finished=folded + _count(connection, tournament, GameStatus.FINISHED, watermark, last),
        folded=folded,
        abandoned=sum(closed[GameStatus.ABANDONED]),
        cancelled=sum(closed[GameStatus.CANCELLED]) + planned - last,
    )


def _count(connection: Connection, tournament: Tournament, status: GameStatus, after: int, last: int) -> int:
    """Games of that status behind one number, up to another."""
    found: int = connection.execute(
        select(func.count()).where(
            GAME.c.tournament_id == tournament.id, GAME.c.status == status, GAME.c.number > after, GAME.c.number <= last
        )
    ).scalar_one()
    return found


def remarks(connection: Connection, tournament: Tournament) -> Remarks:
    """What readers should know of single games; of very many the first."""
    given_up = select(GAME.c.number).where(GAME.c.tournament_id == tournament.id, GAME.c.status == GameStatus.ABANDONED)
    flagged = select(SEAT.c.number).where(SEAT.c.tournament_id == tournament.id, SEAT.c.flagged).distinct()
    queries = (query.order_by("number").limit(MAX_REMARKS) for query in (given_up, flagged))
    found = (tuple(connection.execute(query).scalars()) for query in queries)
    return Remarks(*found)


def _standing(rank: int, who: Entrant, tally: Tally, label: str, withdrawn: bool) -> Standing:  # noqa: FBT001 - a column
    return Standing(
        rank=rank,
        entrant=who,
        label=label,
        rating=tally.rating,
        games=tally.games,
        wins=tally.wins,
        losses=tally.losses,
        draws=tally.draws,
        margin=tally.margin_total / tally.margin_games if tally.margin_games else None,
        failures=_in_order(tally.failures),
        withdrawn=withdrawn,
    )


def _in_order(failures: Mapping[str, int]) -> dict[Ending, int]:
    return {kind: failures[kind] for kind in FAILURES if kind in failures}
