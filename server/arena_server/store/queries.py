"""What readers ask. Nothing here reveals a deal before its game was played, nor a secret before the end."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import CompoundSelect, Connection, Select, func, select, union_all

from arena_engine.record import GameRecord
from arena_server.formats import active
from arena_server.model import About, ArenaError, Ending, Purpose, Result, UserError
from arena_server.store import descriptions, journal, lists, meetings, records, samples, standings
from arena_server.store import seasons as _seasons
from arena_server.store.crosstable import Crosstable
from arena_server.store.crosstable import crosstable as _crosstable
from arena_server.store.lists import Appearance, Choice, GameSummary, MissingError, Page, find_bots, nearest
from arena_server.store.meetings import RatedGame, stream
from arena_server.store.samples import Sample, Selection
from arena_server.store.standings import Key
from arena_server.store.store import Store
from arena_server.store.tables import ATTEMPT, GAME, SEAT, TOURNAMENT
from arena_server.store.tournaments import NEWEST_FIRST, find, load
from arena_server.store.views import GameStatus, Leaderboard, Progress, Run, Season, Standing, Tournament

_MAIN = [purpose for purpose in Purpose if not purpose.beside]
_LISTED = [purpose for purpose in Purpose if purpose is not Purpose.CHALLENGE]
_COMPARED = 1000  # names at most that a wrong one is compared with: it takes its time for each
_SEVERAL = 5  # names that are told where one could be several
_LAST = ATTEMPT.c.attempt == GAME.c.attempt
_GAME_ID = re.compile(r"(?:(?P<tournament>[^/]+)/)?(?P<number>\d{1,9})(?:\.(?P<attempt>\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class History:
    """What is known of one entrant.

    Attributes:
        games: the last one first.
    """

    standing: Standing
    games: Sequence[Appearance]


@dataclass(frozen=True, slots=True)
class GameRef:
    """A game that was found.

    Attributes:
        attempt: a certain one; None for the one that counts.
    """

    tournament: Tournament
    number: int
    attempt: int | None = None

    @property
    def id(self) -> str:
        """``nightly/17``, of a certain attempt ``nightly/17.2``."""
        attempt = "" if self.attempt is None else f".{self.attempt}"
        return f"{self.tournament.name}/{self.number}{attempt}"


def tournaments(
    store: Store, *, purpose: Purpose | None = None, before: Tournament | None = None, limit: int | None = None
) -> list[Tournament]:
    """The tournaments, the newest first.

    Args:
        store: the database.
        purpose: only those that are played for this; None: all but challenges.
        before: only those that are older than this one.
        limit: only so many.
    """
    with store.database.read() as connection:
        return load(connection, _newest(_LISTED if purpose is None else [purpose], before, limit), public=True)


def served(store: Store) -> set[str]:
    """Names, without regard to case, of all tournaments that servers play and have played."""
    query = select(TOURNAMENT.c.name_key).where(TOURNAMENT.c.purpose != Purpose.EVENT)
    with store.database.read() as connection:
        return set(connection.execute(query).scalars())


def tournament(store: Store, name: str | None = None) -> Tournament:
    """The tournament of that name, without regard to case; None: the one started last that is no side event.

    Raises:
        UserError: there is none; the nearest names are named.
    """
    with store.database.read() as connection:
        if name is None:
            found = next(iter(load(connection, _LAST_STARTED, public=True)), None)
        else:
            found = find(connection, name, public=True)
        known = _names(connection) if found is None else []
    if found is not None:
        return found
    if not known or name is None:
        raise MissingError("no tournament yet in this database", store.label, "play one: arena run-tournament")
    raise MissingError("no such tournament", repr(name), nearest(name, known))


def seasons(store: Store) -> list[Season]:
    """The seasons, the newest first."""
    with store.database.read() as connection:
        return _seasons.seasons(connection)


def season(store: Store, name: str) -> Season:
    """The season of that name, without regard to case; raises UserError where there is none."""
    with store.database.read() as connection:
        return _seasons.find(connection, name)


def abouts(store: Store, tournament: Tournament) -> tuple[About, ...]:
    """What is said of every entrant beside the contract, in the order of entry."""
    with store.database.read() as connection:
        return descriptions.abouts(connection, tournament)


def runs(store: Store, tournament: Tournament) -> list[Run]:
    """Every run of a tournament, the first first."""
    with store.database.read() as connection:
        return descriptions.runs(connection, tournament)


def leaderboard(
    store: Store,
    tournament: Tournament,
    *,
    after: Key | None = None,
    limit: int | None = None,
    all_versions: bool = False,
) -> Leaderboard:
    """Standings and progress of one moment.

    Args:
        store: the database.
        tournament: whose.
        after: only rows behind this one.
        limit: at most so many rows.
        all_versions: whether of a season earlier versions of its bots are wanted, too.
    """
    shown = None if all_versions else active(tournament.spec)
    with store.database.read() as connection:
        progress = standings.progress(connection, tournament)
        return Leaderboard(
            tournament,
            standings.standings(connection, tournament, after, limit, shown),
            progress,
            standings.remarks(connection, tournament, progress),
            0 if shown is None else len(tournament.spec.entrants) - len(shown),
        )


def progress(store: Store, tournament: Tournament) -> Progress:
    """How many games are where."""
    with store.database.read() as connection:
        return standings.progress(connection, tournament)


def selection(store: Store, tournament: Tournament, sample: Sample | None = None) -> Selection:
    """The rated games of a sample, by default all, and the standings by them; raises as ``samples.select``."""
    with store.frozen() as frozen, frozen.database.read() as connection:
        board = leaderboard(frozen, tournament, all_versions=True)
        games, about = stream(connection, tournament), descriptions.abouts(connection, tournament)
        return samples.select(board, games, about, sample or Sample())


def rated(store: Store, tournament: Tournament, *, after: int, limit: int) -> Sequence[RatedGame]:
    """So many rated games behind a number, in schedule order."""
    with store.database.read() as connection:
        return list(meetings.rated(connection, tournament, after=after, limit=limit))


def crosstable(
    store: Store, tournament: Tournament, rows: Iterable[int] | None = None, last: int | None = None
) -> Crosstable:
    """Who did how well against whom; see ``store.crosstable``."""
    with store.database.read() as connection:
        return _crosstable(connection, tournament, rows, last)


def games(
    store: Store, tournament: Tournament, *, bot: str | None = None, after: int = 0, limit: int = 100
) -> Sequence[GameSummary]:
    """Games in schedule order: so many behind a number, of all or of one bot; see ``page``."""
    return page(store, tournament, Choice(bot=bot), after=after, limit=limit).games


def page(  # noqa: PLR0913 - a page has many bounds
    store: Store,
    tournament: Tournament,
    choice: Choice,
    *,
    after: int = 0,
    limit: int = 100,
    watchable: Collection[int] | None = None,
) -> Page:
    """A page of games in schedule order; see ``lists.games``.

    Raises:
        UserError: no bot of that name plays there.
    """
    with store.database.read() as connection:
        return lists.games(connection, tournament, choice, after=after, limit=limit, watchable=watchable)


def shows(store: Store, tournament: Tournament, number: int, watchable: Collection[int] = ()) -> bool:
    """Whether a game and all others of its pairing are over, or all of its entrants are among these; by index."""
    with store.database.read() as connection:
        return lists.shows(connection, tournament, number, watchable)


def history(store: Store, tournament: Tournament, place: int, *, before: int | None = None, limit: int) -> History:
    """An entrant's row, and a page of its rated games, the last one first; see ``store.lists``."""
    with store.database.read() as connection:
        row = standings.standing(connection, tournament, place)
        return History(row, lists.history(connection, tournament, place, before=before, limit=limit))


def find_game(store: Store, text: str) -> GameRef:
    """The game that a text names.

    Args:
        store: the database.
        text: an id (``nightly/17``, of a void attempt ``nightly/17.2``), one with only the beginning of the
            tournament's name, a number alone (of the tournament started last), or ``last``: the one recorded last.

    Raises:
        UserError: it names no game, or several.
    """
    if text == "last":
        return _last(store)
    match = _GAME_ID.fullmatch(text)
    if match is None:
        raise UserError("not a game", repr(text), "write nightly/17, 17 or last; `arena games list` shows them")
    held = tournament(store) if match["tournament"] is None else _by_prefix(store, match["tournament"])
    attempt = None if match["attempt"] is None else int(match["attempt"])
    found = GameRef(held, int(match["number"]), attempt)
    if not 1 <= found.number <= held.planned:
        fix = f"{held.name} has games 1 to {held.planned}" if held.planned else f"{held.name} has no games yet"
        raise MissingError("no such game", found.id, fix)
    return found


def record(store: Store, game: GameRef) -> GameRecord:
    """The record of a game, or of one void attempt at it; raises UserError where there is none yet."""
    found, last = _entry(store, game)
    with _legible(game.id):
        return records.record(game.tournament, found, last=last)


def result(store: Store, game: GameRef) -> Result:
    """The same with what a record leaves out: every failure's evidence, logs, credit; without the bots' seeds."""
    return entry(store, game).result


def entry(store: Store, game: GameRef) -> journal.Entry:
    """The journal's entry of a game; raises as ``record``."""
    found, _ = _entry(store, game)
    with _legible(game.id):
        return journal.decode(found, game.tournament.spec)


def _entry(store: Store, game: GameRef) -> tuple[bytes, bool]:
    """The journal entry, and whether it is the game's last attempt."""
    query = _entries(game.tournament).where(GAME.c.number == game.number)
    if game.attempt is None:
        query = query.where(_LAST, ATTEMPT.c.ending != Ending.VOID)
    else:
        query = query.where(ATTEMPT.c.attempt == game.attempt)
    with store.database.read() as connection:
        found = connection.execute(query).one_or_none()
    if found is None:
        raise MissingError("no record of this game", game.id, "it was not played to its end, or not yet")
    return found.journal, found.last


def export(
    store: Store, tournament: Tournament, *, bot: str | None = None, all_attempts: bool = False
) -> Iterator[GameRecord]:
    """The records of the games that count, in schedule order; raises UserError as ``games``.

    On request also every other attempt: void ones, and what was played but came too late to count.
    """
    query = _entries(tournament) if all_attempts else _counting(tournament)
    if bot is not None:
        here = (SEAT.c.tournament_id == tournament.id, SEAT.c.entrant.in_(find_bots(tournament, bot)))
        query = query.where(ATTEMPT.c.number.in_(select(SEAT.c.number).where(*here)))
    return _records(store, tournament, query.order_by(ATTEMPT.c.number, ATTEMPT.c.attempt))


def played(store: Store, tournament: Tournament) -> Iterator[tuple[GameRecord, Result]]:
    """The games that count, in schedule order: the record of each, and what it leaves out."""
    with store.database.read() as connection:
        for row in connection.execute(_counting(tournament).order_by(ATTEMPT.c.number)):
            with _legible(f"{tournament.name}/{row.number}"):
                found = journal.decode(row.journal, tournament.spec).result
            yield records.record_of(tournament, found), found


def _counting(tournament: Tournament) -> Select[Any]:
    """Those of the games that count."""
    return _entries(tournament).where(_LAST, ATTEMPT.c.ending != Ending.VOID, GAME.c.status != GameStatus.CANCELLED)


def _entries(tournament: Tournament) -> Select[Any]:
    """Number, journal entry, and whether it is the game's last one, of every attempt."""
    return (
        select(ATTEMPT.c.number, ATTEMPT.c.journal, _LAST.label("last"))
        .join(GAME, (GAME.c.tournament_id == ATTEMPT.c.tournament_id) & (GAME.c.number == ATTEMPT.c.number))
        .where(ATTEMPT.c.tournament_id == tournament.id)
    )


def _records(store: Store, tournament: Tournament, query: Select[Any]) -> Iterator[GameRecord]:
    with store.database.read() as connection:
        for row in connection.execute(query):
            with _legible(f"{tournament.name}/{row.number}"):
                found = records.record(tournament, row.journal, last=row.last)
            yield found


@contextmanager
def _legible(game_id: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ArenaError(
            "the record of this game is damaged", f"{game_id}: {error}", "`arena verify` tells more"
        ) from None


def _newest(purposes: Iterable[Purpose], before: Tournament | None = None, limit: int | None = None) -> Select[Any]:
    """Those that are played for one of these, the newest first."""
    return NEWEST_FIRST.where(TOURNAMENT.c.id.in_(_numbers(purposes, before, limit))).limit(limit)


def _numbers(
    purposes: Iterable[Purpose], before: Tournament | None = None, limit: int | None = None
) -> CompoundSelect[Any]:
    """The newest of each purpose, by its own part of an index: others may be very many."""
    older = () if before is None else (TOURNAMENT.c.id < before.id,)
    numbers = select(TOURNAMENT.c.id).order_by(TOURNAMENT.c.id.desc()).limit(limit)
    each = (numbers.where(TOURNAMENT.c.purpose == purpose, *older).subquery() for purpose in purposes)
    return union_all(*(select(one.c.id) for one in each))


_LAST_STARTED = _newest(_MAIN, limit=1)  # built once: it is asked for most often


def _names(connection: Connection) -> list[str]:
    """The newest of those that are listed unasked."""
    listed = TOURNAMENT.c.id.in_(_numbers(_LISTED, limit=_COMPARED))
    return list(connection.execute(select(TOURNAMENT.c.name).where(listed).order_by(TOURNAMENT.c.id.desc())).scalars())


def _last(store: Store) -> GameRef:
    """Of the newest tournament that has a record and is no side event."""
    with store.database.read() as connection:
        for held in load(connection, _newest(_MAIN), public=True):
            number = _last_number(connection, held.id)
            if number is not None:
                return GameRef(held, number)
    raise MissingError("no game was recorded yet", store.label, "play some: arena run-tournament")


def _last_number(connection: Connection, tournament_id: int) -> int | None:
    query = (
        select(ATTEMPT.c.number)
        .where(ATTEMPT.c.tournament_id == tournament_id, ATTEMPT.c.ending.not_in([Ending.VOID, Ending.FORFEIT]))
        .order_by(ATTEMPT.c.sequence.desc())
        .limit(1)
    )
    number: int | None = connection.execute(query).scalar()
    return number


def _by_prefix(store: Store, beginning: str) -> Tournament:
    """The tournament of that name, else the only one whose name begins so."""
    with store.database.read() as connection:
        exact = find(connection, beginning, public=True)
        found = [] if exact else _beginning(connection, beginning.casefold())
    if len(found) > 1:
        raise UserError("the name could be one of several", repr(beginning), ", ".join(found))
    return exact or tournament(store, found[0] if found else beginning)


def _beginning(connection: Connection, key: str) -> list[str]:
    """A few of the names that begin so; looked for in the index alone, as rows are large."""
    name_key = TOURNAMENT.c.name_key
    keys = select(name_key).where(func.substr(name_key, 1, len(key)) == key).limit(_SEVERAL)
    names = select(TOURNAMENT.c.name).where(name_key.in_(keys)).order_by(TOURNAMENT.c.id.desc())
    return list(connection.execute(names).scalars())
