"""What follows in schedule order from the games that are closed: ratings, parked bots, whether the stop rule is met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, update

from arena_server.store import contracts, folding, forfeits, stopping
from arena_server.store.entries import Entries
from arena_server.store.tables import TOURNAMENT
from arena_server.store.views import Parked

_UPDATE_TOURNAMENT = (
    update(TOURNAMENT)
    .where(TOURNAMENT.c.id == bindparam("of"))
    .values({name: bindparam(name) for name in ("commits", "chain_head", "watermark", "sums", "stopped")})
)


@dataclass
class Advanced:
    """How far a tournament is.

    Attributes:
        watermark: number of the last game that the ratings include or pass over.
        sums: of the stop rule.
        stopped: number of the game at which it was met.
        parked: who plays no more since this time.
    """

    watermark: int
    sums: Any
    stopped: int | None
    parked: tuple[Parked, ...] = ()

    @property
    def columns(self) -> dict[str, Any]:
        """Those of the tournament."""
        return {"watermark": self.watermark, "sums": self.sums, "stopped": self.stopped}


def advance(connection: Connection, tournament: Row[Any], entries: Entries) -> Advanced:
    """Goes on over every game that became contiguous; games of those who are parked by it are lost or taken off.

    Args:
        connection: of the transaction that closed them.
        tournament: its row.
        entries: what was recorded in this transaction; forfeited games are added.
    """
    entries.write()
    done = Advanced(tournament.watermark, tournament.sums, tournament.stopped)
    while done.stopped is None:
        parked = _step(connection, tournament, done)
        if not parked:
            break
        folding.park(connection, tournament.id, parked)
        done.parked += parked
        if done.stopped is None:
            forfeits.settle(connection, tournament, entries, [one.entrant for one in parked], parked[0].number + 1)
            entries.write()
    return done


def settle(connection: Connection, tournament_id: int, first: int) -> None:
    """The same once games are planned, from that number on: those who are parked already do not play them."""
    parked = forfeits.parked(connection, tournament_id)
    if not parked:
        return
    row = connection.execute(select(TOURNAMENT).where(TOURNAMENT.c.id == tournament_id)).one()
    entries = Entries(connection, row, row.commits, row.chain_head)
    forfeits.settle(connection, row, entries, parked, first)
    update_tournament(connection, row, advance(connection, row, entries), entries)


def update_tournament(connection: Connection, tournament: Row[Any], advanced: Advanced, entries: Entries) -> None:
    """How far it is, and its chain."""
    chain = {"commits": entries.length, "chain_head": entries.head}
    connection.execute(_UPDATE_TOURNAMENT, {"of": tournament.id, **chain, **advanced.columns})


def _step(connection: Connection, tournament: Row[Any], done: Advanced) -> tuple[Parked, ...]:
    """Goes on to the first game that parks somebody, or that the stop rule is met at; whom it parks."""
    spec = contracts.spec_of(tournament.contract)  # what is asked here, no amendment changes
    last = folding.contiguous(connection, tournament.id)
    if spec.purpose.served:  # no part of a pairing; games are numbered pairing by pairing
        last = max(last - last % spec.seats, done.watermark)
    games = folding.finished(connection, tournament.id, done.watermark, last)
    parked = folding.first_parked(connection, tournament.id, games, spec)
    last = parked[0].number if parked else last  # what follows is no more what it was
    judged = stopping.judged(connection, tournament.id, spec, done.sums, last)
    if judged:
        done.sums = dict(judged[-1].sums)
    if judged and judged[-1].decided:
        last = done.stopped = judged[-1].number
        stopping.cancel(connection, tournament.id, last)
    ready = [game for game in games if game[0] <= last]
    folding.advance(connection, tournament.id, ready, spec.draw_probability)
    done.watermark = last
    return tuple(one for one in parked if one.number <= last)
