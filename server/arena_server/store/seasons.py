"""The end of a season: it is frozen, decided by a closing round-robin, archived.

Each step is one transaction and can be taken while a server plays the season, which looks at each of its ticks. A step
that was taken already changes nothing; one out of turn is refused with what comes before it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from sqlalchemy import Connection, select, update

from arena_server.model import Purpose, UserError
from arena_server.store import amendments, closings, standings, tournaments
from arena_server.store.database import Database
from arena_server.store.lists import MissingError, nearest
from arena_server.store.tables import TOURNAMENT
from arena_server.store.views import Phase, Season, Tournament


def seasons(connection: Connection) -> list[Season]:
    """All of them, the newest first."""
    query = select(TOURNAMENT.c.id).where(TOURNAMENT.c.purpose == Purpose.SEASON).order_by(TOURNAMENT.c.id.desc())
    return [_season(connection, number) for number in connection.execute(query).scalars().all()]


def find(connection: Connection, name: str) -> Season:
    """The season of that name, without regard to case; raises UserError where there is none."""
    return _season(connection, _id(connection, name))


def phase(database: Database, season: Tournament) -> Phase:
    """How far a season is now."""
    with database.read() as connection:
        return _season(connection, season.id).phase


def freeze(database: Database, name: str) -> Season:
    """From now on nobody joins and no game is planned; those that are planned are played.

    Raises:
        UserError: there is no such season.
    """
    with database.write() as connection:
        held = _held(connection, name).ladder
        if held.spec.frozen is None:
            amendments.amend(connection, held, replace(held.spec, frozen=held.planned))
        return _season(connection, held.id)


def close(database: Database, name: str, *, top: int | None = None, games: int | None = None) -> Season:
    """Makes the round-robin that decides a season, for its server to play.

    Args:
        database: where.
        name: of the season.
        top: only so many play, the best by the frozen table; None: all that still play.
        games: between each two; None: five deals.

    Raises:
        UserError: there is no such season, it is not frozen, it has open games, or such a round-robin cannot be played.
    """
    with database.write() as connection:
        held = _held(connection, name)
        if held.closing is not None:
            return held
        _check_over(held)
        spec = closings.spec(connection, held.ladder, top, games)
        closing = tournaments.create(connection, spec, _free_name(connection, held.ladder.name))
        _set(connection, closing, anchors=dict(held.ladder.anchors))
        _set(connection, held.ladder, closing=closing.id)
        return _season(connection, held.ladder.id)


def archive(database: Database, name: str, *, without_closing: bool = False) -> Season:
    """Finishes a season: its secret may be revealed.

    Args:
        database: where.
        name: of the season.
        without_closing: whether its own table may decide it.

    Raises:
        UserError: there is no such season, or it is not over.
    """
    with database.write() as connection:
        held = _held(connection, name)
        if held.phase is Phase.ARCHIVED:
            return held
        _check_over(held)
        if held.closing is None and not without_closing:
            fix = f"arena season close {held.ladder.name}; or --without-closing: then its own table decides"
            raise UserError(f"{held.ladder.name} has no closing round-robin", "", fix)
        if held.phase is Phase.CLOSING and held.closing_progress is not None:
            what = f"the closing round-robin of {held.ladder.name} is not over"
            raise UserError(what, held.closing_progress, "its server plays it: wait")
        tournaments.mark_finished(connection, held.ladder)
        return _season(connection, held.ladder.id)


def _check_over(held: Season) -> None:
    """Raises UserError unless the season is frozen and all of its games are over."""
    name = held.ladder.name
    if held.phase is Phase.OPEN:
        raise UserError(f"{name} is not frozen", "", f"arena season freeze {name}")
    if held.progress.open:
        fix = "its server plays them, or gives them up where bots stay away: wait"
        raise UserError(f"{name} has games that are not over", held.progress.open, fix)


def _held(connection: Connection, name: str) -> Season:
    """It as it is, until the end of the transaction."""
    number = _id(connection, name)
    connection.execute(select(TOURNAMENT.c.id).where(TOURNAMENT.c.id == number).with_for_update())
    return _season(connection, number)


def _id(connection: Connection, name: str) -> int:
    query = select(TOURNAMENT.c.id, TOURNAMENT.c.name, TOURNAMENT.c.name_key).where(
        TOURNAMENT.c.purpose == Purpose.SEASON
    )
    known = connection.execute(query.order_by(TOURNAMENT.c.id.desc())).all()
    found = next((row.id for row in known if row.name_key == name.casefold()), None)
    if found is None:
        fix = nearest(name, [row.name for row in known]) if known else "`arena serve` begins one"
        raise MissingError("no such season", repr(name), fix)
    return int(found)


def _season(connection: Connection, number: int) -> Season:
    ladder = _tournament(connection, number)
    progress = standings.progress(connection, ladder)
    decided = connection.execute(select(TOURNAMENT.c.closing).where(TOURNAMENT.c.id == number)).scalar_one()
    if decided is None:
        return Season(ladder, progress)
    closing = _tournament(connection, decided)
    return Season(ladder, progress, closing, standings.progress(connection, closing))


def _tournament(connection: Connection, number: int) -> Tournament:
    """Without the secrets that nobody may know yet."""
    return tournaments.by_id(connection, number, public=True)


def _free_name(connection: Connection, season: str) -> str:
    """Of its closing round-robin."""
    wanted = f"{season[:50]}-closing"
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in count(1))
    return next(name for name in names if tournaments.find(connection, name) is None)


def _set(connection: Connection, tournament: Tournament, **values: object) -> None:
    connection.execute(update(TOURNAMENT).where(TOURNAMENT.c.id == tournament.id).values(**values))
