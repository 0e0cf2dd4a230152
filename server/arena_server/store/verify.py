"""Whether a tournament is what its journal says: every attempt replayed through the engine, every column re-derived.

The journal is the truth, and the chain of hashes holds it together; all else - schedule, deals, results, ratings - is
computed anew from the contracts, the secrets and the journal, and must be equal to the last bit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import JSON, Connection, Dialect, Row, Select, Table, Text, TypeDecorator, select, type_coerce

from arena_engine import deals
from arena_engine.game import Game, find
from arena_server import formats, ratings
from arena_server.formats import Counted
from arena_server.model import Ending, Failure, PlannedGame, Purpose, Result, UserError, canonical_json
from arena_server.store import contracts, derived, forfeits, journal, replaying, schedule
from arena_server.store.entries import closes, game_columns, seat_columns
from arena_server.store.folding import tally
from arena_server.store.standings import entrant
from arena_server.store.store import Store
from arena_server.store.tables import AMENDMENT, ATTEMPT, ENTRANT, GAME, SEAT, TOURNAMENT
from arena_server.store.tournaments import read_terms, view
from arena_server.store.views import GameStatus, Status, Tournament

MAX_PROBLEMS = 20
"""Differences after which the search ends."""

Progress = Callable[[int, int], None]
"""Told how many attempts are checked, of how many."""

_UNPLAYED_GAME = {"status": GameStatus.PLANNED, "attempt": 0, "ending": None, "plies": None}
_UNPLAYED_SEAT = {"score": None, "rank": None, "failure": None}


@dataclass(frozen=True, slots=True)
class Problem:
    """A difference.

    Attributes:
        number: of the game; 0 where it is the tournament's.
        attempt: of the game; 0 where it is no attempt's.
    """

    number: int
    attempt: int
    what: str


@dataclass(frozen=True, slots=True)
class Report:
    """What was found.

    Attributes:
        games: closed games checked.
        attempts: attempts replayed.
        chain_head: as computed from the journal.
        problems: by game number, the tournament's own last; at most MAX_PROBLEMS.
    """

    tournament: Tournament
    games: int
    attempts: int
    chain_head: str
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether all is as it should be."""
        return not self.problems

    @property
    def first(self) -> Problem | None:
        """The problem of the first bad game."""
        return next(iter(self.problems), None)


def verify(store: Store, tournament: Tournament, progress: Progress | None = None) -> Report:
    """Checks a tournament as of one moment, also while it is being played.

    Raises:
        UnknownGameError: its game is not installed.
        ArenaError: the database cannot be read.
    """
    with store.database.read() as connection:
        return _Verification(connection, tournament.id, progress or _silent).run()


def _silent(_done: int, _total: int) -> None:
    pass


class _Readable(TypeDecorator[Any]):
    """JSON that may be damaged: then it is unlike anything that should stand there."""

    impl = Text
    cache_ok = True

    def process_result_value(self, value: object, _dialect: Dialect) -> object:
        """What a database gives as text is read."""
        try:
            return json.loads(value) if isinstance(value, str) else value
        except ValueError:
            return {"damaged": value}


class _EnoughError(Exception):
    """MAX_PROBLEMS were found."""


class _Verification:
    """One check of one tournament."""

    def __init__(self, connection: Connection, tournament_id: int, progress: Progress) -> None:
        self._connection = connection
        self._row = connection.execute(select(TOURNAMENT).where(TOURNAMENT.c.id == tournament_id)).one()
        self._tournament = view(self._row, read_terms(connection, self._row))
        self._spec = self._tournament.spec
        self._amendments = connection.execute(self._of(AMENDMENT, "number")).all()
        self._amended = dict(zip((row.number for row in self._amendments), self._tournament.terms[1:], strict=True))
        self._out: dict[int, int] = {}  # entrant to the first stage it is out of, so far in the chain
        self._game: Game = find(self._spec.game)
        self._progress = progress
        self._games = connection.execute(self._of(GAME, "number")).all()
        rows = connection.execute(self._of(SEAT, "number", "seat"))
        self._seats = {number: list(seats) for number, seats in groupby(rows, key=lambda row: row.number)}
        self._planned: dict[int, PlannedGame] = {}
        self._last: dict[int, Result] = {}  # the last attempt at each game, by number
        self._head = journal.first_link(self._row.contract_sha256, self._row.commitment)
        self._attempts = 0
        self._conduct = derived.Conduct()
        self._stopped: int | None = None
        self._problems: list[Problem] = []

    def run(self) -> Report:
        """All steps; ratings only where they rest on a sound journal."""
        try:
            steps = (self._contract, self._contracts, self._entrants, self._schedule, self._journal)
            for step in (*steps, self._parked, self._stop, self._columns, self._forfeits):
                step()
            if not self._problems:
                self._ratings()
        except _EnoughError:
            pass
        problems = sorted(self._problems, key=lambda problem: (not problem.number, problem.number))
        closed = sum(closes(result) for result in self._last.values())
        return Report(self._tournament, closed, self._attempts, self._head, tuple(problems))

    def _of(self, table: Table, *order: str) -> Select[Any]:
        columns = (
            type_coerce(one, _Readable()).label(one.name) if isinstance(one.type, JSON) else one for one in table.c
        )
        return select(*columns).where(table.c.tournament_id == self._row.id).order_by(*(table.c[key] for key in order))

    def _found(self, what: str, number: int = 0, attempt: int = 0) -> None:
        self._problems.append(Problem(number, attempt, what))
        if len(self._problems) >= MAX_PROBLEMS:
            raise _EnoughError

    def _same(self, what: str, stored: object, computed: object, number: int = 0) -> None:
        if stored != computed:
            self._found(_difference(what, stored, computed), number)

    def _contract(self) -> None:
        row, spec = self._row, self._tournament.terms[0].spec
        contract = row.contract.encode()
        self._same("contract", contract, canonical_json(spec.contract()))
        self._same("contract_sha256", row.contract_sha256, hashlib.sha256(contract).hexdigest())
        self._same("name_key", row.name_key, row.name.casefold())
        self._same("rules", row.rules, spec.rules)
        self._same("rules of the installed game", self._game.rules, spec.rules)
        self._same("purpose", row.purpose, spec.purpose)
        self._same("public_seed", row.public_seed, spec.seed is not None)

    def _contracts(self) -> None:
        """Each amendment is one that may be made; every secret is the one committed to."""
        before, *later = self._tournament.terms
        for row, terms in zip(self._amendments, later, strict=True):
            if not contracts.is_told(row.contract, before.spec, terms.spec):
                self._found(f"contract of amendment {row.number} is {_brief(row.contract)}, which is not canonical")
            if terms.stage < before.stage or not contracts.follows(before.spec, terms.spec, terms.stage):
                self._found(f"amendment {row.number} is no growth of the contract before it")
            before = terms
        self._same("amendments", [row.number for row in self._amendments], list(range(1, len(later) + 1)))
        for terms in self._tournament.terms:
            self._same("commitment", terms.commitment, deals.commitment(terms.secret))
            if terms.spec.seed is not None and terms.secret != deals.public_secret(terms.spec.seed):
                self._found("the secret does not follow from the public seed")

    def _entrants(self) -> None:
        rows = self._connection.execute(self._of(ENTRANT, "position"))
        self._same("entrants", tuple(entrant(row) for row in rows), self._spec.entrants)

    def _schedule(self) -> None:
        """Every game as the format plans it upon the journal's results, with the deal that follows from the secret."""
        stages = max((row.stage for row in self._games), default=0)
        form = formats.find(self._spec.format)
        calls = schedule.calls(self._connection, self._tournament) if form.open_ended else None
        upon_results = form.places is not None or form.open_ended
        results = self._results() if upon_results else {}
        try:
            planned = derived.schedule(self._tournament, self._game, stages, results, calls)
        except UserError as error:  # a contract that nobody could have given
            self._found(f"no schedule follows from the contract: {error}")
            return
        self._planned = planned.games
        for row in self._games:
            entrants = tuple(seat.entrant for seat in self._seats.get(row.number, ()))
            stored = PlannedGame(self._row.name, row.number, row.stage, row.pairing, entrants, row.deal)
            self._same("planned game", stored, self._planned.get(row.number), row.number)
        for number in sorted(self._planned.keys() - {row.number for row in self._games}):
            self._found("the game was deleted", number)
        self._same("planned", self._row.planned, len(self._planned))
        if self._spec.frozen is not None:
            self._same("last game of what is frozen", self._spec.frozen, len(self._planned))
        if self._row.closing is not None:
            self._closing(self._row.closing)
        if self._tournament.status is Status.FINISHED:
            over = self._spec.frozen is not None if form.open_ended else planned.complete
            self._same("finished plan", over, computed=True)

    def _closing(self, number: int) -> None:
        """What decides a season was made for that once it was frozen, and nobody else plays in it."""
        found = self._connection.execute(select(TOURNAMENT.c.contract).where(TOURNAMENT.c.id == number)).scalar()
        spec = None if found is None else contracts.spec_of(found)
        if self._spec.frozen is None or spec is None or spec.purpose is not Purpose.CLOSING:
            self._found(f"closing is {number}, which is no closing round-robin of a frozen season")
        elif not {*spec.entrants} <= {*self._spec.entrants}:
            self._found("others play in the closing round-robin than in the season")

    def _results(self) -> dict[int, Counted]:
        """What counts, by number; entries that cannot be read are told of later."""
        results = {}
        for row in self._connection.execute(self._of(ATTEMPT, "sequence")):
            with suppress(ValueError):
                result = journal.decode(row.journal, self._spec).result
                if result.outcome is not None and row.number <= (self._row.stopped or row.number):
                    planned = result.assignment.planned
                    blamed = tuple(letter in result.blamed for letter in planned.letters)
                    results[row.number] = Counted(planned.seats, result.outcome, blamed)
        return results

    def _journal(self) -> None:
        """Every link in commit order: its place in the chain, its bytes, and of an attempt the game itself."""
        before = self._head
        attempts = self._connection.execute(self._of(ATTEMPT, "sequence"))
        amendments = sorted(self._amendments, key=attrgetter("sequence"))
        links = 0
        for links, row in enumerate(merge(attempts, amendments, key=attrgetter("sequence")), 1):
            if hasattr(row, "journal"):
                self._attempts += 1
                self._head = journal.next_link(self._head, row.journal)
                self._entry(row, before)
            else:
                self._amendment(row, links, before)
            before = row.chain_hash  # one bad link is told once
            self._progress(links, self._row.commits)
        self._same("commits", self._row.commits, links)
        self._same("chain_head", self._row.chain_head, self._head)

    def _amendment(self, row: Row[Any], sequence: int, before: str) -> None:
        entry = journal.encode_amendment(
            journal.Amendment(row.number, row.sequence, row.stage, row.contract, row.commitment)
        )
        self._head = journal.next_link(self._head, entry)
        self._same(f"place of amendment {row.number}", row.sequence, sequence)
        self._same(f"chain_hash of amendment {row.number}", row.chain_hash, journal.next_link(before, entry))
        self._out = dict(self._amended[row.number].spec.withdrawn)

    def _entry(self, row: Row[Any], before: str) -> None:
        try:
            entry = journal.decode(row.journal, self._spec)
            last = self._last.get(row.number)
            self._last[row.number] = entry.result
            self._check_entry(row, entry, before, last)
            replaying.check(self._game, entry.result)
        except ValueError as error:  # also what the engine refuses
            self._found(str(error), row.number, row.attempt)

    def _check_entry(self, row: Row[Any], entry: journal.Entry, before: str, last: Result | None) -> None:
        planned, token = entry.result.assignment.planned, entry.result.assignment.token
        forfeit = entry.result.ending is Ending.FORFEIT  # also after an attempt that came too late to count
        place = (planned.number, token.attempt, token.epoch, entry.sequence, entry.result.ending)
        for what, stored, computed in (
            ("journal", row.journal, journal.encode(entry)),
            ("chain_hash", row.chain_hash, journal.next_link(before, row.journal)),
            ("contract", entry.contract_sha256, self._row.contract_sha256),
            ("place", (row.number, row.attempt, row.epoch, row.sequence, row.ending), place),
            ("attempts before", row.attempt - 1, 0 if last is None else last.assignment.token.attempt),
            ("game was closed before", last is not None and closes(last) and not forfeit, False),
            ("epoch is over the tournament's", token.epoch > self._row.epoch, False),
            ("planned game", planned, self._planned.get(row.number)),
            ("plays though withdrawn", self._absent(self._out, planned), False),
        ):
            if stored != computed:
                raise ValueError(_difference(what, stored, computed))

    def _absent(self, out: Mapping[int, int], planned: PlannedGame | None) -> bool:
        """Whether one of the seats had been taken out."""
        return planned is not None and any(out.get(seat, planned.stage + 1) <= planned.stage for seat in planned.seats)

    def _parked(self) -> None:
        """Who is parked, by the journal."""
        out = dict(self._spec.withdrawn)
        closed = {number for number, result in self._last.items() if closes(result)}
        closed |= {number for number, planned in self._planned.items() if self._absent(out, planned)}
        unparked = self._row.unparked
        self._conduct = derived.conduct(self._spec, self._planned, self._last, closed, unparked=unparked)
        if unparked:
            today = derived.conduct(self._spec, self._planned, self._last, closed).parked.values()
            if not any(one.number <= unparked for one in today):
                self._found(f"unparked is {unparked}, though nobody would be parked by then")

    def _taken_off(self, number: int) -> bool:
        """Whether a parked seat keeps a game from counting."""
        planned = self._planned.get(number)
        return planned is not None and self._spec.probation.then == "cancel" and bool(self._conduct.absent(planned))

    def _counting(self) -> dict[int, Result]:
        """The last attempts at the games that are not taken off."""
        return {number: result for number, result in self._last.items() if not self._taken_off(number)}

    def _stop(self) -> None:
        """Whether the stop rule has ended it, asked once more of the journal."""
        spec = self._tournament.terms[0].spec
        judged = derived.stop(spec, self._planned, self._counting(), self._conduct.last)
        self._stopped = judged.number if judged is not None and judged.decided else None
        self._same("sums", self._row.sums, None if judged is None else dict(judged.sums))
        self._same("stopped", self._row.stopped, self._stopped)
        parked = self._conduct.parked
        self._conduct.parked = {place: one for place, one in parked.items() if not self._behind(one.number)}

    def _behind(self, number: int) -> bool:
        """Whether a game is behind the one at which the stop rule was met."""
        return self._stopped is not None and number > self._stopped

    def _columns(self) -> None:
        out = dict(self._spec.withdrawn)
        for row in self._games:
            result = self._last.get(row.number)
            stored = {name: getattr(row, name) for name in _UNPLAYED_GAME}
            columns = dict(_UNPLAYED_GAME) if result is None else game_columns(result)
            open_still = columns["status"] == GameStatus.PLANNED
            withdrawn = open_still and self._absent(out, self._planned.get(row.number))
            if self._behind(row.number) or withdrawn or self._taken_off(row.number):
                columns["status"] = GameStatus.CANCELLED
            self._same("game", stored, columns, row.number)
            if self._tournament.status is Status.FINISHED and row.status == GameStatus.PLANNED:
                self._found("the game is open in a finished tournament", row.number)
            found = self._seats.get(row.number, [])
            self._same("order of seats", [seat.seat for seat in found], list(range(len(found))), row.number)
            seats = [{name: getattr(seat, name) for name in _UNPLAYED_SEAT} for seat in found]
            played = [] if result is None else seat_columns(result)
            self._same("seats", seats, played or [_UNPLAYED_SEAT] * len(seats), row.number)

    def _forfeits(self) -> None:
        """Those who are parked have lost their later games, and nobody else one that was not played."""
        for row in self._games:
            if self._behind(row.number) or row.status == GameStatus.CANCELLED or row.number not in self._planned:
                continue
            absent = self._conduct.absent(self._planned[row.number])
            last = self._last.get(row.number)
            stored = last.failures if last is not None and last.ending is Ending.FORFEIT else ()
            expected = tuple(self._forfeit(letter, entrant) for letter, entrant in absent.items())
            self._same("forfeit", stored, expected, row.number)

    def _forfeit(self, letter: str, entrant: int) -> Failure:
        parked = self._conduct.parked[entrant]
        last = forfeits.failure_of(self._last[parked.number], entrant)
        return forfeits.failure(letter, parked.number, parked.why, last)

    def _ratings(self) -> None:
        """The fold once more from the journal, and how far it went."""
        version = ratings.version(self._spec.draw_probability)
        if self._row.ratings != version:
            self._found(f"rated by {self._row.ratings}, this arena has {version}: ratings cannot be checked")
            return
        watermark = self._conduct.last if self._stopped is None else self._stopped
        self._same("watermark", self._row.watermark, watermark)
        folded = derived.refold(self._tournament, self._counting(), watermark)
        for number, seats in self._seats.items():
            stored = [(seat.mu, seat.sigma, seat.flagged) for seat in seats]
            unrated = [(None, None, False)] * len(seats)
            self._same("ratings after the game", stored, folded.changes.get(number, unrated), number)
        self._standings(folded.tallies)

    def _standings(self, tallies: Sequence[ratings.Tally]) -> None:
        rows = self._connection.execute(self._of(ENTRANT, "position"))
        for row, computed in zip(rows, tallies, strict=True):
            self._same(f"standing of {row.name}", tally(row), computed)
            parked = self._conduct.parked.get(row.position)
            expected = (None, None) if parked is None else (parked.number, parked.why)
            self._same(f"parking of {row.name}", (row.parked, row.parked_why), expected)


def _difference(what: str, stored: object, computed: object) -> str:
    return f"{what} is {_brief(stored)}, should be {_brief(computed)}"


def _brief(value: object) -> str:
    """Not whole journals."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."  # noqa: PLR2004 - a few lines at most
