"""What readers of results need, from the database at hand or from a server: the same values, so the same output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from arena_engine.record import GameRecord
from arena_server.formats import Place, find, places
from arena_server.model import Result
from arena_server.store import Progress, Store, Tournament, queries
from arena_server.store.crosstable import Crosstable
from arena_server.store.lists import MAX_PAGE, Choice, GameSummary, Page
from arena_server.store.queries import Leaderboard


@dataclass(frozen=True, slots=True)
class Table:
    """A format's own table.

    Attributes:
        stages: closed ones, which it includes.
        rows: best first.
    """

    stages: int
    rows: Sequence[Place]


class Reader(Protocol):
    """Answers about tournaments; None as a name is the one started last.

    Every method raises UserError for what is not there and ArenaError where the other side cannot answer.
    """

    def tournaments(self) -> Sequence[tuple[Tournament, Progress]]:
        """All of them, the newest first."""

    def leaderboard(self, name: str | None, *, all_versions: bool = False) -> Leaderboard:
        """The standings, all of one moment; of a season those of its active versions, or of all."""

    def table(self, tournament: Tournament) -> Table | None:
        """The format's own table; None where the ratings are all there is."""

    def crosstable(self, name: str | None) -> tuple[Leaderboard, Crosstable]:
        """Who did how well against whom, and the standings of the same moment."""

    def games(self, name: str | None, choice: Choice, *, after: int, limit: int) -> tuple[str, Page]:
        """The tournament's name, and as many games behind a number as there are, up to a limit."""

    def game(self, text: str) -> tuple[GameRecord, Result]:
        """The game that a text names, and what its record leaves out."""


class StoreReader:
    """Reads from a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def tournaments(self) -> Sequence[tuple[Tournament, Progress]]:
        """All of them, the newest first."""
        return [(held, queries.progress(self._store, held)) for held in queries.tournaments(self._store)]

    def leaderboard(self, name: str | None, *, all_versions: bool = False) -> Leaderboard:
        """The standings, all of one moment; of a season those of its active versions, or of all."""
        return queries.leaderboard(self._store, queries.tournament(self._store, name), all_versions=all_versions)

    def table(self, tournament: Tournament) -> Table | None:
        """The format's own table; None where the ratings are all there is."""
        if find(tournament.spec.format).places is None:
            return None
        stages = self._store.closed_stages(tournament)
        return Table(len(stages), places(tournament.spec, stages) or ())

    def crosstable(self, name: str | None) -> tuple[Leaderboard, Crosstable]:
        """Who did how well against whom, and the standings of the same moment."""
        with self._store.frozen() as store:
            board = queries.leaderboard(store, queries.tournament(store, name), all_versions=True)
            return board, queries.crosstable(store, board.tournament)

    def games(self, name: str | None, choice: Choice, *, after: int, limit: int) -> tuple[str, Page]:
        """The tournament's name, and as many games behind a number as there are, up to a limit."""
        held = queries.tournament(self._store, name)

        def page(after: int, limit: int) -> Page:
            return queries.page(self._store, held, choice, after=after, limit=limit)

        return held.name, filled(page, after=after, limit=limit)

    def game(self, text: str) -> tuple[GameRecord, Result]:
        """The game that a text names, and what its record leaves out."""
        found = queries.find_game(self._store, text)
        return queries.record(self._store, found), queries.result(self._store, found)


class PageOf(Protocol):
    """Asks for a page."""

    def __call__(self, after: int, limit: int) -> Page:
        """The games behind a number, at most so many, perhaps fewer."""


def filled(page: PageOf, *, after: int, limit: int) -> Page:
    """A page with as many games as there are, up to a limit, from pages that may be short."""
    found: list[GameSummary] = []
    following: int | None = after
    while following is not None and len(found) < limit:
        part = page(following, min(limit - len(found), MAX_PAGE))
        found += part.games
        following = part.following
    return Page(found, following)
