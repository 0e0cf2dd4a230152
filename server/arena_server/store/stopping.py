"""The stop rule on the store: what it says of the pairings that are closed, and what becomes of the games behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from arena_server.formats import plan
from arena_server.model import Spec
from arena_server.ratings.pairs import Meeting, Pair, comparisons
from arena_server.ratings.stopping import Judged, Rule, Sums, judge, rule
from arena_server.store.folding import rated_game
from arena_server.store.tables import GAME, SEAT
from arena_server.store.views import GameStatus, Status, Tournament

# Statements are built once: building one costs more than running it.
_SEATS = (
    select(GAME.c.pairing, GAME.c.status, SEAT.c.number, SEAT.c.entrant, SEAT.c.rank, SEAT.c.score, SEAT.c.failure)
    .join(SEAT, (SEAT.c.tournament_id == GAME.c.tournament_id) & (SEAT.c.number == GAME.c.number))
    .where(
        GAME.c.tournament_id == bindparam("of"),
        GAME.c.number > bindparam("after"),
        GAME.c.number <= bindparam("last"),
    )
    .order_by(GAME.c.number, SEAT.c.seat)
)
_CANCEL = (
    update(GAME)
    .where(GAME.c.tournament_id == bindparam("of"), GAME.c.number > bindparam("last"))
    .values(status=GameStatus.CANCELLED)
)


@lru_cache(maxsize=64)
def rule_of(spec: Spec) -> Rule | None:
    """The stop rule of a spec; raises UserError where it cannot be asked here."""
    if spec.stop is None:
        return None
    once = plan(replace(spec, games=spec.seats), ()) or ()
    return rule(spec, len(once))


def told(tournament: Tournament) -> str:
    """How its question stands, or what was decided; empty where it has none."""
    asked, spec = rule_of(tournament.terms[0].spec), tournament.spec
    if asked is None:
        return ""
    text = asked.told(tournament.sums or asked.begin(), spec.labels)
    if tournament.stopped is not None:
        return f"stopped after game {tournament.stopped}: {text}"
    return f"undecided after {tournament.planned} games: {text}" if tournament.status is Status.FINISHED else text


def as_dict(tournament: Tournament) -> dict[str, Any] | None:
    """The same for programs; None where it has no question."""
    asked, spec = rule_of(tournament.terms[0].spec), tournament.spec
    if asked is None:
        return None
    stand = asked.as_dict(tournament.sums or asked.begin(), spec.labels)
    return {"rule": spec.stop, "stopped": tournament.stopped, **stand}


def judged(connection: Connection, tournament_id: int, spec: Spec, sums: Sums | None, last: int) -> list[Judged]:
    """What the rule says of each pairing that is closed and was not judged yet, up to the one that decides.

    Args:
        connection: to read from.
        tournament_id: whose pairings.
        spec: of the tournament.
        sums: what the rule has seen so far; None at first.
        last: number of the last game of which all before are closed, too.
    """
    asked = rule_of(spec)
    if asked is None:
        return []
    sums = sums or asked.begin()

    def pairs(after: int, last: int) -> Iterator[tuple[int, Pair]]:
        rows = connection.execute(_SEATS, {"of": tournament_id, "after": after, "last": last})
        for _, seats in groupby(rows, key=lambda row: row.pairing):
            games = [list(game) for _, game in groupby(seats, key=lambda row: row.number)]
            if len(games) == spec.seats:
                yield games[-1][0].number, [met for game in games for met in _compared(game)]

    def history(last: int) -> Sequence[Pair]:
        return [pair for _, pair in pairs(0, last)]

    return list(judge(asked, sums, pairs(sums["games"], last), history))


def cancel(connection: Connection, tournament_id: int, last: int) -> None:
    """Every game after that number counts no more, played or not."""
    connection.execute(_CANCEL, {"of": tournament_id, "last": last})


def _compared(seats: Sequence[Any]) -> Pair:
    """Nothing of a game that does not count."""
    if seats[0].status != GameStatus.FINISHED:
        return ()
    number, entrants, result = rated_game(seats[0].number, seats)
    return list(comparisons(Meeting(number, seats[0].pairing, entrants, (), result)))
