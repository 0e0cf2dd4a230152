"""Pages of games: of a tournament, and of one entrant. No page costs more for the games that are not on it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, exists, select, union

from arena_server.formats import active
from arena_server.model import Ending, Spec, UserError
from arena_server.ratings import Rating
from arena_server.store.tables import GAME, SEAT, TOURNAMENT
from arena_server.store.views import GameStatus, Tournament

MAX_PAGE = 1000
"""Games that one page holds at most."""
LOOKED_AT = 2000
"""Games that one page looks at where it leaves some out."""
MAX_NAMESAKES = 100
"""Entrants that one name may mean in a choice: each is a seek of its own."""

_OTHER, _ME = GAME.alias("other"), SEAT.alias("me")


class MissingError(UserError):
    """What was asked for is not there."""


@dataclass(frozen=True, slots=True)
class GameSummary:
    """One row of a list of games, tuples in seat order.

    Attributes:
        id: ``nightly/17``.
        seats: the labels of who sits there.
        ending: None while it is not closed, and where it was taken off.
        ranks: empty unless it is rated, like ``scores``.
        plies: None unless it is rated.
    """

    id: str
    number: int
    stage: int
    pairing: int
    seats: tuple[str, ...]
    status: GameStatus
    ending: Ending | None
    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    plies: int | None


@dataclass(frozen=True, slots=True)
class Choice:
    """Which games: those that everything given here lets through.

    Attributes:
        bot: those of the bots of this name or label (``mcts``, ``mcts 0.3``), without regard to case.
        opponent: those in which one of these sits, too.
        ending: those that ended so.
        stage: those of this stage.
    """

    bot: str | None = None
    opponent: str | None = None
    ending: Ending | None = None
    stage: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some games in schedule order.

    Attributes:
        games: perhaps fewer than were asked for, also where there are more.
        following: the next page is that after this number; None: there are no more.
    """

    games: Sequence[GameSummary]
    following: int | None


@dataclass(frozen=True, slots=True)
class Appearance:
    """A rated game as one of its entrants saw it.

    Attributes:
        seat: where it sat, from 0.
        rating: after the game.
        failure: how it failed; None where it did not.
    """

    game: GameSummary
    seat: int
    rating: Rating
    failure: Ending | None


def games(  # noqa: PLR0913 - a page has many bounds
    connection: Connection,
    tournament: Tournament,
    choice: Choice,
    *,
    after: int,
    limit: int,
    watchable: Collection[int] | None = None,
) -> Page:
    """A page of games in schedule order.

    Args:
        connection: to read from.
        tournament: whose games.
        choice: which of them.
        after: only games after this number.
        limit: at most so many, at most MAX_PAGE.
        watchable: entrants, by index; games of others are as if they were not there until they are over, see ``shows``.
            None: every game is there.

    Raises:
        UserError: no bot of that name plays there, or it means too many.
    """
    limit = min(max(limit, 1), MAX_PAGE)
    looked = limit + 1 if _is_plain(choice) else LOOKED_AT
    seen = list(connection.execute(_numbers(tournament, choice, after, watchable, looked)).scalars())
    if not seen:
        return Page((), None)
    found = _summaries(connection, tournament, _chosen(tournament, choice, seen).limit(limit + 1))
    if len(found) > limit:
        return Page(found[:limit], found[limit - 1].number)
    return Page(found, seen[-1] if len(seen) == looked else None)


def shows(connection: Connection, tournament: Tournament, number: int, watchable: Collection[int]) -> bool:
    """Whether a game is over, or all of its entrants are among these.

    A game is over once all games of its pairing are: they share its deal and its bots.
    """
    here = (GAME.c.tournament_id == tournament.id, GAME.c.number == number)
    return connection.execute(select(GAME.c.number).where(*here, _is_shown(watchable))).scalar() is not None


def history(
    connection: Connection, tournament: Tournament, place: int, *, before: int | None, limit: int
) -> list[Appearance]:
    """The rated games of one entrant, the last one first; at most so many, before that number."""
    rated = select(TOURNAMENT.c.watermark).where(TOURNAMENT.c.id == tournament.id).scalar_subquery()
    query = select(SEAT).where(
        SEAT.c.tournament_id == tournament.id,
        SEAT.c.entrant == place,
        SEAT.c.mu.is_not(None),
        SEAT.c.number <= rated,  # what is still to be played is not even looked at
    )
    if before is not None:
        query = query.where(SEAT.c.number < before)
    mine = connection.execute(query.order_by(SEAT.c.number.desc()).limit(limit)).all()
    numbers = select(GAME.c.number).where(
        GAME.c.tournament_id == tournament.id, GAME.c.number.in_([seat.number for seat in mine])
    )
    found = {game.number: game for game in _summaries(connection, tournament, numbers)}
    return [_appearance(found[seat.number], seat) for seat in mine]


def find_bots(tournament: Tournament, bot: str) -> list[int]:
    """The entrants of that name or label, by index, without regard to case; raises UserError where there is none."""
    wanted = bot.casefold()
    entrants, names = tournament.spec.entrants, tournament.spec.labels
    places = [
        place
        for place, (one, label) in enumerate(zip(entrants, names, strict=True))
        if wanted in (one.name.casefold(), one.label.casefold(), label.casefold())
    ]
    if not places:
        what = f"no such bot in {tournament.name}"
        raise MissingError(what, repr(bot), nearest(bot, [one.name for one in entrants]))
    return places


def find_bot(tournament: Tournament, bot: str) -> int:
    """The one entrant of that name or label; raises UserError where there is none, or several.

    In a season a name alone means the version that plays, or the newest where none does.
    """
    spec, places = tournament.spec, find_bots(tournament, bot)
    exact = [place for place in places if spec.labels[place].casefold() == bot.casefold()]
    meant = exact or _playing(spec, places)
    if len(meant) > 1:
        names = ", ".join(spec.labels[place] for place in meant[:5])
        raise UserError("the name could be one of several", repr(bot), names)
    return meant[0]


def _playing(spec: Spec, versions: Sequence[int]) -> Sequence[int]:
    playing = active(spec)
    return versions if playing is None else [place for place in versions if place in playing] or versions[-1:]


def nearest(name: str, known: Sequence[str]) -> str:
    """A question after the nearest of the known names; of a text that is no name at all after some of them."""
    near = get_close_matches(name, known, n=3) if len(name) <= _LONGEST else []
    return f"did you mean {' or '.join(near or known[:3])}?"


_LONGEST = 100  # characters: comparing longer texts takes long


def _is_plain(choice: Choice) -> bool:
    """Whether an index gives the games one by one."""
    return sum(given is not None for given in (choice.bot, choice.opponent, choice.ending, choice.stage)) <= 1


def _numbers(
    tournament: Tournament, choice: Choice, after: int, watchable: Collection[int] | None, limit: int
) -> Select[Any]:
    """The numbers to look at, by the index of what leaves most out."""
    bot = choice.bot or choice.opponent
    if bot is not None:
        return _of_bots(tournament, _few_bots(tournament, bot), after, watchable, limit)
    here = [GAME.c.tournament_id == tournament.id, GAME.c.number > after]
    if watchable is not None:
        here.append(_is_shown(watchable))
    numbers = select(GAME.c.number).where(*here).order_by(GAME.c.number).limit(limit)
    if choice.ending is not None:
        return numbers.where(GAME.c.ending == choice.ending)
    if choice.stage is not None:
        return numbers.where(GAME.c.stage == choice.stage)
    if watchable is None:
        return numbers
    told = [status for status in GameStatus if watchable or status is not GameStatus.PLANNED]
    return _merged([numbers.where(GAME.c.status == status) for status in told], limit)  # most games may be planned


def _of_bots(
    tournament: Tournament, places: Sequence[int], after: int, watchable: Collection[int] | None, limit: int
) -> Select[Any]:
    """Of each entrant the next games, merged: one index is never walked for all of them."""
    of_it = (GAME.c.tournament_id == SEAT.c.tournament_id, GAME.c.number == SEAT.c.number)
    shown = [] if watchable is None else [exists().where(*of_it, _is_shown(watchable))]
    each = [
        select(SEAT.c.number)
        .where(SEAT.c.tournament_id == tournament.id, SEAT.c.entrant == place, SEAT.c.number > after, *shown)
        .order_by(SEAT.c.number)
        .limit(limit)
        for place in places
    ]
    return _merged(each, limit)


def _merged(each: Sequence[Select[Any]], limit: int) -> Select[Any]:
    """The first of the numbers that these give in order."""
    merged = union(*(select(one.subquery().c.number) for one in each)).subquery()
    return select(merged.c.number).order_by(merged.c.number).limit(limit)


def _is_shown(watchable: Collection[int]) -> ColumnElement[bool]:
    """Whether a row of ``game`` is a game that is over, or one of these entrants alone; never a list of such games."""
    planned = exists().where(
        _OTHER.c.tournament_id == GAME.c.tournament_id,
        _OTHER.c.pairing == GAME.c.pairing,
        _OTHER.c.status.concat("") == GameStatus.PLANNED,  # no column: SQLite would walk all planned games by its index
    )
    is_over = (GAME.c.status != GameStatus.PLANNED) & ~planned  # the first follows from the second, and is read faster
    if not watchable:
        return is_over
    private = exists().where(
        _ME.c.tournament_id == GAME.c.tournament_id,
        _ME.c.number == GAME.c.number,
        _ME.c.entrant.not_in(watchable),
    )
    return is_over | ~private


def _few_bots(tournament: Tournament, bot: str) -> list[int]:
    places = find_bots(tournament, bot)
    if len(places) > MAX_NAMESAKES:
        raise UserError(
            f"{len(places)} bots have this name", repr(bot), f"add the version: {tournament.spec.labels[places[0]]}"
        )
    return places


def _chosen(tournament: Tournament, choice: Choice, seen: Sequence[int]) -> Select[Any]:
    """Those of the numbers that everything lets through."""
    query = select(GAME.c.number).where(GAME.c.tournament_id == tournament.id, GAME.c.number.in_(seen))
    if choice.bot is not None and choice.opponent is not None:
        others = select(SEAT.c.number).where(
            SEAT.c.tournament_id == tournament.id,
            SEAT.c.number.in_(seen),
            SEAT.c.entrant.in_(_few_bots(tournament, choice.opponent)),
        )
        query = query.where(GAME.c.number.in_(others))
    if choice.ending is not None:  # of a game that was taken off no ending is told
        query = query.where(GAME.c.ending == choice.ending, GAME.c.status != GameStatus.CANCELLED)
    if choice.stage is not None:
        query = query.where(GAME.c.stage == choice.stage)
    return query.order_by(GAME.c.number)


def _summaries(connection: Connection, tournament: Tournament, numbers: Select[Any]) -> list[GameSummary]:
    query = (
        select(GAME, SEAT.c.entrant, SEAT.c.rank, SEAT.c.score)
        .join(SEAT, (SEAT.c.tournament_id == GAME.c.tournament_id) & (SEAT.c.number == GAME.c.number))
        .where(GAME.c.tournament_id == tournament.id, GAME.c.number.in_(list(connection.execute(numbers).scalars())))
        .order_by(GAME.c.number, SEAT.c.seat)
    )
    names = tournament.spec.labels
    rows = groupby(connection.execute(query), key=lambda row: row.number)
    return [_summary(tournament, names, list(seats)) for _, seats in rows]


def _appearance(game: GameSummary, seat: Row[Any]) -> Appearance:
    failure = None if seat.failure is None else Ending(seat.failure)
    return Appearance(game, seat.seat, Rating(seat.mu, seat.sigma), failure)


def _summary(tournament: Tournament, names: Sequence[str], seats: Sequence[Row[Any]]) -> GameSummary:
    game = seats[0]
    rated, taken_off = game.status == GameStatus.FINISHED, game.status == GameStatus.CANCELLED
    return GameSummary(
        id=f"{tournament.name}/{game.number}",
        number=game.number,
        stage=game.stage,
        pairing=game.pairing,
        seats=tuple(names[seat.entrant] for seat in seats),
        status=GameStatus(game.status),
        ending=None if game.ending is None or taken_off else Ending(game.ending),
        ranks=tuple(seat.rank for seat in seats) if rated else (),
        scores=tuple(seat.score for seat in seats) if rated else (),
        plies=None if taken_off else game.plies,
    )
