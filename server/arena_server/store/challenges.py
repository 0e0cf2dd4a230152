"""Challenges: unrated matches between registered bots, which a server plays beside its season and by its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import IntegrityError

from arena_server import formats
from arena_server.model import Entrant, Purpose, Spec, UserError, labels
from arena_server.store import contracts, registry, tournaments
from arena_server.store.database import Database
from arena_server.store.tables import ENTRANT, RUN, TOURNAMENT
from arena_server.store.views import Status, Tournament

MAX_GAMES = 100
MAX_OPEN = 50
MAX_OPEN_OF_A_BOT = 4
"""Quotas: games of a challenge, challenges that are not finished, and those of one bot, whatever its version."""

_OPEN = (TOURNAMENT.c.purpose == Purpose.CHALLENGE, TOURNAMENT.c.status != Status.FINISHED)


def challenge(database: Database, bots: Sequence[str], games: int) -> Tournament:
    """Makes a challenge; a server of this database plays it once its bots are there, also one that runs already.

    Args:
        database: where.
        bots: name (the newest version that plays) or name and version (``mcts 0.3``) of each, in seat order of the
            first game.
        games: a multiple of the seats.

    Raises:
        UserError: no such bot, a retired one, the same one twice, a number of games that cannot be played, or over a
            quota.
    """
    try:
        with database.write() as connection:
            return _challenge(connection, bots, games)
    except IntegrityError:  # on a server, a command made a tournament of that name at the same moment
        with database.write() as connection:
            return _challenge(connection, bots, games)


def _challenge(connection: Connection, bots: Sequence[str], games: int) -> Tournament:
    """The same within a transaction."""
    spec, house = _season(connection)
    entrants = tuple(_entrant(connection, bot, house) for bot in bots)
    spec = replace(spec, entrants=entrants, format="match", games=games, beside=Purpose.CHALLENGE)
    formats.plan(spec, ())
    if games > MAX_GAMES:
        raise UserError("number of games", games, f"a challenge has {MAX_GAMES} at most")
    _check_quotas(connection, entrants)
    return tournaments.create(connection, spec, _name(connection))


def _season(connection: Connection) -> tuple[Spec, tuple[Entrant, ...]]:
    """How the season is played that a server played last, and the house bots of that server.

    Held until the end of the transaction: one challenge is made after the other, so that quotas and names hold.
    """
    query = (
        select(TOURNAMENT.c.contract, RUN.c.facts)
        .join(RUN, RUN.c.tournament_id == TOURNAMENT.c.id)
        .where(TOURNAMENT.c.purpose == Purpose.SEASON)
        .order_by(RUN.c.started_at.desc(), TOURNAMENT.c.id.desc(), RUN.c.epoch.desc())
        .limit(1)
        .with_for_update(of=TOURNAMENT)
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        raise UserError("no season was played here: a challenge goes by its rules", "", "start one with `arena serve`")
    held = contracts.spec_of(row.contract)
    spec = Spec(
        entrants=(),
        game=held.game,
        rules=held.rules,
        seats=held.seats,
        deals=held.deals,
        time_control=held.time_control,
        draw_probability=held.draw_probability,
    )
    return spec, tuple(Entrant.from_dict(one) for one in row.facts.get("house", ()))


def _entrant(connection: Connection, bot: str, house: Sequence[Entrant]) -> Entrant:
    """Whom a name means; raises UserError where it is nobody, or several."""
    wanted = bot.casefold()
    meant = [
        entrant
        for entrant, label in zip(house, labels(house), strict=True)
        if wanted in (entrant.name.casefold(), entrant.label.casefold(), label.casefold())
    ]
    if len(meant) > 1:
        names = ", ".join(label for entrant, label in zip(house, labels(house), strict=True) if entrant in meant)
        raise UserError("the bot could be one of several", repr(bot), f"say which: {names}")
    name, _, version = bot.partition(" ")
    return meant[0] if meant else registry.playing(connection, name, version or None)


def _check_quotas(connection: Connection, entrants: Sequence[Entrant]) -> None:
    fix = "come again when some are over: `arena tournaments --purpose challenge`"
    everything = connection.execute(select(func.count()).select_from(TOURNAMENT).where(*_OPEN)).scalar_one()
    if everything >= MAX_OPEN:
        raise UserError(f"{MAX_OPEN} challenges are open", "", fix)
    for name in {entrant.name for entrant in entrants}:
        of_it = (
            select(func.count(TOURNAMENT.c.id.distinct()))
            .join(ENTRANT, ENTRANT.c.tournament_id == TOURNAMENT.c.id)
            .where(*_OPEN, ENTRANT.c.name == name)
        )
        if connection.execute(of_it).scalar_one() >= MAX_OPEN_OF_A_BOT:
            raise UserError(f"{name} has {MAX_OPEN_OF_A_BOT} open challenges", "", fix)


def _name(connection: Connection) -> str:
    """The next free one: ``challenge-17``."""
    made = select(func.count()).select_from(TOURNAMENT).where(TOURNAMENT.c.purpose == Purpose.CHALLENGE)
    numbers = count(connection.execute(made).scalar_one() + 1)
    names = (f"{Purpose.CHALLENGE}-{number}" for number in numbers)
    return next(name for name in names if tournaments.find(connection, name) is None)
