"""The leaderboard and the progress of a tournament, read from what the fold keeps: quick while games are played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, func, select

from arena_server.model import FAILURES, Ending, Entrant, Spec, labels
from arena_server.ratings import Tally
from arena_server.store.folding import tally
from arena_server.store.tables import ENTRANT, GAME, TOURNAMENT
from arena_server.store.views import GameStatus, Parked, Progress, Standing, Tournament


def standings(connection: Connection, tournament: Tournament) -> list[Standing]:
    """Best first by mu - 3 sigma, mu, name; what is left equal stands in the order of entry."""
    query = select(ENTRANT).where(ENTRANT.c.tournament_id == tournament.id).order_by(ENTRANT.c.position)
    rows = connection.execute(query).all()
    parked = {entrant(row): Parked(row.position, row.parked, row.parked_why) for row in rows if row.parked is not None}
    found = ranked([(entrant(row), tally(row)) for row in rows], tournament.spec)
    return [replace(standing, parked=parked.get(standing.entrant)) for standing in found]


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
    """How many games are where."""
    by_status = select(GAME.c.status, func.count()).where(GAME.c.tournament_id == tournament.id).group_by(GAME.c.status)
    counts = {status: number for status, number in connection.execute(by_status)}  # noqa: C416 - rows are no pairs to mypy
    watermark = connection.execute(select(TOURNAMENT.c.watermark).where(TOURNAMENT.c.id == tournament.id)).scalar_one()
    folded = connection.execute(
        select(func.count()).where(
            GAME.c.tournament_id == tournament.id,
            GAME.c.status == GameStatus.FINISHED,
            GAME.c.number <= watermark,
        )
    ).scalar_one()
    return Progress(
        planned=sum(counts.values()),
        finished=counts.get(GameStatus.FINISHED, 0),
        folded=folded,
        abandoned=counts.get(GameStatus.ABANDONED, 0),
        cancelled=counts.get(GameStatus.CANCELLED, 0),
    )


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
