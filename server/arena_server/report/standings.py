"""``standings.csv``: a row for every entrant, the best first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeVar

from arena_server.model import FAILURES, About, Ending
from arena_server.ratings.estimates import Estimate
from arena_server.ratings.win_rates import WinRate
from arena_server.report.columns import Column, Table, Value
from arena_server.report.contents import Contents
from arena_server.store import Standing


@dataclass(frozen=True, slots=True)
class Entry:
    """All that is known of one entrant.

    Attributes:
        place: its index in the spec.
        label: as people read it.
        ranks: the possible ones, best and worst.
        normal: rated games that ended by the rules.
        over: Elo above the next row.
    """

    place: int
    label: str
    standing: Standing
    about: About
    ranks: tuple[int, int] | None
    rate: WinRate | None
    elo: Estimate | None
    pairs: int
    normal: int
    over: Estimate | None

    @property
    def options(self) -> str:
        """The bot's, as JSON."""
        return json.dumps(dict(self.standing.entrant.options), sort_keys=True, ensure_ascii=False)

    @property
    def others_failed(self) -> int:
        """Games that ended by the failure of others alone."""
        return self.standing.games - self.normal - sum(self.standing.failures.values())


def entries(contents: Contents) -> Iterator[Entry]:
    """In the order of the standings."""
    order, analysis = contents.board.places, contents.analysis
    for row, (place, standing) in enumerate(zip(order, contents.board.standings, strict=True)):
        yield Entry(
            place,
            contents.labels[place],
            standing,
            contents.about[place],
            analysis.ranges.get(place),
            contents.rates[place],
            analysis.strengths[place],
            analysis.pairs[place],
            contents.normal[place],
            analysis.over(place, order[row + 1]) if row + 1 < len(order) else None,
        )


Part = TypeVar("Part")


def _of(whole: Callable[[Entry], Part | None], part: Callable[[Part], Value]) -> Callable[[Entry], Value]:
    """A part of what may be missing."""
    return lambda entry: None if (found := whole(entry)) is None else part(found)


def _ranks(entry: Entry) -> tuple[int, int] | None:
    return entry.ranks


def _rate(entry: Entry) -> WinRate | None:
    return entry.rate


def _elo(entry: Entry) -> Estimate | None:
    return entry.elo


def _failure(kind: Ending) -> Column[Entry]:
    meaning = f"games that it lost by its own {kind.replace('_', ' ')}"
    return Column(kind, int, meaning, lambda row: row.standing.failures.get(kind, 0))


COLUMNS: tuple[Column[Entry], ...] = (
    Column("rank", int, "place in the standings, by mu - 3 sigma", lambda row: row.standing.rank),
    Column("rank_best", int, "best of the ranks that are possible (95 %)", _of(_ranks, itemgetter(0))),
    Column("rank_worst", int, "worst of them", _of(_ranks, itemgetter(1))),
    Column("owner", str, "whose bot it is; empty where nobody is named", lambda row: row.about.owner),
    Column("group", str, "what it belongs to: a class, a team", lambda row: row.about.group),
    Column("bot", str, "its name", lambda row: row.standing.entrant.name),
    Column("version", str, "its version", lambda row: row.standing.entrant.version),
    Column("digest", str, "SHA-256 of its files, in hex", lambda row: row.standing.entrant.digest),
    Column("options", str, "its options, a JSON object", lambda row: row.options),
    Column("withdrawn", bool, "whether it was taken out", lambda row: row.standing.withdrawn),
    Column("games", int, "rated games", lambda row: row.standing.games),
    Column("wins", int, "games in which it alone was first", lambda row: row.standing.wins),
    Column("losses", int, "games lost", lambda row: row.standing.losses),
    Column("draws", int, "games in which it shared the first rank", lambda row: row.standing.draws),
    Column("win_rate", float, "share of games won, a draw being half", _of(_rate, lambda rate: rate.share)),
    Column("win_rate_low", float, "lower end of its 95 % interval", _of(_rate, lambda rate: rate.low)),
    Column("win_rate_high", float, "upper end of it", _of(_rate, lambda rate: rate.high)),
    Column("margin", float, "mean margin in points over normally ended games", lambda row: row.standing.margin),
    Column("mu", float, "TrueSkill's mean", lambda row: row.standing.mu),
    Column("sigma", float, "TrueSkill's deviation", lambda row: row.standing.sigma),
    Column("conservative", float, "mu - 3 sigma", lambda row: row.standing.rating.conservative),
    Column(
        "elo", float, "Elo above the mean of the bots, or anchored (Bradley-Terry)", _of(_elo, lambda elo: elo.value)
    ),
    Column("elo_low", float, "lower end of its 95 % interval", _of(_elo, lambda elo: elo.low)),
    Column("elo_high", float, "upper end of it", _of(_elo, lambda elo: elo.high)),
    Column("pairs", int, "pairings that the interval rests on", lambda row: row.pairs),
    Column("normal", int, "games that ended by the rules", lambda row: row.normal),
    *map(_failure, FAILURES),
    Column("others_failed", int, "games that another bot's failure ended", lambda row: row.others_failed),
)


def table(contents: Contents) -> Table:
    """The file's content."""
    rows: list[tuple[Value, ...]] = [tuple(one.value(entry) for one in COLUMNS) for entry in entries(contents)]
    return Table(tuple(one.name for one in COLUMNS), tuple(one.kind for one in COLUMNS), rows)
