"""Tournaments: finding or making one by its contract, and how far it is."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from arena_engine import deals
from arena_engine.game import find as find_game
from arena_server import ratings
from arena_server.model import Purpose, Spec, UserError, canonical_json
from arena_server.store import contracts, journal
from arena_server.store.database import Database
from arena_server.store.tables import AMENDMENT, ENTRANT, TOURNAMENT
from arena_server.store.views import Entered, SideEvent, Status, Terms, Tournament

_AMENDED = (
    select(AMENDMENT.c.chain_hash)
    .where(AMENDMENT.c.tournament_id == TOURNAMENT.c.id)
    .order_by(AMENDMENT.c.number.desc())
    .limit(1)
    .scalar_subquery()
    .label("amended")
)
_ROWS = select(TOURNAMENT, _AMENDED)
NEWEST_FIRST = _ROWS.order_by(TOURNAMENT.c.id.desc())
"""What ``load`` reads: choose among its rows, and build the statement once where it is often run."""
_BY_NAME = _ROWS.where(TOURNAMENT.c.name_key == bindparam("key"))
_BY_ID = _ROWS.where(TOURNAMENT.c.id == bindparam("of"))
_KNOWN: dict[tuple[str, bytes, str | None, bool], tuple[Terms, ...]] = {}
_MAX_KNOWN = 16
"""Tournaments, as they are at some time, whose contracts are kept in memory."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def now() -> str:
    """The time as it is stored: UTC, ISO 8601 with seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def by_id(connection: Connection, tournament_id: int, *, public: bool = False) -> Tournament:
    """The tournament of that id; as ``load``."""
    return load(connection, _BY_ID, public=public, of=tournament_id)[0]


def find(connection: Connection, name: str, *, public: bool = False) -> Tournament | None:
    """The tournament of that name, without regard to case; as ``load``."""
    return next(iter(load(connection, _BY_NAME, public=public, key=name.casefold())), None)


def load(connection: Connection, query: Select[Any], *, public: bool = False, **parameters: object) -> list[Tournament]:
    """What the rows that a query finds in ``tournament`` say, with their amendments.

    Args:
        connection: to read from.
        query: chooses among ``NEWEST_FIRST``.
        public: whether secrets are left out that nobody may know yet.
        parameters: of the query.
    """
    rows = connection.execute(query, parameters).all()
    return [view(row, _terms(connection, row, secret=public and _is_secret(row))) for row in rows]


def _is_secret(row: Row[Any]) -> bool:
    """Whether its secrets are not to be known yet."""
    return not row.public_seed and row.status != Status.FINISHED


def _terms(connection: Connection, row: Row[Any], *, secret: bool) -> tuple[Terms, ...]:
    """Its contracts, read once: they never change, and the newest amendment's link of the chain stands for all."""
    key = row.contract, row.secret, row.amended, secret
    found = _KNOWN.get(key)
    if found is None:
        found = read_terms(connection, row)
        if secret:
            found = tuple(replace(terms, secret=b"") for terms in found)
        if len(_KNOWN) >= _MAX_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = found
    return found


def read_terms(connection: Connection, row: Row[Any]) -> tuple[Terms, ...]:
    """The contract of a row of ``tournament``, and what it became with each amendment, as they are stored now."""
    of = select(AMENDMENT).where(AMENDMENT.c.tournament_id == row.id).order_by(AMENDMENT.c.number)
    amendments = connection.execute(of).all()
    contract, *later = contracts.history(row.contract, [one.contract for one in amendments])
    return (
        Terms(1, contract[0], row.secret, row.commitment),
        *(
            Terms(one.stage, whole, one.secret, one.commitment, extent)
            for one, (whole, extent) in zip(amendments, later, strict=True)
        ),
    )


def view(row: Row[Any], terms: tuple[Terms, ...]) -> Tournament:
    """What a row of ``tournament`` says."""
    return Tournament(
        id=row.id,
        name=row.name,
        terms=terms,
        public_seed=row.public_seed,
        epoch=row.epoch,
        status=Status(row.status),
        planned=row.planned,
        ratings=row.ratings,
        chain_head=row.chain_head,
        chain_length=row.commits,
        sums=row.sums,
        stopped=row.stopped,
        created=row.created_at,
        started=row.started_at,
        finished=row.finished_at,
        tags=tuple(row.tags or ()),
        anchors=row.anchors or {},
        called_off=row.called_off or "",
        watermark=row.watermark,
    )


BESIDE = [purpose for purpose in Purpose if purpose.beside]
"""The purposes of side events."""


def side_events(database: Database) -> list[SideEvent]:
    """Those that are not finished; see ``Store.side_events``."""
    query = (
        select(TOURNAMENT.c.id, TOURNAMENT.c.name)
        .where(TOURNAMENT.c.purpose.in_(BESIDE), TOURNAMENT.c.status.in_((Status.PLANNED, Status.RUNNING)))
        .order_by(TOURNAMENT.c.id)
    )
    with database.read() as connection:
        return [SideEvent(row.id, row.name) for row in connection.execute(query)]


def finish(database: Database, tournament: Tournament) -> None:
    """Marks it finished, once."""
    with database.write() as connection:
        mark_finished(connection, tournament)


def mark_finished(connection: Connection, tournament: Tournament) -> None:
    """The same within a transaction."""
    connection.execute(
        update(TOURNAMENT)
        .where(TOURNAMENT.c.id == tournament.id, TOURNAMENT.c.status != Status.FINISHED)
        .values(status=Status.FINISHED, finished_at=now())
    )


def new_secret(spec: Spec) -> bytes:
    """What deals and bot seeds shall come from."""
    return secrets.token_bytes(32) if spec.seed is None else deals.public_secret(spec.seed)


def to_extend(database: Database, spec: Spec, *, name: str | None) -> Entered:
    """Finds the tournament that a contract extends; see ``Store.to_extend``."""
    with database.read() as connection:
        found = next(_extendable(connection, spec), None) if name is None else find(connection, name)
    if found is None and name is not None:
        raise UserError("no such tournament to extend", repr(name), "`arena tournaments` lists them")
    if found is None:
        fix = "none has these bots first and the same settings; name one with --name to hear what differs"
        raise UserError("no tournament to extend", spec.format, fix)
    contracts.grown(found.name, found.spec, spec, stage=1)
    check_versions(found)
    return Entered(found, created=False, notes=_withdrawn(found))


def _extendable(connection: Connection, spec: Spec) -> Iterator[Tournament]:
    """The newest first."""
    for found in load(connection, NEWEST_FIRST):
        with suppress(UserError):
            contracts.grown(found.name, found.spec, spec, stage=1)
            yield found


def enter(database: Database, spec: Spec, *, name: str | None, new: bool) -> Entered:
    """Finds or makes the tournament of a contract; see ``Store.enter``."""
    check_name(name)
    try:
        with database.write() as connection:
            return _enter(connection, spec, name, new=new)
    except IntegrityError:  # on a server, another command made it at the same moment
        with database.write() as connection:
            return _enter(connection, spec, name, new=new)


def check_name(name: str | None) -> None:
    """Raises UserError where that can be no tournament's name."""
    if name is not None and not _NAME.fullmatch(name):
        fix = "use letters, digits, '.', '_' and '-', at most 64, a letter or digit first"
        raise UserError("not a name for a tournament", repr(name), fix, key=("name",))


def _enter(connection: Connection, spec: Spec, given: str | None, *, new: bool) -> Entered:
    name = spec.default_name if given is None else given
    found = find(connection, name) if new else existing(connection, spec, given)
    if found is not None and not new:
        _check_same(found, spec)
        return Entered(found, created=False, notes=_withdrawn(found))
    if found is not None:
        name = next(free for suffix in count(2) if find(connection, free := f"{name}-{suffix}") is None)
        notes: tuple[str, ...] = (f"a new tournament, {name}: `--name {name}` resumes it",)
    else:
        notes = _changed_bots(connection, spec)
    return Entered(create(connection, spec, name), created=True, notes=notes)


def existing(connection: Connection, spec: Spec, given: str | None) -> Tournament | None:
    """The tournament of that name; without one, that of the contract, also where it has become this one since."""
    found = find(connection, spec.default_name if given is None else given)
    return _amended(connection, spec) if found is None and given is None else found


def _amended(connection: Connection, spec: Spec) -> Tournament | None:
    """The newest one whose contract has become this one since it got its name from it."""
    amended = TOURNAMENT.c.id.in_(select(AMENDMENT.c.tournament_id))
    for found in load(connection, NEWEST_FIRST.where(amended)):
        if found.name == found.terms[0].spec.default_name and contracts.same(found.spec, spec):
            return found
    return None


def _withdrawn(found: Tournament) -> tuple[str, ...]:
    """A line where some were taken out."""
    labels = [found.spec.labels[entrant] for entrant, _ in found.spec.withdrawn]
    return (f"withdrawn from {found.name}: {', '.join(labels)}",) if labels else ()


def create(connection: Connection, spec: Spec, name: str) -> Tournament:
    """A new tournament; its name must be free."""
    secret = new_secret(spec)
    commitment = deals.commitment(secret)
    contract = canonical_json(spec.contract())
    contract_sha256 = hashlib.sha256(contract).hexdigest()
    tournament_id: int = connection.execute(
        insert(TOURNAMENT)
        .values(
            name=name,
            name_key=name.casefold(),
            contract=contract.decode(),
            contract_sha256=contract_sha256,
            secret=secret,
            commitment=commitment,
            public_seed=spec.seed is not None,
            rules=spec.rules,
            ratings=ratings.version(spec.draw_probability),
            status=Status.PLANNED,
            epoch=0,
            planned=0,
            watermark=0,
            commits=0,
            chain_head=journal.first_link(contract_sha256, commitment),
            purpose=spec.purpose,
            created_at=now(),
        )
        .returning(TOURNAMENT.c.id)
    ).scalar_one()
    entrants = [entrant_row(spec, tournament_id, place) for place in range(len(spec.entrants))]
    if entrants:  # a season may begin with none
        connection.execute(insert(ENTRANT), entrants)
    return by_id(connection, tournament_id)


def entrant_row(spec: Spec, tournament_id: int, position: int) -> dict[str, Any]:
    """Who has not played yet, as a row of ``entrant``."""
    entrant = spec.entrants[position]
    return {
        "tournament_id": tournament_id,
        "position": position,
        "name": entrant.name,
        "version": entrant.version,
        "digest": entrant.digest,
        "options": dict(entrant.options),
        "mu": ratings.INITIAL.mu,
        "sigma": ratings.INITIAL.sigma,
        **dict.fromkeys(("games", "wins", "losses", "draws", "margin_total", "margin_games", "unstarted"), 0),
        "failures": {},
    }


def _check_same(found: Tournament, spec: Spec) -> None:
    if not contracts.same(found.spec, spec):
        changes = "; ".join(contracts.differences(replace(found.spec, late=(), withdrawn=()), spec))
        if any(contracts.same(terms.spec, spec) for terms in found.terms):
            fix = "give what it has now, or --new to start afresh"
            raise UserError(f"tournament {found.name} was extended since", changes, fix)
        what = f"tournament {found.name} was made with another contract"
        raise UserError(what, changes, "give the same again, another --name, --extend to let it grow, or --new")
    if found.status is not Status.FINISHED:
        check_versions(found)


def check_versions(found: Tournament) -> None:
    """Raises UserError where this arena would go on with it by other rules, or rate by another library."""
    rules = find_game(found.spec.game).rules
    if found.spec.rules != rules:
        what = f"tournament {found.name} is played by rules {found.spec.rules}, this arena has {rules}"
        raise UserError(what, found.spec.game, "install a version of that time, or start afresh with --new")
    here = ratings.version(found.spec.draw_probability)
    if found.ratings != here:
        what = f"tournament {found.name} was rated by {found.ratings}, this arena has {here}"
        raise UserError(what, "", "install that version, or start afresh with --new: ratings are never mixed")


def _changed_bots(connection: Connection, spec: Spec) -> tuple[str, ...]:
    """A line where the same command, with other files of a bot, made an earlier tournament."""
    for row in connection.execute(select(TOURNAMENT.c.name, TOURNAMENT.c.contract).order_by(TOURNAMENT.c.id.desc())):
        changed = contracts.changed_bots(contracts.spec_of(row.contract), spec)
        if changed:
            verb = "has" if len(changed) == 1 else "have"
            return (f"{' and '.join(changed)} {verb} changed since {row.name}: this is a new tournament",)
    return ()
