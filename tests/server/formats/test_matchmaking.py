"""What a ladder promises, whatever its bots are like, and however slow one of them is."""

from __future__ import annotations

import heapq
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, count, pairwise
from random import Random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena_server.formats.matchmaking import NOBODY, Call, Past, Rules, tables
from arena_server.formats.tables import Table
from arena_server.model import Pairing

OFTEN = Rules(daily=1_000_000)


@dataclass
class World:
    """Bots that play tables of different lengths on a server that has room for some of them at once.

    Attributes:
        owners: of each bot.
        strengths: fixed, of each bot.
        lengths: how long a table of each bot takes; of a table, the longest of its bots.
    """

    owners: tuple[int, ...]
    strengths: tuple[float, ...]
    lengths: tuple[int, ...]
    room: int
    rules: Rules = OFTEN
    a_day: int = 1_000_000
    seats: int = 2
    past: Past = field(default_factory=Past)
    day: int = 0
    going_on: list[tuple[int, int, Table]] = field(default_factory=list)

    def calls(self, most: int) -> Iterator[tuple[set[int], tuple[Table, ...]]]:
        """Who was free, and the tables that were planned, until so many tables are over."""
        clock, order = 0, count()
        for _ in range(most):
            busy = frozenset(one for _, _, table in self.going_on for one in table)
            room, day = self.room - len(self.going_on), clock // self.a_day
            call = Call(dict(enumerate(self.owners)), self.strengths, day, room, busy, self.seats)
            planned, self.day = tables(call, self.past, self.rules), day
            assert len(planned) <= room
            yield set(range(len(self.owners))) - busy, planned
            self.past.add(planned, day)
            for table in planned:
                heapq.heappush(self.going_on, (clock + max(self.lengths[one] for one in table), next(order), table))
            if not self.going_on:
                return
            clock, _, _ = heapq.heappop(self.going_on)

    def strangers(self, one: int, other: int) -> bool:
        return one != other and (self.owners[one] == NOBODY or self.owners[one] != self.owners[other])


@st.composite
def worlds(draw: st.DrawFn, *, most: int = 16, slowest: int = 60, owners: int = 4, seats: int = 2) -> World:
    bots = draw(st.integers(seats, most))

    def each(of: st.SearchStrategy[int]) -> tuple[int, ...]:
        return tuple(draw(st.lists(of, min_size=bots, max_size=bots)))

    strengths = tuple(float(strength) for strength in each(st.integers(0, 40)))
    lengths = each(st.integers(1, slowest))
    return World(each(st.integers(0, owners)), strengths, lengths, draw(st.integers(1, most // 2)), seats=seats)


@settings(max_examples=20, deadline=None)
@given(worlds(slowest=100_000))
def test_nobody_waits_long_however_slow_one_bot_is(world: World) -> None:
    """A slow bot is at one table for as long as all of this takes."""
    waited: Counter[int] = Counter()
    bots = len(world.owners)
    for free, planned in world.calls(most=5 * bots):
        seated = {one for table in planned for one in table}
        for one in free:
            if any(world.strangers(one, other) for other in free):
                waited[one] = 0 if one in seated else waited[one] + len(planned)
        assert max(waited.values(), default=0) <= (OFTEN.patience + 1) * bots


@given(st.integers(5, 200), st.integers(1, 50))
def test_a_bot_that_never_moves_stops_nobody_but_its_opponent(bots: int, room: int) -> None:
    everybody = dict.fromkeys(range(bots), NOBODY)
    stuck = frozenset({0, bots // 2})
    assert tables(Call(everybody, [25.0] * bots, 0, room, stuck), Past(), OFTEN)


@settings(max_examples=20, deadline=None)
@given(worlds())
def test_while_there_is_room_nobody_is_left_who_may_meet(world: World) -> None:
    for free, planned in world.calls(most=60):
        left = free - {one for table in planned for one in table}
        going_on = len(world.going_on) + len(planned)
        if going_on < min(world.room, max(len(world.owners) // 4, 1)):
            assert not any(world.strangers(one, other) for one, other in combinations(left, 2))


@settings(max_examples=20, deadline=None)
@given(worlds(), st.integers(1, 5), st.integers(5, 200))
def test_not_two_of_one_owner_and_not_the_same_two_too_often_a_day(world: World, daily: int, a_day: int) -> None:
    world.rules, world.a_day = Rules(daily=daily), a_day
    met: Counter[tuple[int, frozenset[int]]] = Counter()
    for free, planned in world.calls(most=100):
        seated = [one for table in planned for one in table]
        assert len(seated) == len(set(seated))
        assert free.issuperset(seated)
        assert all(world.strangers(*table) for table in planned)
        met.update((world.day, frozenset(table)) for table in planned)
    assert max(met.values(), default=0) <= daily


@settings(max_examples=8, deadline=None)
@given(st.integers(2, 12), st.integers(1, 6), st.randoms(use_true_random=False), st.sampled_from((12, 20)))
@example(5, 2, Random(1), 12)
@example(12, 3, Random(1), 12)
def test_neighbours_meet_in_every_window(bots: int, room: int, dice: Random, window: int) -> None:
    """However far apart they are, and their order as sure as can be; tables may keep them from being free together."""
    order = list(range(bots))
    dice.shuffle(order)
    strengths = tuple(float(place**2) for place in order)
    world = World((NOBODY,) * bots, strengths, (1,) * bots, room, Rules(daily=1_000_000, window=window))
    best = sorted(range(bots), key=lambda bot: -strengths[bot])
    since = {two: 0 for pair in pairwise(best) for two in (pair, pair[::-1])}
    for _, planned in world.calls(most=3 * window * bots):
        for table in planned:
            since = {(one, other): _apart(table, one, other, before) for (one, other), before in since.items()}
        assert max(since.values()) < (window if room == 1 else 2 * window)


def _apart(table: Table, one: int, other: int, before: int) -> int:
    """How many tables the one had since it met the other."""
    if one not in table:
        return before
    return 0 if other in table else before + 1


@settings(max_examples=20, deadline=None)
@given(worlds(owners=0), st.integers(0, 1000))
def test_seats_are_equal_wherever_it_is_cut(world: World, cut: int) -> None:
    first, games = Counter[int](), Counter[int]()
    played = [seats for _, planned in world.calls(most=80) for table in planned for seats in Pairing(table).rotations()]
    for seats in played[: cut % (len(played) + 1)]:
        first[seats[0]] += 1
        games.update(seats)
    for one, number in games.items():
        assert abs(2 * first[one] - number) <= 1


@settings(max_examples=15, deadline=None)
@given(worlds(seats=3))
def test_games_of_three_seats(world: World) -> None:
    for free, planned in world.calls(most=60):
        for table in planned:
            assert len(set(table)) == 3
            assert free.issuperset(table)
            assert all(world.strangers(one, other) for one, other in combinations(table, 2))


def test_a_newcomer_sits_down_at_once_and_who_is_not_there_never() -> None:
    past = Past()
    past.add([(0, 1)] * 20 + [(2, 3)] * 20, day=0)
    (table,) = tables(Call(dict.fromkeys((0, 1, 2, 4), NOBODY), (25.0,) * 6, day=0, room=1), past, OFTEN)
    assert 4 in table


def test_versions_that_were_ever_entered_cost_nothing() -> None:
    """A number for each two of them would take 50 MB."""
    past = Past()
    tracemalloc.start()
    try:
        for day in range(3):
            past.add([(4_998, 4_999)], day)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
