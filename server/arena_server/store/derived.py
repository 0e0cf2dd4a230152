"""What must follow from contracts, secrets and journal: the schedule with its deals, and the ratings. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby

from arena_engine.game import Game
from arena_server.formats import Counted, Stage, plan, season
from arena_server.formats.matchmaking import Past
from arena_server.formats.season import Call
from arena_server.model import Pairing, PlannedGame, Result, Spec
from arena_server.ratings import Finished, Tally, counted, fold
from arena_server.ratings.pairs import Comparison, Meeting, Pair, comparisons
from arena_server.ratings.stopping import Judged, judge
from arena_server.store import stopping
from arena_server.store.dealing import dealt, shuffled
from arena_server.store.folding import newly_parked
from arena_server.store.forfeits import absent
from arena_server.store.schedule import planned_games
from arena_server.store.views import Parked, Tournament

RatingChange = tuple[float | None, float | None, bool]
"""Mu and sigma of a seat after the game (None: not folded), and whether the calculation fell back."""


@dataclass
class Schedule:
    """The planned games by number, and whether the format has planned all."""

    games: dict[int, PlannedGame] = field(default_factory=dict)
    complete: bool = False


def schedule(
    tournament: Tournament,
    game: Game,
    stages: int,
    results: Mapping[int, Counted],
    calls: Mapping[int, Call] | None = None,
) -> Schedule:
    """The first so many stages as the format plans them, with the deals that follow from the secret.

    Args:
        tournament: whose schedule.
        game: what is played.
        stages: so many were planned.
        results: of the games that count, by number: later stages rest on them.
        calls: of a season: what each stage was planned upon.
    """
    found = Schedule()
    closed: list[Stage] = []
    pairing = 1
    planner = plan if calls is None else _Season(calls, results).plan
    while len(closed) < stages:
        number = len(closed) + 1
        terms = tournament.at(number)
        pairings = planner(terms.spec, closed)
        if pairings is None:
            break
        first = (pairing, len(found.games) + 1)
        if calls is None:
            given = dealt(terms, game, closed, pairings)
        else:  # of as many stages as a season has, nobody counts all for each
            given = shuffled(terms, game, pairing, [terms.spec.deals] * len(pairings))
        games = list(planned_games(tournament.name, number, pairings, given, first))
        found.games.update((planned.number, planned) for planned in games)
        pairing += len(pairings)
        closed.append(Stage.of(number, ((planned, _counted(planned, results)) for planned in games)))
    found.complete = calls is None and plan(tournament.spec, closed) is None
    return found


class _Season:
    """Plans the stages of a season once more, upon their calls and the results that these know."""

    def __init__(self, calls: Mapping[int, Call], results: Mapping[int, Counted]) -> None:
        self._calls = calls
        self._results = results
        self._past = Past()
        self._tallies: dict[int, Tally] = {}
        self._known = 0

    def plan(self, spec: Spec, closed: Sequence[Stage]) -> Sequence[Pairing] | None:
        """As ``formats.plan``."""
        call = self._calls.get(len(closed) + 1)
        if call is None:
            return None
        for number in range(self._known + 1, call.known + 1):
            self._fold(number, spec.draw_probability)
        self._known = max(self._known, call.known)
        strengths = {one.entrant: self._tallies.get(one.entrant, Tally()).rating.mu for one in call.present}
        found = season.pairings(spec, call, strengths, self._past)
        season.note(self._past, found, call.day)
        return found

    def _fold(self, number: int, draw_probability: float) -> None:
        counted = self._results.get(number)
        if counted is None:
            return
        finished = Finished(counted.outcome.ranks, counted.outcome.scores, (None,) * len(counted.seats))
        before = [self._tallies.get(seat, Tally()) for seat in counted.seats]
        after, _ = fold(before, finished, draw_probability)
        self._tallies.update(zip(counted.seats, after, strict=True))


def _counted(planned: PlannedGame, results: Mapping[int, Counted]) -> Counted | None:
    """None also where others sat there: then this game was never played."""
    found = results.get(planned.number)
    return found if found is not None and found.seats == planned.seats else None


@dataclass
class Conduct:
    """Who is parked by the games that are closed without a gap.

    Attributes:
        parked: by entrant.
        last: number of the last of those games; of what a server plays, of the last pairing of which all are closed.
    """

    parked: dict[int, Parked] = field(default_factory=dict)
    last: int = 0

    def absent(self, planned: PlannedGame) -> dict[str, int]:
        """The seats whose entrants an earlier game has parked, each with its entrant."""
        return absent(planned, {entrant: parked.number for entrant, parked in self.parked.items()})


def conduct(
    spec: Spec,
    games: Mapping[int, PlannedGame],
    results: Mapping[int, Result],
    closed: Container[int],
    *,
    unparked: int = 0,
) -> Conduct:
    """Who is parked, after which games.

    Args:
        spec: of the tournament.
        games: the plan, by number.
        results: the last attempt at each game, by number.
        closed: numbers of the games that are closed for another reason than that somebody is parked.
        unparked: number of the last game of an arena that parked nobody.
    """
    found = Conduct()
    tallies = [Tally()] * len(spec.entrants)
    playing = set(range(len(spec.entrants)))

    def taken_off(number: int) -> bool:
        return spec.probation.then == "cancel" and bool(found.absent(games[number]))

    def is_closed(number: int) -> bool:
        return number in games and (number in closed or taken_off(number))

    for number in _without_a_gap(is_closed, spec.seats if spec.purpose.served else 1):
        planned = games[number]
        found.last = number
        result = results.get(number)
        if taken_off(number) or result is None or result.outcome is None:
            continue
        after = counted([tallies[seat] for seat in planned.seats], _finished(result))
        for seat, tally in zip(planned.seats, after, strict=True):
            tallies[seat] = tally
        if number <= unparked:
            continue
        parked = newly_parked(number, zip(planned.seats, after, strict=True), playing, spec)
        found.parked.update({one.entrant: one for one in parked})
        playing -= found.parked.keys()
    return found


def _without_a_gap(is_closed: Callable[[int], bool], together: int) -> Iterator[int]:
    """The numbers from 1 before the first that is not closed; those of so many games only together."""
    for first in count(1, together):
        numbers = range(first, first + together)
        if not all(map(is_closed, numbers)):
            return
        yield from numbers


def stop(spec: Spec, games: Mapping[int, PlannedGame], results: Mapping[int, Result], last: int) -> Judged | None:
    """What the stop rule said last of all pairings that are closed; None where there is no rule, or no such pairing.

    Args:
        spec: of the tournament.
        games: the plan, by number.
        results: the last attempt at each game that counts, by number.
        last: number of the last game of which all before are closed, too.
    """
    asked = stopping.rule_of(spec)
    if asked is None:
        return None
    pairs: list[tuple[int, Pair]] = []
    by_pairing = groupby((games[number] for number in range(1, last + 1)), key=lambda planned: planned.pairing)
    for rotations in (list(group) for _, group in by_pairing):
        if len(rotations) == spec.seats:
            met = [one for planned in rotations for one in _compared(planned, results.get(planned.number))]
            pairs.append((rotations[-1].number, met))

    def history(until: int) -> Sequence[Pair]:
        return [met for number, met in pairs if number <= until]

    found = deque(judge(asked, asked.begin(), pairs, history), maxlen=1)
    return found[0] if found else None


def _compared(planned: PlannedGame, result: Result | None) -> Iterable[Comparison]:
    if result is None or result.outcome is None:
        return ()
    return comparisons(Meeting(planned.number, planned.pairing, planned.seats, (), _finished(result)))


@dataclass
class Refold:
    """The fold from the beginning.

    Attributes:
        tallies: of the entrants, in the order of entry.
        changes: by game number, in seat order.
    """

    tallies: list[Tally]
    changes: dict[int, list[RatingChange]] = field(default_factory=dict)


def refold(tournament: Tournament, results: Mapping[int, Result], watermark: int) -> Refold:
    """Folds the rated results up to the watermark, in schedule order.

    Args:
        tournament: whose entrants.
        results: the last attempt at each game that counts, by number.
        watermark: number of the last game to fold or pass over.
    """
    spec = tournament.spec
    folded = Refold([Tally()] * len(spec.entrants))
    for number in range(1, watermark + 1):
        result = results.get(number)
        if result is None or result.outcome is None:
            continue
        seats = result.assignment.planned.seats
        after, flagged = fold([folded.tallies[seat] for seat in seats], _finished(result), spec.draw_probability)
        for seat, tally in zip(seats, after, strict=True):
            folded.tallies[seat] = tally
        folded.changes[number] = [(tally.rating.mu, tally.rating.sigma, flagged) for tally in after]
    return folded


def _finished(result: Result) -> Finished:
    assert result.outcome is not None
    failures = {failure.seat: failure.ending for failure in result.failures}
    kinds = tuple(failures.get(letter) for letter in result.assignment.planned.letters)
    return Finished(result.outcome.ranks, result.outcome.scores, kinds)
