"""Tournaments: finding or making one by its contract, and how far it is."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update
from sqlalchemy.exc import IntegrityError

from arena_engine import deals
from arena_server import ratings
from arena_server.model import ArenaError, Spec, UserError, canonical_json
from arena_server.store import journal
from arena_server.store.database import Database
from arena_server.store.tables import ENTRANT, TOURNAMENT
from arena_server.store.views import Entered, Status, Tournament

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def now() -> str:
    """The time as it is stored: UTC, ISO 8601 with seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def by_id(connection: Connection, tournament_id: int) -> Tournament:
    """The tournament with its secret."""
    return view(connection.execute(select(TOURNAMENT).where(TOURNAMENT.c.id == tournament_id)).one())


def find(connection: Connection, name: str) -> Tournament | None:
    """The tournament of that name, without regard to case, with its secret."""
    row = connection.execute(select(TOURNAMENT).where(TOURNAMENT.c.name_key == name.casefold())).one_or_none()
    return None if row is None else view(row)


@lru_cache(maxsize=64)
def spec_of(contract: str) -> Spec:
    """What a stored contract says; raises ArenaError where it says nothing."""
    try:
        return Spec.from_contract(json.loads(contract))
    except (ValueError, KeyError, TypeError, AttributeError):
        fix = "restore the database from a copy"
        raise ArenaError("a tournament's contract is damaged", contract[:200], fix) from None


def view(row: Row[Any]) -> Tournament:
    """What a row says."""
    return Tournament(
        id=row.id,
        name=row.name,
        spec=spec_of(row.contract),
        secret=row.secret,
        commitment=row.commitment,
        public_seed=row.public_seed,
        epoch=row.epoch,
        status=Status(row.status),
        planned=row.planned,
        ratings=row.ratings,
        chain_head=row.chain_head,
        chain_length=row.commits,
        created=row.created_at,
        started=row.started_at,
        finished=row.finished_at,
    )


def finish(database: Database, tournament: Tournament) -> None:
    """Marks it finished, once."""
    with database.write() as connection:
        connection.execute(
            update(TOURNAMENT)
            .where(TOURNAMENT.c.id == tournament.id, TOURNAMENT.c.status != Status.FINISHED)
            .values(status=Status.FINISHED, finished_at=now())
        )


def enter(database: Database, spec: Spec, *, name: str | None, new: bool) -> Entered:
    """Finds or makes the tournament of a contract; see ``Store.enter``."""
    name = spec.default_name if name is None else name
    if not _NAME.fullmatch(name):
        fix = "use letters, digits, '.', '_' and '-', at most 64, a letter or digit first"
        raise UserError("not a name for a tournament", repr(name), fix, key=("name",))
    try:
        with database.write() as connection:
            return _enter(connection, spec, name, new=new)
    except IntegrityError:  # on a server, another command made it at the same moment
        with database.write() as connection:
            return _enter(connection, spec, name, new=new)


def _enter(connection: Connection, spec: Spec, name: str, *, new: bool) -> Entered:
    found = find(connection, name)
    if found is not None and not new:
        _check_same(found, spec)
        return Entered(found, created=False)
    if found is not None:
        name = next(free for suffix in count(2) if find(connection, free := f"{name}-{suffix}") is None)
        notes: tuple[str, ...] = (f"a new tournament, {name}: `--name {name}` resumes it",)
    else:
        notes = _changed_bots(connection, spec)
    return Entered(_create(connection, spec, name), created=True, notes=notes)


def _create(connection: Connection, spec: Spec, name: str) -> Tournament:
    secret = secrets.token_bytes(32) if spec.seed is None else deals.public_secret(spec.seed)
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
            created_at=now(),
        )
        .returning(TOURNAMENT.c.id)
    ).scalar_one()
    connection.execute(
        insert(ENTRANT), [_entrant_row(spec, tournament_id, place) for place in range(len(spec.entrants))]
    )
    return by_id(connection, tournament_id)


def _entrant_row(spec: Spec, tournament_id: int, position: int) -> dict[str, Any]:
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
        **dict.fromkeys(("games", "wins", "losses", "draws", "margin_total", "margin_games"), 0),
        "failures": {},
    }


def _check_same(found: Tournament, spec: Spec) -> None:
    changes = _differences(found.spec, spec)
    if changes:
        what = f"tournament {found.name} was made with another contract"
        raise UserError(what, "; ".join(changes), "give the same again, another --name, or --new to start afresh")
    here = ratings.version(spec.draw_probability)
    if found.status is not Status.FINISHED and found.ratings != here:
        what = f"tournament {found.name} was rated by {found.ratings}, this arena has {here}"
        raise UserError(what, "", "install that version, or start afresh with --new: ratings are never mixed")


def _differences(stored: Spec, given: Spec) -> list[str]:
    """What the contracts differ in, as ``key: stored -> now``."""
    before, after = stored.contract(), given.contract()
    changes = [
        f"{key}: {_shown(before.get(key))} -> {_shown(after.get(key))}"
        for key in {**before, **after}
        if key != "entrants" and before.get(key) != after.get(key)
    ]
    if before["entrants"] != after["entrants"]:
        changes += _changed_files(stored, given) or [f"bots: {_names(stored)} -> {_names(given)}"]
    return changes


def _changed_files(stored: Spec, given: Spec) -> list[str]:
    """The bots whose files alone changed; empty where the entrants differ in anything else."""
    if _without_digests(stored)["entrants"] != _without_digests(given)["entrants"]:
        return []
    pairs = zip(stored.entrants, given.entrants, strict=True)
    return [f"files of {new.label}: {old.digest[:8]} -> {new.digest[:8]}" for old, new in pairs if old != new]


def _without_digests(spec: Spec) -> dict[str, Any]:
    contract = spec.contract()
    return {**contract, "entrants": [{**entrant, "digest": ""} for entrant in contract["entrants"]]}


def _names(spec: Spec) -> str:
    labels = []
    for entrant in spec.entrants:
        options = ",".join(f"{name}={value}" for name, value in entrant.options)
        labels.append(f"{entrant.label}:{options}" if options else entrant.label)
    return ", ".join(labels)


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{key}={item}" for key, item in value.items()) or "none"
    return "none" if value is None else str(value)


def _changed_bots(connection: Connection, spec: Spec) -> tuple[str, ...]:
    """A line where the same command, with other files of a bot, made an earlier tournament."""
    for row in connection.execute(select(TOURNAMENT.c.name, TOURNAMENT.c.contract).order_by(TOURNAMENT.c.id.desc())):
        earlier = spec_of(row.contract)
        if earlier != spec and _without_digests(earlier) == _without_digests(spec):
            pairs = zip(earlier.entrants, spec.entrants, strict=True)
            changed = [new.label for old, new in pairs if old != new]
            verb = "has" if len(changed) == 1 else "have"
            return (f"{' and '.join(changed)} {verb} changed since {row.name}: this is a new tournament",)
    return ()
