"""The registry of a standing server: owners, their bots with versions, and the tokens that bots prove themselves with.

A token belongs to a bot; each version of it is an entrant of its own. What is stored of a token is its SHA-256.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from arena_server.model import Entrant, Identity, UserError
from arena_server.store import admissions
from arena_server.store.database import Database
from arena_server.store.tables import BOT, OWNER, TOKEN, VERSION
from arena_server.store.tournaments import now

PREFIX = "arena_"
"""What every token begins with, so that people and secret scanners know one when they see it."""
HINT = len(PREFIX) + 6
"""Characters of a token that are kept to tell it from the bot's others."""
HOUSE = "house"
"""The owner of the bots that the server launches itself."""
MAX_BOTS = 20
MAX_VERSIONS_A_DAY = 10
MAX_TOKENS = 5
"""Quotas: bots of an owner, its new versions in 24 hours, tokens of a bot that are good."""

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class Registered:
    """A version of a bot.

    Attributes:
        retired: when it was, UTC; None while it plays.
        tokens: the first characters of the bot's tokens that are good.
        admission: what the admission test says: ``new``, ``admitted``, or ``failed: `` and why; empty for those that
            the server launches itself.
        is_open: whether the bot's games may be watched while they are played, where the other bots are open, too.
    """

    bot: str
    version: str
    owner: str
    created: str
    retired: str | None
    tokens: tuple[str, ...]
    admission: str
    is_open: bool

    @property
    def entrant(self) -> Entrant:
        """Who it is in a season where it plays from elsewhere: nobody here has its files."""
        return Entrant(self.bot, self.version, "")


@dataclass(frozen=True, slots=True)
class Added:
    """What came of a registration.

    Attributes:
        retired: earlier versions that were taken out of the field by it.
        token: of a bot that is new, where it was asked for; shown here, and never again.
    """

    retired: tuple[str, ...] = ()
    token: str | None = None


class _Bot(NamedTuple):
    """A bot as the functions here find it."""

    id: int
    name: str
    owner_key: str


def digest(token: str) -> bytes:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).digest()


def add(  # noqa: PLR0913 - what a registration says
    database: Database, bot: str, version: str, owner: str, *, retire_old: bool = False, first_token: bool = False
) -> Added:
    """Registers a bot, or a further version of it, all or nothing.

    Args:
        database: where.
        bot: its name.
        version: each is rated for itself.
        owner: whose it is.
        retire_old: whether its earlier versions are taken out of the field.
        first_token: whether a bot that is new gets a token.

    Raises:
        UserError: a malformed name, a bot of somebody else, a version that is there already, or over a quota.
    """
    for what, name in (("bot", bot), ("version", version), ("owner", owner)):
        _check_name(what, name)
    if owner.casefold() == HOUSE:
        raise UserError("that owner's bots are launched by the server", repr(owner), "name them in its configuration")
    try:
        with database.write() as connection:
            new = _find(connection, bot) is None
            bot_id = _add(connection, bot, version, owner)
            old = tuple(one for one in _active(connection, bot_id) if retire_old and one != version)
            _retire(connection, bot_id, old)
            return Added(old, _new_token(connection, bot_id) if new and first_token else None)
    except IntegrityError:  # on a server, somebody registered it at the same moment
        raise UserError("somebody has registered that meanwhile", bot, "look with `arena bots list`") from None


def add_house(database: Database, entrants: tuple[Entrant, ...]) -> None:
    """Registers the bots that the server launches, so that nobody else can have their names.

    Raises:
        UserError: somebody else has one of them.
    """
    with database.write() as connection:
        for entrant in entrants:
            found = _find(connection, entrant.name)
            if found is None or found.owner_key != HOUSE or not _version(connection, found.id, entrant.version):
                _add(connection, entrant.name, entrant.version, HOUSE, quotas=False)


def retire(database: Database, bot: str, version: str | None) -> tuple[str, ...]:
    """Takes versions of a bot out of the field; those that were in it.

    Args:
        database: where.
        bot: its name.
        version: which one; None: all.

    Raises:
        UserError: there is no such bot, or no such version that plays.
    """
    with database.write() as connection:
        found = _found(connection, bot)
        active = [name for name in _active(connection, found.id) if version in (None, name)]
        if not active:
            what = f"{found.name} has no version that plays" if version is None else f"no version of {found.name} plays"
            raise UserError(what, "" if version is None else repr(version), "`arena bots list` shows them")
        _retire(connection, found.id, active)
        return tuple(active)


def bots(database: Database) -> list[Registered]:
    """Every version of every bot, by name, the newest version last."""
    query = (
        select(
            BOT.c.id,
            BOT.c.name,
            OWNER.c.name.label("owner"),
            VERSION.c.name.label("version"),
            VERSION.c.created_at,
            VERSION.c.retired_at,
            BOT.c.is_open,
        )
        .join(OWNER, OWNER.c.id == BOT.c.owner_id)
        .join(VERSION, VERSION.c.bot_id == BOT.c.id)
        .order_by(BOT.c.name_key, VERSION.c.created_at, VERSION.c.name)
    )
    with database.read() as connection:
        hints: dict[int, tuple[str, ...]] = {}
        for row in connection.execute(
            select(TOKEN.c.bot_id, TOKEN.c.hint).where(TOKEN.c.revoked_at.is_(None)).order_by(TOKEN.c.created_at)
        ):
            hints[row.bot_id] = (*hints.get(row.bot_id, ()), row.hint)
        tested = admissions.states(connection)
        return [
            Registered(
                bot=row.name,
                version=row.version,
                owner=row.owner,
                created=row.created_at,
                retired=row.retired_at,
                tokens=hints.get(row.id, ()),
                admission=_admission(row.owner, tested.get((row.id, row.version))),
                is_open=row.is_open,
            )
            for row in connection.execute(query)
        ]


def set_open(database: Database, bot: str, *, is_open: bool) -> None:
    """Says whether games of a bot may be watched while they are played; raises UserError for no such bot."""
    with database.write() as connection:
        found = _found(connection, bot)
        connection.execute(update(BOT).where(BOT.c.id == found.id).values(is_open=is_open))


def open_bots(database: Database) -> frozenset[str]:
    """The names, as they count, of the bots whose games may be watched while they are played."""
    with database.read() as connection:
        return frozenset(connection.execute(select(BOT.c.name_key).where(BOT.c.is_open)).scalars())


def new_token(database: Database, bot: str, *, instead: bool = False) -> str:
    """A new token of a bot: shown here, and never again.

    Args:
        database: where.
        bot: its name.
        instead: whether those it has are good no more.

    Raises:
        UserError: there is no such bot, the server launches it, or it has too many.
    """
    with database.write() as connection:
        found = _found(connection, bot)
        if found.owner_key == HOUSE:
            raise UserError("the server launches this bot itself", found.name, "it needs no token")
        _hold(connection, BOT, found.id)
        if instead:
            _revoke(connection, found.id, "")
        elif _count(connection, TOKEN.c.bot_id == found.id, TOKEN.c.revoked_at.is_(None)) >= MAX_TOKENS:
            fix = "take one away with `arena token revoke`, or all with `arena token rotate`"
            raise UserError(f"{found.name} has {MAX_TOKENS} tokens", "", fix)
        return _new_token(connection, found.id)


def revoke(database: Database, bot: str, beginning: str = "") -> int:
    """Makes tokens of a bot good no more; how many.

    Args:
        database: where.
        bot: its name.
        beginning: first characters of the token that is meant; empty: all.

    Raises:
        UserError: there is no such bot, or no such token.
    """
    with database.write() as connection:
        found = _found(connection, bot)
        revoked = _revoke(connection, found.id, beginning)
        if not revoked:
            fix = "`arena bots list` shows the first characters of those it has"
            raise UserError(f"{found.name} has no such token", beginning[:HINT], fix)
        return revoked


def playing(connection: Connection, bot: str, version: str | None) -> Entrant:
    """A version of a bot that plays from elsewhere, by default the newest.

    Raises:
        UserError: there is no such bot or version, it is retired, or a server would have to launch it.
    """
    found = _found(connection, bot)
    if found.owner_key == HOUSE:
        fix = "start the server with it: `arena serve --bot`"
        raise UserError("the server that was started last does not launch this bot", found.name, fix)
    active = _active(connection, found.id)
    if version is None and not active:
        raise UserError(f"every version of {found.name} is retired", "", "`arena bots list` shows them")
    if version is not None and version not in active:
        is_known = _version(connection, found.id, version)
        what = f"this version of {found.name} is retired" if is_known else f"{found.name} has no such version"
        raise UserError(what, repr(version), "`arena bots list` shows them")
    return Entrant(found.name, version or active[-1], "")


def bearer(database: Database, sha256: bytes) -> Identity | None:
    """Who has the token with that digest; None where it is unknown or revoked."""
    query = (
        select(TOKEN.c.sha256, BOT.c.id, BOT.c.name, BOT.c.owner_id)
        .join(BOT, BOT.c.id == TOKEN.c.bot_id)
        .where(TOKEN.c.sha256 == sha256, TOKEN.c.revoked_at.is_(None))
    )
    with database.read() as connection:
        row = connection.execute(query).one_or_none()
        # An index compares digests, of which an attacker can choose no prefix; compared once more all the same.
        if row is None or not hmac.compare_digest(row.sha256, sha256):
            return None
        admitted = admissions.admitted(connection, row.id).get(row.id, frozenset())
        return Identity(row.name, row.owner_id, _active(connection, row.id), admitted)


def identities(database: Database) -> dict[bytes, Identity]:
    """Everybody who may play, by digest of the token."""
    tokens = (
        select(TOKEN.c.sha256, BOT.c.id, BOT.c.name, BOT.c.owner_id)
        .join(BOT, BOT.c.id == TOKEN.c.bot_id)
        .where(TOKEN.c.revoked_at.is_(None))
    )
    versions = (
        select(VERSION.c.bot_id, VERSION.c.name)
        .where(VERSION.c.retired_at.is_(None))
        .order_by(VERSION.c.created_at, VERSION.c.name)
    )
    with database.read() as connection:
        active: dict[int, tuple[str, ...]] = {}
        for row in connection.execute(versions):
            active[row.bot_id] = (*active.get(row.bot_id, ()), row.name)
        admitted = admissions.admitted(connection)
        return {
            row.sha256: Identity(row.name, row.owner_id, active.get(row.id, ()), admitted.get(row.id, frozenset()))
            for row in connection.execute(tokens)
        }


def versions(database: Database) -> dict[tuple[str, str], bool]:
    """Every version of every bot, the oldest first: the bot's name as it counts, the version, whether it is retired."""
    query = (
        select(BOT.c.name_key, VERSION.c.name, VERSION.c.retired_at)
        .join(BOT, BOT.c.id == VERSION.c.bot_id)
        .order_by(VERSION.c.created_at, VERSION.c.name)
    )
    with database.read() as connection:
        return {(row.name_key, row.name): row.retired_at is not None for row in connection.execute(query)}


def _admission(owner: str, why: str | None) -> str:
    """What the admission test says of a version, as it failed; None: it was never tested."""
    if owner.casefold() == HOUSE:
        return ""
    return "new" if why is None else f"failed: {why}" if why else "admitted"


def owners(connection: Connection) -> dict[tuple[str, str], int]:
    """Of every version that plays, by the bot's name as it counts: its owner's number; 0 for those of the house."""
    query = (
        select(BOT.c.name_key, VERSION.c.name, OWNER.c.id, OWNER.c.name_key.label("owner_key"))
        .join(BOT, BOT.c.id == VERSION.c.bot_id)
        .join(OWNER, OWNER.c.id == BOT.c.owner_id)
        .where(VERSION.c.retired_at.is_(None))
    )
    return {(row.name_key, row.name): 0 if row.owner_key == HOUSE else row.id for row in connection.execute(query)}


def _add(connection: Connection, bot: str, version: str, owner: str, *, quotas: bool = True) -> int:
    """The number of the bot."""
    found = _find(connection, bot)
    if found is not None and found.owner_key != owner.casefold():
        raise UserError("a bot of that name is somebody else's", found.name, "choose another name")
    if found is not None and _version(connection, found.id, version):
        fix = "give the new one another --version: a version is rated once and for all"
        raise UserError(f"{found.name} has that version already", repr(version), fix)
    owner_id = _owner(connection, owner)
    if quotas:
        _check_quotas(connection, owner_id, owner, new=found is None)
    if found is None:
        values = {"owner_id": owner_id, "name": bot, "name_key": bot.casefold()}
        bot_id = int(connection.execute(insert(BOT).values(**values).returning(BOT.c.id)).scalar_one())
    else:
        bot_id = found.id
    connection.execute(insert(VERSION).values(bot_id=bot_id, name=version, created_at=_later(connection, bot_id)))
    return bot_id


def _later(connection: Connection, bot_id: int) -> str:
    """Now, or a second after the bot's newest version: which is the newest, no clock that was set back changes."""
    this = now()
    last = connection.execute(select(func.max(VERSION.c.created_at)).where(VERSION.c.bot_id == bot_id)).scalar_one()
    if last is None or last < this:
        return this
    return (datetime.fromisoformat(last) + timedelta(seconds=1)).isoformat()


def _retire(connection: Connection, bot_id: int, versions: Sequence[str]) -> None:
    these = (VERSION.c.bot_id == bot_id, VERSION.c.name.in_(versions))
    connection.execute(update(VERSION).where(*these).values(retired_at=now()))


def _new_token(connection: Connection, bot_id: int) -> str:
    token = PREFIX + secrets.token_urlsafe(32)
    row = {"sha256": digest(token), "bot_id": bot_id, "hint": token[:HINT], "created_at": now()}
    connection.execute(insert(TOKEN).values(**row))
    return token


def _check_quotas(connection: Connection, owner_id: int, owner: str, *, new: bool) -> None:
    _hold(connection, OWNER, owner_id)
    if new and _count(connection, BOT.c.owner_id == owner_id) >= MAX_BOTS:
        raise UserError(f"{owner} has {MAX_BOTS} bots", "", "give one of them a new version instead")
    since = (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="seconds")
    mine = select(BOT.c.id).where(BOT.c.owner_id == owner_id)
    if _count(connection, VERSION.c.bot_id.in_(mine), VERSION.c.created_at > since) >= MAX_VERSIONS_A_DAY:
        raise UserError(f"{owner} has added {MAX_VERSIONS_A_DAY} versions within a day", "", "come again tomorrow")


def _hold(connection: Connection, table: Table, number: int) -> None:
    """Until the end of the transaction nobody else asks for what has a quota there."""
    connection.execute(select(table.c.id).where(table.c.id == number).with_for_update())


def _check_name(what: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        fix = "use letters, digits, '.', '_' and '-', at most 64"
        raise UserError(f"not a name for {'an owner' if what == 'owner' else f'a {what}'}", repr(name), fix)


def _owner(connection: Connection, name: str) -> int:
    key = name.casefold()
    found: int | None = connection.execute(select(OWNER.c.id).where(OWNER.c.name_key == key)).scalar_one_or_none()
    if found is not None:
        return found
    added = insert(OWNER).values(name=name, name_key=key).returning(OWNER.c.id)
    return int(connection.execute(added).scalar_one())


def _find(connection: Connection, bot: str) -> _Bot | None:
    """Its number and name, and its owner."""
    query = (
        select(BOT.c.id, BOT.c.name, OWNER.c.name_key.label("owner_key"))
        .join(OWNER, OWNER.c.id == BOT.c.owner_id)
        .where(BOT.c.name_key == bot.casefold())
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else _Bot(*row)


def _found(connection: Connection, bot: str) -> _Bot:
    found = _find(connection, bot)
    if found is None:
        raise UserError(
            "no such bot is registered", repr(bot), "`arena bots list` shows them, `arena bots add` adds one"
        )
    return found


def _version(connection: Connection, bot_id: int, name: str) -> bool:
    query = select(VERSION.c.name).where(VERSION.c.bot_id == bot_id, VERSION.c.name == name)
    return connection.execute(query).first() is not None


def _active(connection: Connection, bot_id: int) -> tuple[str, ...]:
    """The versions that may play, the newest last."""
    query = (
        select(VERSION.c.name)
        .where(VERSION.c.bot_id == bot_id, VERSION.c.retired_at.is_(None))
        .order_by(VERSION.c.created_at, VERSION.c.name)
    )
    return tuple(connection.execute(query).scalars())


def _revoke(connection: Connection, bot_id: int, beginning: str) -> int:
    these = [TOKEN.c.bot_id == bot_id, TOKEN.c.revoked_at.is_(None)]
    if beginning:
        these.append(TOKEN.c.hint == beginning[:HINT])
    return connection.execute(update(TOKEN).where(*these).values(revoked_at=now())).rowcount


def _count(connection: Connection, *which: Any) -> int:
    table = which[0].left.table
    return int(connection.execute(select(func.count()).select_from(table).where(*which)).scalar_one())
