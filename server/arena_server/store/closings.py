"""The round-robin that decides a season: who plays in it, and its contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import Connection

from arena_server import formats
from arena_server.formats import matchmaking
from arena_server.model import Entrant, Purpose, Spec, UserError
from arena_server.store import registry, standings
from arena_server.store.views import Tournament

DEALS = 5
"""That each two play from every seat, unless the organiser says otherwise."""
MOST_GAMES = 1_000
"""Between each two."""
MOST = 100_000
"""Games of all together."""


def spec(connection: Connection, season: Tournament, top: int | None, games: int | None) -> Spec:
    """Its contract: everything but the plan is the season's; bots of one owner do not meet.

    Args:
        connection: to read from.
        season: frozen, and all of its games over.
        top: only so many play, the best of its table; None: all that still play.
        games: between each two; None: five deals.

    Raises:
        UserError: too few bots that may meet, or a number of games that cannot be played.
    """
    if top is not None and top < season.spec.seats:
        raise UserError("too few bots for a closing round-robin", top, f"give --top {season.spec.seats} or more")
    games = DEALS * season.spec.seats if games is None else games
    if games > MOST_GAMES:
        raise UserError("too many games between each two", games, f"at most {MOST_GAMES}")
    owners = registry.owners(connection)
    field = [season.spec.entrants[place] for place in _field(connection, season, owners)[:top]]
    found = Spec(
        entrants=tuple(field),
        game=season.spec.game,
        rules=season.spec.rules,
        seats=season.spec.seats,
        deals=season.spec.deals,
        games=games,
        time_control=season.spec.time_control,
        seed=season.spec.seed,
        draw_probability=season.spec.draw_probability,
        probation=season.spec.probation,
        beside=Purpose.CLOSING,
        owners=_numbered([owners[_key(one)] for one in field]),
    )
    planned = len(formats.plan(found, ()) or ()) * found.seats
    if not planned:
        raise UserError("no two bots may meet", ", ".join(found.labels), "bots of one owner do not play each other")
    if planned > MOST:
        raise UserError("too many games for a closing round-robin", planned, f"at most {MOST}: give --top or --games")
    return found


def _field(connection: Connection, season: Tournament, owners: Mapping[tuple[str, str], int]) -> list[int]:
    """Who still plays, the newest version of each, by index, best first: not parked, nor taken out, and with a game."""
    spec = season.spec
    retired = [(place, 1) for place, entrant in enumerate(spec.entrants) if _key(entrant) not in owners]
    active = formats.active(replace(spec, withdrawn=(*spec.withdrawn, *retired))) or frozenset()
    rows = standings.standings(connection, season)
    return [row.position for row in rows if row.position in active and row.games and row.parked is None]


def _numbered(owners: list[int]) -> tuple[int, ...]:
    """Each by the first entrant of its owner; those that are nobody's are alone."""
    return tuple(place if owner == matchmaking.NOBODY else owners.index(owner) for place, owner in enumerate(owners))


def _key(entrant: Entrant) -> tuple[str, str]:
    """As the registry knows it."""
    return entrant.name.casefold(), entrant.version
