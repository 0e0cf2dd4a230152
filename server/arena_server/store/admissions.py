"""The admission tests of bots from elsewhere: who has passed, who failed and why, with the game as evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from arena_server.model import Entrant, Result, Spec, UserError, canonical_json
from arena_server.store import journal
from arena_server.store.database import Database
from arena_server.store.tables import ADMISSION, BOT, VERSION

MAX_FAILED = 5
WINDOW = timedelta(hours=1)
"""So many tests of a version may fail within such a time."""


@dataclass(frozen=True, slots=True)
class Tested:
    """A test that is over.

    Attributes:
        at: when it ended, UTC.
        why: it failed, in a line; empty where it passed.
        contract: canonical JSON, of the game that it failed in; None where it passed, or has been tested again since.
        entry: of a journal, about that game.
    """

    version: str
    at: str
    why: str
    contract: str | None = None
    entry: bytes | None = None

    @property
    def passed(self) -> bool:
        """Whether the version may play rated games."""
        return not self.why

    @property
    def game(self) -> Result | None:
        """The game that it failed in, where that is kept."""
        if self.contract is None or self.entry is None:
            return None
        return journal.decode(self.entry, Spec.from_contract(json.loads(self.contract))).result


class Failing(NamedTuple):
    """How often a version failed of late.

    Attributes:
        times: within the window.
        last: why it did the last time.
        until: when the oldest of them leaves the window, UTC.
    """

    times: int = 0
    last: str = ""
    until: str = ""


def record(
    database: Database, entrant: Entrant, why: str = "", game: Result | None = None, *, again: bool = False
) -> None:
    """Writes how a test ended; failed ones from before the window are forgotten, and every game but the last one.

    Args:
        database: where.
        entrant: the version that was tested.
        why: it failed, in a line; empty: it passed.
        game: the one that it failed in.
        again: an earlier try ended with AwayError, so this very test may be on record: then nothing is left to do.
    """
    now, evidence = datetime.now(UTC), _evidence(game)
    with database.write() as connection:
        bot = _bot(connection, entrant.name)
        mine = [ADMISSION.c.bot_id == bot, ADMISSION.c.version == entrant.version]
        last = connection.execute(select(ADMISSION).where(*mine).order_by(ADMISSION.c.number.desc())).first()
        if again and last is not None and (last.why, last.journal) == (why, evidence.get("journal")):
            return
        old = ADMISSION.c.at <= _text(now - WINDOW)
        connection.execute(delete(ADMISSION).where(*mine, old, ADMISSION.c.passed.is_(False)))
        connection.execute(update(ADMISSION).where(*mine).values(contract=None, journal=None))
        connection.execute(
            insert(ADMISSION).values(
                bot_id=bot,
                version=entrant.version,
                number=1 if last is None else last.number + 1,
                at=_text(now),
                passed=not why,
                why=why,
                **evidence,
            )
        )


def failing(database: Database, entrant: Entrant) -> Failing:
    """How often it failed within the window."""
    query = (
        select(ADMISSION.c.at, ADMISSION.c.why)
        .join(BOT, BOT.c.id == ADMISSION.c.bot_id)
        .where(BOT.c.name_key == entrant.name.casefold(), ADMISSION.c.version == entrant.version)
        .where(ADMISSION.c.passed.is_(False), ADMISSION.c.at > _text(datetime.now(UTC) - WINDOW))
        .order_by(ADMISSION.c.number)
    )
    with database.read() as connection:
        rows = connection.execute(query).all()
    if not rows:
        return Failing()
    return Failing(len(rows), rows[-1].why, _text(datetime.fromisoformat(rows[0].at) + WINDOW))


def history(database: Database, bot: str, version: str | None = None) -> list[Tested]:
    """The tests of a version that are on record, the newest last.

    Args:
        database: where.
        bot: its name.
        version: which one; None: the newest.

    Raises:
        UserError: there is no such bot, or no such version.
    """
    with database.read() as connection:
        number = _bot(connection, bot)
        chosen = _chosen(connection, number, version)
        if chosen is None:
            raise UserError(f"{bot} has no such version", repr(version), "`arena bots list` shows them")
        of = (ADMISSION.c.bot_id == number, ADMISSION.c.version == chosen)
        rows = connection.execute(select(ADMISSION).where(*of).order_by(ADMISSION.c.number)).all()
    return [Tested(row.version, row.at, row.why, row.contract, row.journal) for row in rows]


def states(connection: Connection) -> dict[tuple[int, str], str]:
    """Of each version that was tested, by the number of its bot: why it failed the last time; empty: it is admitted."""
    found: dict[tuple[int, str], str] = {}
    rows = connection.execute(
        select(ADMISSION.c.bot_id, ADMISSION.c.version, ADMISSION.c.why).order_by(ADMISSION.c.number)
    )
    for bot, version, why in rows:
        if found.get((bot, version)) != "":
            found[bot, version] = why
    return found


def admitted(connection: Connection, bot: int | None = None) -> Mapping[int, frozenset[str]]:
    """The versions that have passed, by the number of their bot; of one bot or of all."""
    query = select(ADMISSION.c.bot_id, ADMISSION.c.version).where(ADMISSION.c.passed)
    found: dict[int, frozenset[str]] = {}
    for of, version in connection.execute(query if bot is None else query.where(ADMISSION.c.bot_id == bot)):
        found[of] = found.get(of, frozenset()) | {version}
    return found


def _bot(connection: Connection, name: str) -> int:
    found: int | None = connection.execute(
        select(BOT.c.id).where(BOT.c.name_key == name.casefold())
    ).scalar_one_or_none()
    if found is None:
        raise UserError("no such bot is registered", repr(name), "`arena bots list` shows them")
    return found


def _chosen(connection: Connection, bot: int, version: str | None) -> str | None:
    """A version of a bot, where it is registered; the newest where none is named."""
    query = select(VERSION.c.name).where(VERSION.c.bot_id == bot)
    if version is not None:
        query = query.where(VERSION.c.name == version)
    newest = query.order_by(VERSION.c.created_at.desc(), VERSION.c.name.desc()).limit(1)
    found: str | None = connection.execute(newest).scalar_one_or_none()
    return found


def _evidence(game: Result | None) -> dict[str, Any]:
    """The columns of a game: an entry of a journal that has no chain."""
    if game is None:
        return {}
    spec = game.assignment.spec
    return {
        "contract": canonical_json(spec.contract()).decode(),
        "journal": journal.encode(journal.Entry(game, 0, journal.contract_sha256(spec))),
    }


def _text(at: datetime) -> str:
    return at.isoformat(timespec="seconds")
