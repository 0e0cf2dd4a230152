"""Amendments: a contract grows, or an entrant is taken out. Each is a link of the chain, like an attempt at a game.

What holds for a stage is what the last amendment before its planning says. Every amendment commits to a secret of its
own, unless the seed is public: the one before may have been revealed, and nobody shall know the deals to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, Row, insert, select, update

from arena_engine import deals
from arena_server import formats
from arena_server.model import Spec, UserError
from arena_server.store import contracts, journal, schedule, tournaments
from arena_server.store.advancing import advance, update_tournament
from arena_server.store.database import Database
from arena_server.store.entries import Entries
from arena_server.store.tables import AMENDMENT, ENTRANT, GAME, SEAT, TOURNAMENT
from arena_server.store.views import GameStatus, Status, Tournament


def extend(database: Database, tournament: Tournament, given: Spec) -> Tournament:
    """Lets a contract grow; see ``Store.extend``."""
    with database.write() as connection:
        schedule.check_epoch(connection, tournament)
        held = _growing(connection, tournament)
        spec = contracts.grown(held.name, held.spec, given, _next_stage(connection, held))
        if held.stopped is not None and spec != held.spec:
            what = f"tournament {held.name} was stopped: what it asked is known"
            raise UserError(what, held.spec.stop, "start another with --name or --new")
        return held if spec == held.spec else amend(connection, held, spec)


def withdraw(database: Database, tournament: Tournament, entrant: int, *, again: bool = False) -> Tournament:
    """Takes an entrant out; see ``Store.withdraw``."""
    with database.write() as connection:
        schedule.check_epoch(connection, tournament)
        held = _growing(connection, tournament)
        is_out = entrant in dict(held.spec.withdrawn)
        if is_out and not again:
            raise UserError("this bot is withdrawn already", held.spec.labels[entrant], "there is nothing left to do")
        return held if is_out else _withdraw(connection, held, entrant)


def call_off(database: Database, tournament: Tournament, why: str) -> Tournament:
    """Ends it before its games are played; see ``Store.call_off``."""
    with database.write() as connection:
        schedule.check_epoch(connection, tournament)
        held = tournaments.by_id(connection, tournament.id)
        out = dict(held.spec.withdrawn)
        for entrant in range(len(held.spec.entrants)):
            if held.status is not Status.FINISHED and entrant not in out:
                held = _withdraw(connection, held, entrant)
        connection.execute(update(TOURNAMENT).where(TOURNAMENT.c.id == held.id).values(called_off=why))
        return tournaments.by_id(connection, held.id)


def _withdraw(connection: Connection, held: Tournament, entrant: int) -> Tournament:
    spec, opened = held.spec, _open_games(connection, held, entrant)
    _cancel(connection, held, [game.number for game in opened])
    since = min((game.stage for game in opened), default=_next_stage(connection, held))  # a season has several open
    return amend(connection, held, replace(spec, withdrawn=(*spec.withdrawn, (entrant, since))))


def _growing(connection: Connection, tournament: Tournament) -> Tournament:
    """It as it is now; raises FrozenError for one that changes no more."""
    held = tournaments.by_id(connection, tournament.id)
    schedule.check_not_frozen(held)
    return held


def _next_stage(connection: Connection, tournament: Tournament) -> int:
    return schedule.last(connection, tournament, GAME.c.stage) + 1


def _open_games(connection: Connection, tournament: Tournament, entrant: int) -> Sequence[Row[int, int]]:
    """The number of each, and its stage."""
    query = (
        select(GAME.c.number, GAME.c.stage)
        .join(SEAT, (SEAT.c.tournament_id == GAME.c.tournament_id) & (SEAT.c.number == GAME.c.number))
        .where(GAME.c.tournament_id == tournament.id, SEAT.c.entrant == entrant, GAME.c.status == GameStatus.PLANNED)
    )
    return connection.execute(query).all()


def _cancel(connection: Connection, tournament: Tournament, numbers: Sequence[int]) -> None:
    of = GAME.c.tournament_id == tournament.id
    connection.execute(update(GAME).where(of, GAME.c.number.in_(numbers)).values(status=GameStatus.CANCELLED))


def amend(connection: Connection, held: Tournament, spec: Spec) -> Tournament:
    """Writes the next amendment, and what follows from it; the tournament as it is then."""
    secret = tournaments.new_secret(spec)
    amendment = journal.Amendment(
        number=len(held.terms),
        sequence=held.chain_length + 1,
        stage=_next_stage(connection, held),
        contract=contracts.amended(held.spec, spec),
        commitment=deals.commitment(secret),
    )
    head = journal.next_link(held.chain_head, journal.encode_amendment(amendment))
    connection.execute(
        insert(AMENDMENT).values(
            tournament_id=held.id,
            number=amendment.number,
            sequence=amendment.sequence,
            stage=amendment.stage,
            contract=amendment.contract,
            secret=secret,
            commitment=amendment.commitment,
            chain_hash=head,
            created_at=tournaments.now(),
        )
    )
    new = range(len(held.spec.entrants), len(spec.entrants))
    if new:
        connection.execute(insert(ENTRANT), [tournaments.entrant_row(spec, held.id, place) for place in new])
    _settle(connection, held, spec, head)
    return tournaments.by_id(connection, held.id)


def _settle(connection: Connection, held: Tournament, spec: Spec, head: str) -> None:
    """The tournament's row: its chain, how far it is rated now, and whether it is done."""
    of = TOURNAMENT.c.id == held.id
    row = connection.execute(select(TOURNAMENT).where(of)).one()
    entries = Entries(connection, row, held.chain_length + 1, head)
    advanced = advance(connection, row, entries)
    update_tournament(connection, row, advanced, entries)
    done = advanced.stopped is not None or (
        not formats.find(spec.format).open_ended
        and not schedule.any_open(connection, held)
        and formats.plan(spec, schedule.stages(connection, held)) is None
    )
    connection.execute(
        update(TOURNAMENT)
        .where(of)
        .values(
            status=Status.FINISHED if done else Status.RUNNING,
            finished_at=(held.finished or tournaments.now()) if done else None,
        )
    )
