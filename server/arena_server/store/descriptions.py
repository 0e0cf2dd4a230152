"""What is said of a tournament and its entrants beside the contract, and what its runs ran with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, insert, select, update

from arena_server.model import About
from arena_server.store.database import Database
from arena_server.store.tables import ABOUT, RUN, TOURNAMENT
from arena_server.store.tournaments import now
from arena_server.store.views import Run, Tournament


def describe(database: Database, tournament: Tournament, tags: Sequence[str] | None, about: Sequence[About]) -> None:
    """Writes what is said; see ``Store.describe``."""
    if tags is None and not any(one != About() for one in about):
        return
    with database.write() as connection:
        if tags is not None:
            connection.execute(update(TOURNAMENT).where(TOURNAMENT.c.id == tournament.id).values(tags=list(tags)))
        for position, one in enumerate(about):
            said = {key: value for key, value in asdict(one).items() if value is not None}
            if said:
                _describe(connection, {"tournament_id": tournament.id, "position": position}, said)


def anchor(database: Database, tournament: Tournament, anchors: Mapping[str, float]) -> None:
    """Writes whose Bradley-Terry values are fixed; see ``Store.anchor``."""
    with database.write() as connection:
        connection.execute(update(TOURNAMENT).where(TOURNAMENT.c.id == tournament.id).values(anchors=dict(anchors)))


def _describe(connection: Connection, key: Mapping[str, int], said: Mapping[str, Any]) -> None:
    here = [ABOUT.c[name] == value for name, value in key.items()]
    if not connection.execute(update(ABOUT).where(*here).values(**said)).rowcount:
        connection.execute(insert(ABOUT).values(**key, **said))


def abouts(connection: Connection, tournament: Tournament) -> tuple[About, ...]:
    """What is said of every entrant, in the order of entry."""
    rows = connection.execute(select(ABOUT).where(ABOUT.c.tournament_id == tournament.id))
    said = {row.position: About(row.owner, row.group, None if row.tags is None else tuple(row.tags)) for row in rows}
    return tuple(said.get(position, About()) for position in range(len(tournament.spec.entrants)))


def begin_run(database: Database, tournament: Tournament, facts: Mapping[str, Any], *, again: bool = False) -> None:
    """Writes what the coordinator of this epoch runs with; see ``Store.begin_run``."""
    row = {"tournament_id": tournament.id, "epoch": tournament.epoch, "started_at": now(), "facts": dict(facts)}
    with database.write() as connection:
        if not (again and tournament.epoch in {run.epoch for run in runs(connection, tournament)}):
            connection.execute(insert(RUN).values(**row))


def runs(connection: Connection, tournament: Tournament) -> list[Run]:
    """Every run, the first first."""
    query = select(RUN).where(RUN.c.tournament_id == tournament.id).order_by(RUN.c.epoch)
    return [Run(row.epoch, row.started_at, row.facts) for row in connection.execute(query)]
