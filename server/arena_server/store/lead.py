"""How sure the lead of a tournament is."""

from __future__ import annotations

from sqlalchemy import Connection

from arena_server.ratings.bradley_terry import fit
from arena_server.ratings.pairs import pairs
from arena_server.store.meetings import stream
from arena_server.store.standings import standings
from arena_server.store.views import Tournament

_FEW = 2


def lead(connection: Connection, tournament: Tournament) -> str:
    """The first of the standings against the second, in words; empty while too little was played to say."""
    spec = tournament.spec
    compared = pairs(stream(connection, tournament))
    if len(compared) < _FEW or len(spec.entrants) < _FEW:
        return ""
    first, second = standings(connection, tournament)[:2]
    fitted = fit(compared, len(spec.entrants), spec.seats)
    one, other = spec.entrants.index(first.entrant), spec.entrants.index(second.entrant)
    if None in (fitted.strengths()[one], fitted.strengths()[other]):
        return ""
    over = fitted.difference(one, other)
    sure = f"{over.positive:.1%} sure, Elo {over.value:+.0f} ({over.low:+.0f}..{over.high:+.0f})"
    return f"{first.label} over {second.label}: {sure}"
