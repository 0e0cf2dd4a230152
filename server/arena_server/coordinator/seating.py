"""Who sits where on a server: its tables and the bots at them, counted over all tournaments that it plays.

A game waits in line from the moment that its own tournament leaves its bots free. Who has waited longest sits down
first, and the next ones have their bots kept free, so that no tournament keeps a bot to itself. While both could begin
games, half of the tables, at least one, are for what is played beside the season, and the others for the season; where
there is one table alone they take turns. A bot that rises from a game beside the season is offered to the season first,
as that plans nothing for those who sit elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

from arena_server.model import Entrant
from arena_server.referee.guests import Present


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A game in line; the lower its ticket, the longer it has waited."""

    ticket: int
    party: Party
    number: int
    bots: Sequence[Present]

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """Its bots."""
        return tuple(bot.entrant for bot in self.bots)


@dataclass(eq=False, slots=True)
class Party:
    """The games of one coordinator; ``Seating.join`` gives it.

    Attributes:
        beside: whether they are played beside the season.
        wake: called when one of its games may have its turn.
        line: games that wait, by number.
        sitting: the bots of those that are played, by number.
    """

    seating: Seating
    beside: bool
    wake: Callable[[], None]
    line: Mapping[int, _Waiting] = field(default_factory=dict)
    sitting: dict[int, tuple[Entrant, ...]] = field(default_factory=dict)

    def seat(self, games: Iterable[tuple[int, Sequence[Present]]]) -> int | None:
        """Seats one of its games, if one may begin now; the others wait in line.

        Args:
            games: those whose bots are there: number and bots, in the order in which they should begin; some for which
                earlier ones leave no room may be left out.

        Returns:
            The number of that game.
        """
        return self.seating.seat(self, games)

    def rise(self, number: int) -> None:
        """That game is over: its table and its bots are free. Nothing happens where it does not sit."""
        self.seating.rise(self, number)

    def look(self) -> None:
        """The season is about to plan with whoever is free now; once it seats nothing more, others may have them."""
        self.seating.look()

    def leave(self) -> None:
        """It plays nothing more."""
        self.seating.leave(self)

    @property
    def sits(self) -> Counter[Entrant]:
        """At how many of its games each bot sits."""
        return Counter(chain.from_iterable(self.sitting.values()))

    @property
    def elsewhere(self) -> Counter[Entrant]:
        """At how many games of others each bot sits."""
        return self.seating.sits - self.sits

    @property
    def room(self) -> int:
        """Tables that it can count on: its share, and those that others leave free."""
        return self.seating.room(self)


class Seating:
    """The tables of a server.

    Args:
        tables: how many games are played at the same time at most.

    Attributes:
        sits: at how many games each bot sits.
    """

    def __init__(self, tables: int) -> None:
        self.tables = tables
        self.sits = Counter[Entrant]()
        self._parties: list[Party] = []
        self._tickets = count()
        self._risen = set[Entrant]()  # from games beside the season, and not offered to it yet
        self._offered = set[Entrant]()
        self._last: bool | None = None  # whether who sat down last plays beside the season

    @property
    def taken(self) -> int:
        """Tables at which games are played."""
        return sum(len(party.sitting) for party in self._parties)

    def join(self, wake: Callable[[], None], *, beside: bool) -> Party:
        """A party for one more coordinator."""
        party = Party(self, beside, wake)
        self._parties.append(party)
        return party

    def wake(self) -> None:
        """Somebody came or went: all look again."""
        for party in self._parties:
            party.wake()

    def seat(self, party: Party, games: Iterable[tuple[int, Sequence[Present]]]) -> int | None:
        """See ``Party.seat``."""
        before = party.line.keys()
        line = self._line(party, games)
        party.line = line
        found = self._first(party)
        if found is not None:
            bots = line.pop(found).entrants
            party.sitting[found] = bots
            self.sits.update(bots)
            self._last = party.beside
        elif not party.beside:
            self._give_back()
        if line.keys() != before:
            self._wake_others(party)
        return found

    def rise(self, party: Party, number: int) -> None:
        """See ``Party.rise``."""
        bots = party.sitting.pop(number, ())
        if not bots:
            return
        self.sits -= Counter(bots)
        if party.beside and any(not other.beside for other in self._parties):
            self._risen.update(bots)
        self.wake()

    def look(self) -> None:
        """See ``Party.look``."""
        self._offered = set(self._risen)

    def leave(self, party: Party) -> None:
        """See ``Party.leave``."""
        self.sits -= party.sits
        self._parties.remove(party)
        if not party.beside:
            self._risen.clear()
        self.wake()

    def room(self, party: Party) -> int:
        """See ``Party.room``."""
        return max(self._share(beside=party.beside), self.tables - self.taken + len(party.sitting))

    def _give_back(self) -> None:
        """The season has made of the bots that it was offered what it wanted."""
        if self._offered:
            self._risen -= self._offered
            self._offered = set()
            self.wake()

    def _wake_others(self, party: Party) -> None:
        for other in self._parties:
            if other is not party:
                other.wake()

    def _line(self, party: Party, games: Iterable[tuple[int, Sequence[Present]]]) -> dict[int, _Waiting]:
        """The games for which the party's other ones leave room at their bots; who waited before keeps its place."""
        own, line = party.sits, dict[int, _Waiting]()
        for number, bots in games:
            if all(own[bot.entrant] < bot.games_at_once for bot in bots):
                own.update(bot.entrant for bot in bots)
                before = party.line.get(number)
                ticket = next(self._tickets) if before is None else before.ticket
                line[number] = _Waiting(ticket, party, number, bots)
        return line

    def _first(self, party: Party) -> int | None:
        """Its game that may sit down now; the next ones of others keep their bots, and their tables where they fit."""
        sits, spare, free = self.sits.copy(), self._spare(), self.tables - self.taken
        keeping = {beside: max(self._share(beside=beside), spare[beside]) for beside in spare}
        for waiting in self._waiting():
            kind, mine = waiting.party.beside, waiting.party is party
            if kind and self._risen.intersection(waiting.entrants):
                continue
            begins = _fits(waiting, sits) and free > 0 and spare[kind] > 0
            if mine and begins:
                return waiting.number
            if not mine and keeping[kind] > 0:
                sits.update(waiting.entrants)
                spare[kind] -= begins
                free -= begins
            keeping[kind] -= 1
        return None

    def _waiting(self) -> list[_Waiting]:
        """Whoever has waited longest first."""
        lines = chain.from_iterable(party.line.values() for party in self._parties)
        return sorted(lines, key=lambda waiting: waiting.ticket)

    def _spare(self) -> dict[bool, int]:
        """How many more tables may be taken beside the season (True), and by it (False)."""
        hungry = self._hungry()
        in_turn = self.tables == 1 and len(hungry) > 1
        spare = {}
        for beside in (True, False):
            most = self._share(beside=beside) if (not beside) in hungry else self.tables
            taken = sum(len(party.sitting) for party in self._parties if party.beside == beside)
            spare[beside] = 0 if in_turn and self._last == beside else max(0, most - taken)
        return spare

    def _hungry(self) -> set[bool]:
        """Who could begin a game if there were tables enough: those beside the season (True), the season (False)."""
        sits, found = self.sits.copy(), set[bool]()
        keeping = {beside: self._share(beside=beside) for beside in (True, False)}
        for waiting in self._waiting():
            kind = waiting.party.beside
            if _fits(waiting, sits):
                found.add(kind)
            if keeping[kind] > 0:
                sits.update(waiting.entrants)
            keeping[kind] -= 1
        return found

    def _share(self, *, beside: bool) -> int:
        half = max(1, self.tables // 2)
        return half if beside else max(1, self.tables - half)


def _fits(waiting: _Waiting, sits: Mapping[Entrant, int]) -> bool:
    """Whether its bots are free."""
    return all(sits.get(bot.entrant, 0) < bot.games_at_once for bot in waiting.bots)
