"""Knockout and double elimination: bouts that go on, deal by deal, until they are decided.

The order of entry is the order of the seeds: the first meets the last, and the first two can meet in the final only.
Byes go to the first seeds. Who was taken out loses every bout that is not decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

from arena_server.formats import brackets
from arena_server.formats.brackets import Bout, Loser, Seed, Source, Winner
from arena_server.formats.place import Place
from arena_server.formats.stage import Counted, Meeting, Stage
from arena_server.formats.tables import check, check_two_seats, dealt
from arena_server.model import Pairing, Spec

EXTRA_DEALS = 8
"""Deals that a drawn bout goes on for; then the total margin decides, and where it is equal the earlier entry."""
Pair = tuple[int, int]
_BYE = -1


def plan_knockout(spec: Spec, closed: Sequence[Stage]) -> Sequence[Pairing] | None:
    """The next deals of every bout that can be played; None once the final is decided.

    ``spec.games`` is what two play before a drawn bout gets one more deal at a time.

    Raises:
        UserError: more than two seats, or what ``tables.check`` refuses.
    """
    return _plan(spec, brackets.knockout(_entrants(spec)), closed)


def plan_double(spec: Spec, closed: Sequence[Stage]) -> Sequence[Pairing] | None:
    """The same where two losses put an entrant out."""
    return _plan(spec, brackets.double_elimination(_entrants(spec)), closed)


def places_knockout(spec: Spec, closed: Sequence[Stage]) -> Sequence[Place]:
    """Who got how far."""
    return _places(_Bracket(spec, brackets.knockout(len(spec.entrants)), closed), lives=1)


def places_double(spec: Spec, closed: Sequence[Stage]) -> Sequence[Place]:
    """Who got how far."""
    return _places(_Bracket(spec, brackets.double_elimination(len(spec.entrants)), closed), lives=2)


def _entrants(spec: Spec) -> int:
    check(spec)
    check_two_seats(spec, ("round-robin", "gauntlet", "ladder"))
    return len(spec.entrants)


def _plan(spec: Spec, bouts: Sequence[Bout], closed: Sequence[Stage]) -> Sequence[Pairing] | None:
    bracket = _Bracket(spec, bouts, closed)
    fresh: list[Pair] = []
    further: list[Pairing] = []
    for _, progress, table in bracket.open():
        if progress.deals:
            further.append(Pairing(Pairing(table).rotations()[progress.deals % spec.seats]))
        else:
            fresh.append(table)
    return (*dealt(spec, fresh), *further) or None


@dataclass
class _Progress:
    """What of a bout has been played."""

    deals: int = 0
    games: list[Counted] = field(default_factory=list)


class _Bracket:
    """The bouts with what the closed stages say about them."""

    def __init__(self, spec: Spec, bouts: Sequence[Bout], closed: Sequence[Stage]) -> None:
        self.spec = spec
        self.bouts = bouts
        self._played = [_Progress() for _ in bouts]
        self._decided: dict[int, Pair] = {}  # bout to winner and loser
        self._walkovers: set[int] = set()
        self._decide(1)
        for stage in closed:
            self._take(stage)

    def open(self) -> Iterator[tuple[int, _Progress, Pair]]:
        """The bouts whose two are known, and which are not decided."""
        for number, bout in enumerate(self.bouts):
            first, second = self._entrant(bout.first), self._entrant(bout.second)
            waits = bout.again and number - 1 not in self._decided
            if number not in self._decided and first is not None and second is not None and not waits:
                yield number, self._played[number], (first, second)

    def fought(self) -> Iterator[tuple[int, int, int]]:
        """Index, winner and loser of every bout that was played or given up, in order."""
        for number, (winner, loser) in sorted(self._decided.items()):
            if self._played[number].deals or number in self._walkovers:
                yield number, winner, loser

    def _take(self, stage: Stage) -> None:
        meetings = {frozenset(meeting.entrants): meeting for meeting in stage.meetings()}
        usual = self.spec.games // self.spec.seats
        for _, progress, table in list(self.open()):
            if frozenset(table) in meetings:  # one that a walkover opened has not been planned yet
                progress.deals += 1 if progress.deals else usual
                progress.games += meetings[frozenset(table)].games
        self._decide(stage.number + 1)

    def _decide(self, stage: int) -> None:
        """What can be before that stage, in order, so that each finds those that feed it decided.

        Byes decide themselves. A bout that went on when one of its two was taken out is over before its stage closes.
        """
        present = self.spec.present(stage)
        for number, progress, table in self.open():
            result = self._result(number, progress, table)
            if result is None and not set(table) <= set(present):
                result = table if table[0] in present else (table[1], table[0])
                self._walkovers.add(number)
            if result is not None:
                self._decided[number] = result

    def _result(self, number: int, progress: _Progress, table: Pair) -> Pair | None:
        first, second = table
        if _BYE in table or (self.bouts[number].again and self._decided[number - 1][0] == first):
            return (second, first) if first == _BYE else table
        bout = Meeting(table, tuple(progress.games))
        ahead = bout.points(first) - bout.points(second)
        if ahead == 0 and progress.deals < self.spec.games // self.spec.seats + EXTRA_DEALS:
            return None
        first_wins = (ahead, bout.margin(first), second) > (0, 0, first)
        return table if first_wins else (second, first)

    def _entrant(self, source: Source) -> int | None:
        """Who comes from there; None where that is not yet known."""
        match source:
            case Seed(place):
                return place if place < len(self.spec.entrants) else _BYE
            case Winner(bout):
                return self._decided[bout][0] if bout in self._decided else None
            case Loser(bout):
                return self._decided[bout][1] if bout in self._decided else None


def _places(bracket: _Bracket, lives: int) -> Sequence[Place]:
    """Who is still in comes first, then who was put out last; those put out in one round are equal."""
    won, lost = Counter[int](), Counter[int]()
    out: dict[int, int] = {}
    for number, winner, loser in bracket.fought():
        won[winner] += 1
        lost[loser] += 1
        if lost[loser] == lives:
            out[loser] = bracket.bouts[number].level
    still_in = len(bracket.bouts)
    levels = [out.get(entrant, still_in) for entrant in range(len(bracket.spec.entrants))]
    order = sorted(range(len(levels)), key=lambda entrant: -levels[entrant])
    rank = {level: 1 + sum(other > level for other in levels) for level in levels}
    return [_place(rank[levels[entrant]], entrant, won, lost, out) for entrant in order]


def _place(rank: int, entrant: int, won: Counter[int], lost: Counter[int], out: Container[int]) -> Place:
    marks = {"bouts": f"{won[entrant]}-{lost[entrant]}", "state": "out" if entrant in out else "in"}
    return Place(rank, entrant, marks)
