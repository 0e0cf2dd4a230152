"""The tables. Their classes never leave the store; ``views`` holds what readers get.

Everything a leaderboard shows is in ``entrant``, kept by the fold; the truth is ``attempt.journal``, and every other
column of a played game is checked against it by ``verify``. Only the tournament and the journal hold wall-clock times.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, ForeignKeyConstraint, Index, LargeBinary, Table, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel


class Tournament(SQLModel, table=True):
    """A contract and how far it was played."""

    __table_args__ = (
        Index("tournament_by_purpose", "purpose", "status"),
        Index("tournament_by_age", "purpose", "id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    name: str
    name_key: str = Field(unique=True)  # names count without regard to case
    contract: str = Field(sa_type=Text)  # canonical JSON
    contract_sha256: str
    secret: bytes = Field(sa_type=LargeBinary)
    commitment: str
    public_seed: bool
    rules: str
    ratings: str  # version of the rating library and its parameters
    status: str
    epoch: int = 0  # raised by whoever takes the lock
    planned: int = 0  # games in the plan so far
    watermark: int = 0  # number of the last game the ratings include or pass over
    commits: int = 0  # closed attempts and amendments, the length of the chain
    chain_head: str
    sums: dict[str, Any] | None = Field(default=None, sa_type=JSON(none_as_null=True))  # what the stop rule has seen
    stopped: int | None = None  # number of the last game that counts, where the stop rule has ended it
    unparked: int = 0  # up to this game nobody was parked, whatever happened: it is older than that rule
    purpose: str = "event"
    called_off: str | None = None  # why it ended before its games were played
    created_at: str
    started_at: str | None = None
    finished_at: str | None = None
    tags: list[str] | None = Field(default=None, sa_type=JSON)
    closing: int | None = None  # of a season: id of the round-robin that decides it
    anchors: dict[str, float] | None = Field(default=None, sa_type=JSON)  # bots with fixed Bradley-Terry values, in Elo


class Run(SQLModel, table=True):
    """One coordinator's time with a tournament: what belongs to a run and not to the contract."""

    tournament_id: int = Field(primary_key=True, foreign_key="tournament.id")
    epoch: int = Field(primary_key=True)
    started_at: str
    facts: dict[str, Any] = Field(sa_type=JSON)


class About(SQLModel, table=True):
    """What is said of an entrant and shapes nothing; no row where nothing was said."""

    __table_args__ = (
        ForeignKeyConstraint(["tournament_id", "position"], ["entrant.tournament_id", "entrant.position"]),
    )

    tournament_id: int = Field(primary_key=True)
    position: int = Field(primary_key=True)
    owner: str | None = None
    group: str | None = None
    tags: list[str] | None = Field(default=None, sa_type=JSON)


class Entrant(SQLModel, table=True):
    """Who plays in a tournament, and the fold over its rated games."""

    tournament_id: int = Field(primary_key=True, foreign_key="tournament.id")
    position: int = Field(primary_key=True)  # index in the contract
    name: str
    version: str
    digest: str
    options: dict[str, Any] = Field(sa_type=JSON)
    mu: float
    sigma: float
    games: int = 0
    wins: int = 0
    losses: int = 0
    draws: int = 0
    margin_total: int = 0
    margin_games: int = 0
    failures: dict[str, int] = Field(default_factory=dict, sa_type=JSON)  # kind -> count
    unstarted: int = 0  # start failures in a row
    parked: int | None = None  # number of the game after which it plays no more
    parked_why: str | None = None  # in words


class Game(SQLModel, table=True):
    """A game of the schedule."""

    __table_args__ = (
        Index("game_by_status", "tournament_id", "status", "number"),
        Index("game_by_pairing", "tournament_id", "pairing"),
        Index("game_by_ending", "tournament_id", "ending", "number"),
        Index("game_by_stage", "tournament_id", "stage", "number"),
    )

    tournament_id: int = Field(primary_key=True, foreign_key="tournament.id")
    number: int = Field(primary_key=True)  # schedule order, from 1
    stage: int
    pairing: int
    deal: dict[str, str] = Field(sa_type=JSON)
    status: str
    attempt: int = 0  # closed attempts
    ending: str | None = None
    plies: int | None = None


class Wait(SQLModel, table=True):
    """For how long an open game of a closing has waited for a bot that is away, over all runs, as last noted."""

    __table_args__ = (ForeignKeyConstraint(["tournament_id", "number"], ["game.tournament_id", "game.number"]),)

    tournament_id: int = Field(primary_key=True)
    number: int = Field(primary_key=True)
    seconds: float


class Seat(SQLModel, table=True):
    """Who sits where in a game, how it ended for that seat, and the rating after it."""

    __table_args__ = (
        ForeignKeyConstraint(["tournament_id", "number"], ["game.tournament_id", "game.number"]),
        ForeignKeyConstraint(["tournament_id", "entrant"], ["entrant.tournament_id", "entrant.position"]),
        Index("seat_by_entrant", "tournament_id", "entrant", "number"),
        Index(
            "seat_flagged",
            "tournament_id",
            "number",
            sqlite_where=text("flagged = 1"),
            postgresql_where=text("flagged"),
        ),
    )

    tournament_id: int = Field(primary_key=True)
    number: int = Field(primary_key=True)
    seat: int = Field(primary_key=True)  # 0 is seat a
    entrant: int
    score: int | None = None
    rank: int | None = None
    failure: str | None = None  # the kind of ending this seat is to blame for
    mu: float | None = None  # null until the fold has passed the game
    sigma: float | None = None
    flagged: bool = False  # the rating calculation fell back (see ratings.trueskill)


class Attempt(SQLModel, table=True):
    """One closed attempt at a game: the truth, written once."""

    __table_args__ = (
        ForeignKeyConstraint(["tournament_id", "number"], ["game.tournament_id", "game.number"]),
        UniqueConstraint("tournament_id", "sequence"),
    )

    tournament_id: int = Field(primary_key=True)
    number: int = Field(primary_key=True)
    attempt: int = Field(primary_key=True)
    epoch: int
    sequence: int  # commit order within the tournament, from 1
    ending: str
    journal: bytes = Field(sa_type=LargeBinary)  # canonical bytes, see journal.py
    chain_hash: str


class Amendment(SQLModel, table=True):
    """A change of the contract, a link of the chain between the attempts; the first contract is the tournament's."""

    __table_args__ = (UniqueConstraint("tournament_id", "sequence"),)

    tournament_id: int = Field(primary_key=True, foreign_key="tournament.id")
    number: int = Field(primary_key=True)  # from 1
    sequence: int  # commit order within the tournament, counted together with the attempts
    stage: int  # the first that is planned by it
    contract: str = Field(sa_type=Text)  # canonical JSON
    secret: bytes = Field(sa_type=LargeBinary)  # of the deals from that stage on
    commitment: str
    chain_hash: str
    created_at: str


class Owner(SQLModel, table=True):
    """Who registers bots."""

    id: int | None = Field(default=None, primary_key=True)
    name: str
    name_key: str = Field(unique=True)  # names count without regard to case


class Bot(SQLModel, table=True):
    """A bot that may play on a standing server."""

    id: int | None = Field(default=None, primary_key=True)
    owner_id: int = Field(foreign_key="owner.id")
    name: str
    name_key: str = Field(unique=True)
    is_open: bool = False  # whether its games may be watched while they are played


class Version(SQLModel, table=True):
    """A version of a bot: what is rated."""

    bot_id: int = Field(primary_key=True, foreign_key="bot.id")
    name: str = Field(primary_key=True)
    created_at: str
    retired_at: str | None = None


class Token(SQLModel, table=True):
    """What a bot proves with who it is; the token itself is nowhere."""

    __table_args__ = (Index("token_by_bot", "bot_id"),)

    sha256: bytes = Field(primary_key=True, sa_type=LargeBinary)
    bot_id: int = Field(foreign_key="bot.id")
    hint: str  # its first characters, to tell tokens of one bot apart
    created_at: str
    revoked_at: str | None = None


class Admission(SQLModel, table=True):
    """A test that a version of a bot has passed or failed, before it plays rated games."""

    __table_args__ = (ForeignKeyConstraint(["bot_id", "version"], ["version.bot_id", "version.name"]),)

    bot_id: int = Field(primary_key=True)
    version: str = Field(primary_key=True)
    number: int = Field(primary_key=True)  # from 1
    at: str
    passed: bool
    why: str  # it failed, in a line; empty where it passed
    contract: str | None = Field(default=None, sa_type=Text)  # canonical JSON, of the game that it failed in
    journal: bytes | None = Field(default=None, sa_type=LargeBinary)  # of that game, as an attempt has it


class Stage(SQLModel, table=True):
    """What a stage of a season was planned upon, which does not follow from the contract."""

    tournament_id: int = Field(primary_key=True, foreign_key="tournament.id")
    number: int = Field(primary_key=True)
    day: int
    known: int  # number of the last game that was rated then
    present: list[list[int]] = Field(sa_type=JSON)  # entrants, each with its owner and whether it was busy
    room: int
    rules: int = 1  # number of the rules of the pairing


def _table(name: str) -> Table:
    return SQLModel.metadata.tables[name]


TOURNAMENT = _table("tournament")
RUN = _table("run")
ABOUT = _table("about")
ENTRANT = _table("entrant")
GAME = _table("game")
WAIT = _table("wait")
SEAT = _table("seat")
ATTEMPT = _table("attempt")
AMENDMENT = _table("amendment")
OWNER = _table("owner")
BOT = _table("bot")
VERSION = _table("version")
TOKEN = _table("token")
ADMISSION = _table("admission")
STAGE = _table("stage")
