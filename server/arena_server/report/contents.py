"""What a report is made of, read at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from arena_engine.record import GameRecord
from arena_server.formats import Place, places
from arena_server.model import About, Result
from arena_server.ratings.analysis import Analysis, analyse
from arena_server.ratings.pairs import Meeting
from arena_server.ratings.win_rates import WinRate, win_rates
from arena_server.store import Store, Tournament, anchors, queries
from arena_server.store.anchors import Anchors
from arena_server.store.crosstable import Crosstable
from arena_server.store.lists import MAX_PAGE, GameSummary
from arena_server.store.views import Leaderboard


@dataclass(frozen=True, slots=True)
class Game:
    """A game of the plan, and what was recorded of it; both None while there is nothing."""

    summary: GameSummary
    record: GameRecord | None
    result: Result | None


@dataclass(frozen=True)
class Contents:
    """A tournament, as readers see it.

    Attributes:
        meetings: the games that the ratings include, in schedule order.
        crosstable: over the same games.
        places: the format's own table; None where the ratings are all there is.
        stages: how many are closed.
        about: whose the bots are, in the order of entry.
        anchors: values that are fixed, in Elo, by entrant.
    """

    board: Leaderboard
    meetings: Sequence[Meeting]
    crosstable: Crosstable
    places: Sequence[Place] | None
    stages: int
    about: Sequence[About]
    anchors: Mapping[int, float]

    @classmethod
    def read(cls, store: Store, name: str | None, anchored: Anchors) -> Contents:
        """Of the tournament of that name, by default of the one started last, on the scale of these anchors or its own.

        Raises:
            UserError: there is no such tournament, or an anchor cannot hold.
        """
        tournament = queries.tournament(store, name)
        selection = queries.selection(store, tournament)
        stages = store.closed_stages(tournament)
        table = queries.crosstable(store, tournament)
        about = queries.abouts(store, tournament)
        fixed = anchors.holding(tournament, selection.games, anchored)
        return cls(selection.board, selection.games, table, places(tournament.spec, stages), len(stages), about, fixed)

    @property
    def tournament(self) -> Tournament:
        """Whose report it is."""
        return self.board.tournament

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Of the entrants, in their order."""
        return self.tournament.spec.labels

    @cached_property
    def analysis(self) -> Analysis:
        """How sure the standings are."""
        return analyse(self.meetings, self.tournament.spec, resample=False, anchors=self.anchors)

    @cached_property
    def rates(self) -> Sequence[WinRate | None]:
        """By entrant."""
        return win_rates(self.meetings, len(self.labels))

    @cached_property
    def normal(self) -> Sequence[int]:
        """Rated games that ended by the rules, by entrant."""
        counts = [0] * len(self.labels)
        for meeting in self.meetings:
            for entrant in meeting.entrants:
                counts[entrant] += meeting.result.normal
        return counts


def games(store: Store, tournament: Tournament) -> Iterator[Game]:
    """Every game of the plan, in schedule order."""
    played = queries.played(store, tournament)
    record, result = next(played, (None, None))
    for summary in _summaries(store, tournament):
        if record is not None and record.number == summary.number:
            yield Game(summary, record, result)
            record, result = next(played, (None, None))
        else:
            yield Game(summary, None, None)


def _summaries(store: Store, tournament: Tournament) -> Iterator[GameSummary]:
    page = queries.games(store, tournament, limit=MAX_PAGE)
    while page:
        yield from page
        page = queries.games(store, tournament, after=page[-1].number, limit=MAX_PAGE)
