"""Who meets next on a ladder that never ends: games go where they tell most, and nobody waits or is avoided for long.

Two bots are worth a table as far as their order is in doubt, and the less, the oftener they met. Before that comes
what every bot is promised:

- It sits down after a bounded number of tables, as long as somebody it may meet is free.
- It meets its neighbours, above and below by strength, in every window of so many tables of its own.
- Nobody meets a bot of the same owner, or the same bot more than so often a day.
- A table is one deal with every rotation of the seats, so seats are equal; who sits first there takes turns.

Only who is free now is considered: a bot whose game goes on blocks nobody. There is no clock and no chance here, and no
mathematics but what every machine rounds alike (roots too): the same past gives the same tables.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice

from arena_server.formats.doubt import doubt
from arena_server.formats.tables import Table

Strengths = Mapping[int, float] | Sequence[float]
Pair = tuple[int, int]
"""Two entrants, the lower index first."""

NOBODY = 0
"""Owner of the bots that are nobody's: they meet each other."""

_BETA = 25 / 6  # how far one game's luck reaches, in TrueSkill's unit; formats know no ratings
_EVIDENCE = 4  # tables whose luck, taken together, reaches half as far
_NEAR = 8  # so many opponents on each side are weighed up


@dataclass(frozen=True, slots=True)
class Rules:
    """What a ladder promises.

    Attributes:
        daily: tables of the same two on one day at most.
        window: tables of a bot's own within which it meets each neighbour that is free.
        patience: a bot that was passed over for so many tables, times those who are there, goes first.
        playing: share of those there that plays at once: with all of them at tables there is nobody to choose.
        doubt: how doubtful an order is, by the gap in standard errors, over the root of two.
    """

    daily: int = 50
    window: int = 40
    patience: int = 3
    playing: float = 0.5
    doubt: Callable[[float], float] = doubt


@dataclass
class Past:
    """What the tables so far amount to. Of two that never met there is nothing: most versions of a season never do.

    Attributes:
        planned: how many there were.
        own: how many of them each entrant sat at.
        first: how many of them each entrant had the first seat of.
        last: the number of the table where each entrant sat last.
        met: how often each two sat together.
        parted: how many tables each of two had had when they met last.
        day: the last one on which a table was planned, any number that grows.
        today: how often each two sat together on that day.
    """

    planned: int = 0
    own: Counter[int] = field(default_factory=Counter)
    first: Counter[int] = field(default_factory=Counter)
    last: dict[int, int] = field(default_factory=dict)
    met: Counter[Pair] = field(default_factory=Counter)
    parted: dict[Pair, tuple[int, int]] = field(default_factory=dict)
    day: int = 0
    today: Counter[Pair] = field(default_factory=Counter)

    def add(self, tables: Iterable[Table], day: int) -> None:
        """Takes the tables of a call into account, in their order."""
        if day != self.day:
            self.day, self.today = day, Counter()
        for table in tables:
            self.planned += 1
            self.own.update(table)
            self.first[table[0]] += 1
            self.last.update(dict.fromkeys(table, self.planned))
            for pair in combinations(sorted(table), 2):
                self.met[pair] += 1
                self.today[pair] += 1
                self.parted[pair] = self.own[pair[0]], self.own[pair[1]]


@dataclass(frozen=True, slots=True)
class Call:
    """A moment at which tables can be planned.

    Attributes:
        owners: of the entrants that are there, by index; NOBODY for those that are nobody's.
        strengths: of the entrants that are there, by index: the means of TrueSkill.
        day: a number that never falls.
        room: tables at most.
        busy: those of ``owners`` that cannot begin a game now. They count as neighbours.
        seats: of a table.
    """

    owners: Mapping[int, int]
    strengths: Strengths
    day: int
    room: int
    busy: frozenset[int] = frozenset()
    seats: int = 2


def tables(call: Call, past: Past, rules: Rules) -> tuple[Table, ...]:
    """The next tables, what matters most first; nobody sits twice. While there is room nobody is left who may meet.

    Args:
        call: who is there, and for how many tables there is room.
        past: every table so far; it is not changed.
        rules: what is promised.
    """
    choice = _Choice(call, past, rules)
    found: list[Table] = []
    free = [entrant for entrant in choice.order if entrant not in call.busy]
    room = min(call.room, choice.room())
    while room > len(found) and (more := choice.disjoint(free, room - len(found))):
        found += more
        free = [entrant for entrant in free if not any(entrant in table for table in more)]
    return tuple(found)


class _Choice:
    """What one call rests on."""

    def __init__(self, call: Call, past: Past, rules: Rules) -> None:
        self._call, self._past, self._rules = call, past, rules
        self._today = past.today if past.day == call.day else Counter[Pair]()
        latest = past.planned - rules.patience * len(call.owners)
        self._late = {one: last for one in call.owners if (last := past.last.get(one, 0)) < latest}
        self.order = sorted(call.owners, key=lambda entrant: (-call.strengths[entrant], entrant))
        self._due = dict(self._neighbours_due())

    def room(self) -> int:
        """Tables until the share that plays at once is reached. Two at least, so that a slow one blocks nobody.

        Where two tables would leave nobody over it is one: those who get up together would always meet again.
        """
        there, seats = len(self._call.owners), self._call.seats
        most = max(int(there * self._rules.playing), 2 * seats) if there > 2 * seats else seats
        return (most - len(self._call.busy)) // seats

    def disjoint(self, free: Sequence[int], room: int) -> list[Table]:
        """Tables of different entrants, what matters most first; none where no two of these may meet.

        Args:
            free: by strength.
            room: tables at most.
        """
        found: list[Table] = []
        left = set(free)
        for _, one, other in sorted((self._urgency(*two), *two) for two in self._candidates(free)):
            if len(found) >= room:
                break
            if one in left and other in left and (table := self._filled((one, other), free, left)):
                found.append(self._seated(table))
                left.difference_update(table)
        return found

    def _candidates(self, free: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Each with the next few below it that it may meet."""
        for place, one in enumerate(free, 1):
            below = (other for other in islice(free, place, None) if self._may_meet(one, other))
            for other in islice(below, _NEAR):
                yield one, other

    def _urgency(self, one: int, other: int) -> tuple[float, int, float]:
        """The least comes first: those who waited too long, neighbours who did not meet for long, the doubtful."""
        late = min(self._late.get(one, math.inf), self._late.get(other, math.inf))
        return late, -self._due.get(_pair(one, other), 0), -self._worth(one, other)

    def _worth(self, one: int, other: int) -> float:
        """How doubtful their order is, were it known from their own tables alone, and the less the more of them."""
        tables = self._past.met[_pair(one, other)] + 1
        gap = abs(self._call.strengths[one] - self._call.strengths[other])
        return self._rules.doubt(gap / _BETA * math.sqrt(tables / _EVIDENCE / 2)) / math.sqrt(tables)

    def _neighbours_due(self) -> Iterator[tuple[Pair, int]]:
        """Neighbours that did not meet for half a window, each two with the tables that one of them had since."""
        for place, one in enumerate(self.order, 1):
            others = islice(self.order, place, None)
            below = next((other for other in others if self._strangers(one, other)), None)
            if below is not None:
                apart = self._apart(*_pair(one, below))
                if apart >= self._rules.window // 2:
                    yield _pair(one, below), apart

    def _apart(self, one: int, other: int) -> int:
        """How many tables one of them had since they met; the lower index first."""
        own, parted = self._past.own, self._past.parted.get((one, other), (0, 0))
        return max(own[one] - parted[0], own[other] - parted[1])

    def _strangers(self, one: int, other: int) -> bool:
        owner = self._call.owners[one]
        return owner == NOBODY or owner != self._call.owners[other]

    def _may_meet(self, one: int, other: int) -> bool:
        return self._strangers(one, other) and self._today[_pair(one, other)] < self._rules.daily

    def _filled(self, table: Table, free: Sequence[int], left: set[int]) -> Table | None:
        """With more seats: those nearest to the first join; None where too few may."""
        seats, strengths = self._call.seats, self._call.strengths
        if len(table) < seats:
            nearest = sorted(free, key=lambda entrant: abs(strengths[entrant] - strengths[table[0]]))
            for entrant in nearest:
                if entrant in left and entrant not in table and all(self._may_meet(entrant, one) for one in table):
                    table = (*table, entrant)[:seats]
        return table if len(table) == seats else None

    def _seated(self, table: Table) -> Table:
        """Who had the first seat least of its share has it, so that a season that is cut is nearly even, too."""
        first, own = self._past.first, self._past.own
        return tuple(sorted(table, key=lambda entrant: (first[entrant] * len(table) - own[entrant], entrant)))


def _pair(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
