"""The store of the coordinator: everything it reads and writes about tournaments. Readers use ``queries``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from arena_server.formats import Stage
from arena_server.formats.matchmaking import Past
from arena_server.formats.season import Call
from arena_server.model import About, Pairing, PlannedGame, Result, Spec
from arena_server.store import amendments, descriptions, lead, lock, schedule, standings, stopping, tournaments, writer
from arena_server.store.database import Database
from arena_server.store.views import Entered, Progress, Recorded, SideEvent, Standing, Tournament


class Store:
    """An open database. Safe to use from several threads; every call is one transaction.

    Every method raises ArenaError when the database cannot do its work (disk full, read-only, locked, corrupt).
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._locks: list[lock.Lock | lock.SiteLock] = []

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> Self:
        """Opens a database and brings its schema up to date.

        Args:
            url: a path, ``sqlite:///PATH`` or ``postgresql://...``.
            create: whether to make a file that does not exist; readers say False.

        Raises:
            UserError: no such folder or file, not a database, not ours, made by a newer arena, or not writable.
        """
        return cls(Database.open(url, create=create))

    @staticmethod
    def existing(url: str, spec: Spec, *, name: str | None = None) -> Tournament | None:
        """The tournament that ``enter`` would find, or would refuse to go on with; nothing is changed for it.

        Raises:
            UserError: what is there is no database, or not ours.
        """
        database = Database.look(url)
        if database is None:
            return None
        try:
            with database.read() as connection:
                return tournaments.existing(connection, spec, name)
        finally:
            database.close()

    def close(self) -> None:
        """Gives back every lock and closes every connection."""
        for held in self._locks:
            held.release()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def frozen(self) -> Iterator[Store]:
        """The store at one moment, to read from in one thread: whatever is asked, the answers agree."""
        with self.database.frozen() as database:
            yield Store(database)

    def limited(self, seconds: float) -> Store:
        """The store for readers whose statements are stopped after so many seconds: they raise TooLongError."""
        return Store(self.database.limited(seconds))

    @property
    def label(self) -> str:
        """The database as a person would name it: its path, or its URL without passwords."""
        return self.database.label

    def enter(self, spec: Spec, *, name: str | None = None, new: bool = False) -> Entered:
        """Finds the tournament of this contract, or makes it (design, decision 14).

        Raises:
            UserError: the name is malformed, its tournament has another contract, or other rules or another rating
                library would go on with it.
        """
        return tournaments.enter(self.database, spec, name=name, new=new)

    def side_events(self) -> list[SideEvent]:
        """What is to be played beside the season and not finished, the oldest first."""
        return tournaments.side_events(self.database)

    def tournament(self, tournament_id: int) -> Tournament:
        """The tournament of that id, with its secret; raises ArenaError where its contract is damaged."""
        with self.database.read() as connection:
            return tournaments.by_id(connection, tournament_id)

    def to_extend(self, spec: Spec, *, name: str | None = None) -> Entered:
        """Finds the tournament of that name, else the newest, whose contract this one is or can grow from.

        Raises:
            UserError: there is none, what differs is no growth, or it was rated by another library.
        """
        return tournaments.to_extend(self.database, spec, name=name)

    def extend(self, tournament: Tournament, spec: Spec) -> Tournament:
        """Lets a contract grow, for the stages that are not planned yet; nothing happens where it is this one already.

        Args:
            tournament: as the lock gives it.
            spec: what a command asks for: more games, more rounds, or further entrants behind the others.

        Returns:
            The tournament as it is now; a finished one goes on.

        Raises:
            UserError: something differs that cannot grow, or shrinks.
            ArenaError: the epoch is stale.
        """
        return amendments.extend(self.database, tournament, spec)

    def withdraw(self, tournament: Tournament, entrant: int, *, again: bool = False) -> Tournament:
        """Takes an entrant out: its open games are cancelled, what it has played counts.

        Args:
            tournament: as the lock gives it.
            entrant: its index in the spec.
            again: an earlier try ended with AwayError, so it may be out: then nothing is left to do.

        Returns:
            The tournament as it is now, finished where nothing is left to play.

        Raises:
            UserError: it is withdrawn already.
            ArenaError: the epoch is stale.
        """
        return amendments.withdraw(self.database, tournament, entrant, again=again)

    def call_off(self, tournament: Tournament, why: str) -> Tournament:
        """Ends a tournament before its games are played: its entrants are withdrawn, what they have played counts.

        Args:
            tournament: as the lock gives it.
            why: for people, kept with it.

        Returns:
            The tournament as it is now, finished.

        Raises:
            ArenaError: the epoch is stale.
        """
        return amendments.call_off(self.database, tournament, why)

    def describe(self, tournament: Tournament, *, tags: Sequence[str] | None = None, about: Sequence[About]) -> None:
        """Writes what is said of a tournament and its entrants and shapes nothing; what is not said now stays.

        Args:
            tournament: which one.
            tags: words to find it by.
            about: of each entrant, in the order of entry.
        """
        descriptions.describe(self.database, tournament, tags, about)

    def anchor(self, tournament: Tournament, anchors: Mapping[str, float]) -> None:
        """Fixes Bradley-Terry values for every later reader, in Elo, by name or label of a bot; they shape nothing."""
        descriptions.anchor(self.database, tournament, anchors)

    def begin_run(self, tournament: Tournament, facts: Mapping[str, Any], *, again: bool = False) -> None:
        """Writes what the run under this epoch, as the lock gives it, runs with; once.

        Args:
            tournament: as the lock gives it.
            facts: what it runs with.
            again: an earlier try ended with AwayError, so they may be there: then nothing is left to do.
        """
        descriptions.begin_run(self.database, tournament, facts, again=again)

    def lock(self, tournament: Tournament) -> lock.Lock:
        """Takes the tournament for this process; ``.tournament`` of the lock has the new epoch.

        A context manager, or call ``.release()``. The lock goes with the process, however that ends.

        Raises:
            UserError: another command plays this tournament, or other rules or another rating library would go on
                with it.
        """
        tournaments.check_versions(tournament)
        taken = lock.Lock(self.database, tournament)
        self._locks = [held for held in self._locks if held.is_held]
        self._locks.append(taken)
        return taken

    def add_stage(  # noqa: PLR0913 - what a stage is
        self,
        tournament: Tournament,
        number: int,
        pairings: Sequence[Pairing],
        deals: Sequence[Mapping[str, str]],
        *,
        again: bool = False,
        call: Call | None = None,
    ) -> None:
        """Plans a stage: every rotation of every pairing becomes a game; numbers go on from the last stage.

        Args:
            tournament: as the lock gives it: a stale epoch is refused.
            number: of the stage, from 1; must be the next one.
            pairings: as ``formats.plan`` gives them.
            deals: one for each pairing.
            again: an earlier try ended with AwayError, so this very stage may be there: then nothing is left to do.
            call: what a stage of a season was planned upon.

        Raises:
            AwayError: the database is gone for the moment.
            ArenaError: the epoch is stale or the stage is there already.
        """
        self.hold()
        schedule.add_stage(self.database, tournament, number, pairings, deals, again=again, call=call)

    def pairings(self, tournament: Tournament) -> list[Stage]:
        """Every stage with its pairings, whether played or not, without results."""
        return schedule.pairings(self.database, tournament)

    def past(self, tournament: Tournament) -> tuple[int, Past]:
        """How many stages of a season are planned, and what they amount to."""
        return schedule.past(self.database, tournament)

    def rated(self, tournament: Tournament) -> tuple[int, dict[int, float]]:
        """Number of the last game that is rated, and the mean of every entrant after it."""
        with self.database.read() as connection:
            return standings.rated(connection, tournament)

    def closed_stages(self, tournament: Tournament) -> tuple[Stage, ...]:
        """The stages without an open game, in order. Once ``open_games`` is empty these are all the stages."""
        return schedule.closed_stages(self.database, tournament)

    def open_games(self, tournament: Tournament) -> list[tuple[PlannedGame, int]]:
        """The games still to be played, in schedule order, each with its void attempts so far.

        The next token is ``Token(tournament.epoch, voids + 1)``.
        """
        return schedule.open_games(self.database, tournament)

    def waits(self, tournament: Tournament) -> dict[int, float]:
        """For how many seconds open games have waited for bots that are away, by number, as last noted."""
        return schedule.waits(self.database, tournament)

    def note_waits(self, tournament: Tournament, seconds: Mapping[int, float]) -> None:
        """Writes for how long games have waited, by number, for the next run; all others do not wait."""
        schedule.note_waits(self.database, tournament, seconds)

    def record(self, results: Sequence[Result], *, again: bool = False) -> list[Recorded]:
        """Writes results and advances the ratings, all in one transaction; the answers are in the order given.

        A result is refused, and the others written, when its epoch is not the tournament's, its attempt not the next
        one, or its game not open. All results belong to one tournament. What this returns is on disk.

        Args:
            results: of one tournament.
            again: an earlier try ended with AwayError, so these very results may be on record: then they are not
                refused.

        Raises:
            AwayError: the database is gone for the moment.
            ArenaError: another command has taken the tournament over while it was.
        """
        self.hold()
        return writer.record(self.database, results, again=again)

    def hold(self) -> None:
        """Takes locks again that went with a lost connection, as is done before anything is written.

        Raises:
            AwayError: the database is still away.
            UserError: another command has one of them now.
            ArenaError: another command has played a tournament meanwhile.
        """
        for held in self._locks:
            held.hold()

    def hold_site(self) -> None:
        """Takes the database for this process as its server, until it is closed.

        Raises:
            UserError: another server has it.
        """
        self._locks.append(lock.SiteLock(self.database))

    def standings(self, tournament: Tournament) -> list[Standing]:
        """The leaderboard: best first by mu - 3 sigma, mu, name."""
        with self.database.read() as connection:
            return standings.standings(connection, tournament)

    def progress(self, tournament: Tournament) -> Progress:
        """How many games are planned, finished, folded, waiting, abandoned."""
        with self.database.read() as connection:
            return standings.progress(connection, tournament)

    def question(self, tournament: Tournament) -> str:
        """How the question of its stop rule stands now, for people; empty where it has none."""
        with self.database.read() as connection:
            return stopping.told(tournaments.by_id(connection, tournament.id))

    def lead(self, tournament: Tournament) -> str:
        """How sure the lead is, for people; reads every game that is rated; empty while there is nothing to say."""
        with self.database.read() as connection:
            return lead.lead(connection, tournament)

    def finish(self, tournament: Tournament) -> None:
        """Marks the tournament finished: from then on its secret may be revealed."""
        tournaments.finish(self.database, tournament)
