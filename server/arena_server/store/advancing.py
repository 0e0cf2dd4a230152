"""What follows in schedule order from the games that are closed: ratings, and whether the stop rule is met."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row

from arena_server.store import folding, stopping, tournaments


def advance(connection: Connection, tournament: Row[Any]) -> dict[str, Any]:
    """Goes on over every game that became contiguous.

    Args:
        connection: of the transaction that closed them.
        tournament: its row.

    Returns:
        The tournament's columns that say how far that is.
    """
    if tournament.stopped is not None:
        return {name: getattr(tournament, name) for name in ("watermark", "sums", "stopped")}
    spec = tournaments.spec_of(tournament.contract)  # what is asked here, no amendment changes
    last, stopped = folding.contiguous(connection, tournament.id), None
    judged = stopping.judged(connection, tournament, spec, last)
    if judged and judged[-1].decided:
        last = stopped = judged[-1].number
        stopping.cancel(connection, tournament.id, last)
    folding.advance(connection, tournament.id, tournament.watermark, last, spec.draw_probability)
    return {"watermark": last, "sums": dict(judged[-1].sums) if judged else tournament.sums, "stopped": stopped}
