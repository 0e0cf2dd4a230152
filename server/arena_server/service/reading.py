"""What readers of results need, from the database at hand or from a server: the same values, so the same output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from arena_engine.game import SEATS
from arena_engine.record import GameRecord
from arena_server.formats import Place, find, places
from arena_server.model import About, Purpose, Result
from arena_server.store import Progress, Run, Standing, Store, Tournament, queries
from arena_server.store.crosstable import Crosstable
from arena_server.store.lists import MAX_PAGE, Appearance, Choice, GameSummary, MissingError, Page, find_bot
from arena_server.store.queries import GameRef
from arena_server.store.samples import Sample, Selection
from arena_server.store.views import Leaderboard

MAX_BOT_GAMES = 100
"""Games of a bot that one page holds at most: each is read in full."""


@dataclass(frozen=True, slots=True)
class Table:
    """A format's own table.

    Attributes:
        stages: closed ones, which it includes.
        rows: best first.
    """

    stages: int
    rows: Sequence[Place]


@dataclass(frozen=True, slots=True)
class Details:
    """All about a tournament.

    Attributes:
        about: what is said of every entrant, in the order of entry.
        runs: the first first; none where they are not for everybody.
    """

    tournament: Tournament
    progress: Progress
    about: Sequence[About]
    runs: Sequence[Run]


@dataclass(frozen=True, slots=True)
class BotGame:
    """A rated game as a bot saw it, and how long its moves took.

    Attributes:
        median_us: of a move as it was charged, in microseconds; 0 without a move.
        longest_us: likewise.
    """

    played: Appearance
    moves: int
    median_us: int
    longest_us: int


@dataclass(frozen=True, slots=True)
class BotPage:
    """What is known of an entrant.

    Attributes:
        opponents: its row of the crosstable.
        games: its rated ones, the last one first.
        following: the next page is that before this number; None: there are no more.
    """

    tournament: Tournament
    standing: Standing
    opponents: Crosstable
    games: Sequence[BotGame]
    following: int | None


@dataclass(frozen=True, slots=True)
class Began:
    """A game is being played: told once at first, with the moves so far.

    Attributes:
        seats: labels in seat order.
        plies: in the notation of the game.
    """

    id: str
    seats: tuple[str, ...]
    deal: Mapping[str, str]
    plies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plies:
    """Plies were played.

    Attributes:
        ply: number of the first of them, from 0.
    """

    id: str
    ply: int
    plies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """A game is over and on record."""

    game: GameSummary


@dataclass(frozen=True, slots=True)
class Void:
    """An attempt came to nothing, by no bot's fault; another one may follow."""

    id: str


LiveEvent = Began | Plies | Ended | Void


class Reader(Protocol):
    """Answers about tournaments; None as a name is the one started last.

    Every method raises UserError for what is not there and ArenaError where the other side cannot answer.
    """

    def tournaments(self, purpose: Purpose | None = None) -> Sequence[tuple[Tournament, Progress]]:
        """Those that are played for something, by default all but challenges, the newest first."""

    def leaderboard(self, name: str | None, *, all_versions: bool = False) -> Leaderboard:
        """The standings, all of one moment; of a season those of its active versions, or of all."""

    def table(self, tournament: Tournament) -> Table | None:
        """The format's own table; None where the ratings are all there is."""

    def details(self, name: str | None) -> Details:
        """All about a tournament."""

    def selection(self, name: str | None, sample: Sample) -> Selection:
        """The rated games of a sample, and the standings by them, with every entrant."""

    def bot(self, name: str | None, bot: str, *, before: int | None, limit: int) -> BotPage:
        """What is known of an entrant, and so many of its games before a number; a page may hold fewer."""

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

    def tournaments(self, purpose: Purpose | None = None) -> Sequence[tuple[Tournament, Progress]]:
        """Those that are played for something, by default all but challenges, the newest first."""
        found = queries.tournaments(self._store, purpose=purpose)
        return [(held, queries.progress(self._store, held)) for held in found]

    def leaderboard(self, name: str | None, *, all_versions: bool = False) -> Leaderboard:
        """The standings, all of one moment; of a season those of its active versions, or of all."""
        with self._store.frozen() as store:
            return queries.leaderboard(store, queries.tournament(store, name), all_versions=all_versions)

    def table(self, tournament: Tournament) -> Table | None:
        """The format's own table; None where the ratings are all there is."""
        if find(tournament.spec.format).places is None:
            return None
        stages = self._store.closed_stages(tournament)
        return Table(len(stages), places(tournament.spec, stages) or ())

    def details(self, name: str | None) -> Details:
        """All about a tournament."""
        with self._store.frozen() as store:
            held = queries.tournament(store, name)
            return Details(held, queries.progress(store, held), queries.abouts(store, held), queries.runs(store, held))

    def selection(self, name: str | None, sample: Sample) -> Selection:
        """The rated games of a sample, and the standings by them, with every entrant."""
        with self._store.frozen() as store:
            return queries.selection(store, queries.tournament(store, name), sample)

    def bot(self, name: str | None, bot: str, *, before: int | None, limit: int) -> BotPage:
        """What is known of an entrant, and so many of its games before a number; a page may hold fewer."""
        with self._store.frozen() as store:
            held = queries.tournament(store, name)
            return bot_page(store, held, bot, before=before, limit=limit)

    def crosstable(self, name: str | None) -> tuple[Leaderboard, Crosstable]:
        """Who did how well against whom, and the standings of the same moment."""
        with self._store.frozen() as store:
            board = queries.leaderboard(store, queries.tournament(store, name), all_versions=True)
            return board, queries.crosstable(store, board.tournament)

    def games(self, name: str | None, choice: Choice, *, after: int, limit: int) -> tuple[str, Page]:
        """The tournament's name, and as many games behind a number as there are, up to a limit."""
        name = queries.tournament(self._store, name).name

        def page(after: int, limit: int) -> Page:
            with self._store.frozen() as store:  # with the bots that have joined since the page before
                return queries.page(store, queries.tournament(store, name), choice, after=after, limit=limit)

        return name, filled(page, after=after, limit=limit)

    def game(self, text: str) -> tuple[GameRecord, Result]:
        """The game that a text names, and what its record leaves out."""
        found = queries.find_game(self._store, text)
        return queries.record(self._store, found), queries.result(self._store, found)


def bot_page(store: Store, held: Tournament, bot: str, *, before: int | None, limit: int) -> BotPage:
    """What is known of an entrant; raises UserError where none has that name, or several."""
    place, limit = find_bot(held, bot), min(limit, MAX_BOT_GAMES)
    found = queries.history(store, held, place, before=before, limit=limit + 1)
    shown = found.games[:limit]
    return BotPage(
        held,
        found.standing,
        queries.crosstable(store, held, [place]),
        [_bot_game(store, held, one) for one in shown],
        shown[-1].game.number if len(found.games) > limit else None,
    )


def _bot_game(store: Store, held: Tournament, one: Appearance) -> BotGame:
    try:
        played = queries.result(store, GameRef(held, one.game.number)).moves
    except MissingError:  # forfeited without a game
        played = ()
    times = [move.charged_us for move in played if move.seat == SEATS[one.seat]]
    return BotGame(one, len(times), round(median(times)) if times else 0, max(times, default=0))


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
