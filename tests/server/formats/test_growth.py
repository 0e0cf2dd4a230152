"""Tournaments that grow and lose entrants while they are played: no repeat, equal seats, an end."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import by_score, counted, first_wins, play, spec

from arena_engine.game import Outcome
from arena_server.formats import Stage, places, plan
from arena_server.formats.elimination import EXTRA_DEALS
from arena_server.model import Entrant, Pairing, Spec
from arena_server.store.schedule import planned_games


@dataclass
class Changing:
    """A tournament on paper whose spec changes between its stages, and by withdrawals within them."""

    spec: Spec
    dice: random.Random
    stages: list[Stage] = field(default_factory=list)

    def advance(self, leaver: int | None = None) -> bool:
        """Plays a stage; who leaves in it plays none of its games, or the first of them. False: all is done."""
        number = len(self.stages) + 1
        pairings = plan(self.spec, self.stages)
        if pairings is None:
            return False
        assert pairings
        assert number < 300, "it does not end"
        present = set(self.spec.present(number))
        assert all(present.issuperset(pairing.entrants) for pairing in pairings)
        games = list(planned_games("paper", number, pairings, [{}] * len(pairings), (1, 1)))
        open_of_leaver = [game for game in games if leaver in game.seats][self.dice.randrange(2) :]
        results = [(game, None if game in open_of_leaver else counted(game.seats, self.rule)) for game in games]
        self.stages.append(Stage.of(number, results))
        if leaver is not None:
            self.withdraw(leaver, number if open_of_leaver else number + 1)
        return True

    def rule(self, seats: tuple[int, ...]) -> Outcome | None:
        return None if self.dice.random() < 0.05 else by_score(self.dice.choices(range(3), k=len(seats)))

    def withdraw(self, entrant: int, since: int) -> None:
        self.spec = replace(self.spec, withdrawn=(*self.spec.withdrawn, (entrant, since)))

    def enter(self) -> None:
        entrant, stage = len(self.spec.entrants), len(self.stages) + 1
        late = ((entrant, stage),) if stage > 1 else ()
        grown = (*self.spec.entrants, Entrant(f"bot{entrant}", "1", "00"))
        self.spec = replace(self.spec, entrants=grown, late=self.spec.late + late)

    def leaver(self) -> int | None:
        return self.dice.choice(self.spec.present(len(self.stages) + 1))

    @property
    def met(self) -> Counter[frozenset[int]]:
        """How many deals were planned for each table."""
        return Counter(frozenset(pairing.entrants) for stage in self.stages for pairing in stage.pairings)


def changed(of: Spec, grow: Callable[[Changing], None], dice: random.Random, changes: int) -> Changing:
    """Played to its end, with changes at random points."""
    held = Changing(of, dice)
    for _ in range(changes):
        match dice.randrange(4):
            case 0:
                grow(held)
            case 1 if len(held.spec.present(len(held.stages) + 1)) > 0:
                held.advance(leaver=held.leaver())
            case 2 if len(held.spec.present(len(held.stages) + 1)) > 0:
                leaver = held.leaver()
                assert leaver is not None
                held.withdraw(leaver, len(held.stages) + 1)
            case _:
                held.advance()
    while held.advance():
        pass
    return held


def games_or_a_bot(held: Changing) -> None:
    if held.dice.random() < 0.5:
        held.enter()
    else:
        held.spec = replace(held.spec, games=held.spec.games + held.spec.seats)


def rounds_or_a_bot(held: Changing) -> None:
    if held.dice.random() < 0.5:
        held.enter()
    else:
        held.spec = replace(held.spec, rounds=min((held.spec.rounds or 0) + 1, len(held.spec.entrants) - 1))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 3), st.integers(0, 4), st.integers(0, 8), st.randoms(use_true_random=False))
def test_a_round_robin_plans_what_is_missing(seats: int, more: int, changes: int, dice: random.Random) -> None:
    held = changed(spec(seats + more, seats, seats), games_or_a_bot, dice, changes)
    deals = held.spec.games // seats
    staying = held.spec.present(len(held.stages) + 1)
    assert max(held.met.values(), default=0) <= deals
    if len(staying) >= seats:
        assert all(held.met[frozenset(table)] == deals for table in combinations(staying, seats))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 2), st.integers(1, 4), st.integers(0, 8), st.randoms(use_true_random=False))
def test_a_gauntlet_plans_what_is_missing(challengers: int, more: int, changes: int, dice: random.Random) -> None:
    held = changed(
        spec(challengers + more, 2, format="gauntlet", challengers=challengers), games_or_a_bot, dice, changes
    )
    assert max(held.met.values(), default=0) <= held.spec.games // 2
    staying = held.spec.present(len(held.stages) + 1)
    for one, other in combinations(staying, 2):
        wanted = held.spec.games // 2 if one < challengers <= other else 0
        assert held.met[frozenset({one, other})] == wanted


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 8), st.integers(0, 8), st.randoms(use_true_random=False))
def test_a_swiss_repeats_nothing(bots: int, changes: int, dice: random.Random) -> None:
    held = changed(spec(bots, 2, format="swiss", rounds=2), rounds_or_a_bot, dice, changes)
    again = Counter(
        frozenset(meeting.entrants) for stage in held.stages for meeting in stage.meetings() if meeting.games
    )
    assert set(again.values()) <= {1}
    assert len(held.stages) <= (held.spec.rounds or 0)
    table = places(held.spec, held.stages)
    assert table is not None
    for entrant, since in held.spec.late:
        points = {place.entrant: float(place.marks["points"]) for place in table}[entrant]
        assert points <= len(held.stages) - since + 1


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["knockout", "double-elimination"]), st.integers(2, 9), st.integers(0, 8), st.randoms())
def test_an_elimination_ends_with_one(of: str, bots: int, changes: int, dice: random.Random) -> None:
    held = changed(spec(bots, 4, format=of), lambda _: None, dice, changes)
    begun: set[frozenset[int]] = set()
    for stage in held.stages:
        deals = Counter(frozenset(pairing.entrants) for pairing in stage.pairings)
        assert all(deals[pair] == 2 for pair in deals.keys() - begun)  # as many as the spec says, walkovers or not
        begun |= deals.keys()
    table = places(held.spec, held.stages)
    assert table is not None
    staying = held.spec.present(len(held.stages) + 1)
    still_in = [place.entrant for place in table if place.marks["state"] == "in" and place.entrant in staying]
    assert len(still_in) <= 1 or len(staying) < 2
    lives = 1 if of == "knockout" else 2
    assert all(int(place.marks["bouts"].split("-")[1]) <= lives for place in table)
    assert all(deals <= 2 + EXTRA_DEALS for pair, deals in held.met.items()) or of == "double-elimination"
    if len(staying) >= 2:
        assert table[0].entrant in still_in or table[0].entrant not in staying


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 7), st.integers(0, 8), st.randoms(use_true_random=False))
def test_a_ladder_closes_up(bots: int, changes: int, dice: random.Random) -> None:
    def grow(held: Changing) -> None:
        if held.dice.random() < 0.5:
            held.enter()
        else:
            held.spec = replace(held.spec, rounds=(held.spec.rounds or 0) + 1)

    held = changed(spec(bots, 2, format="ladder", rounds=3), grow, dice, changes)
    staying = held.spec.present(len(held.stages) + 1)
    assert len(held.stages) == held.spec.rounds or len(staying) < 2
    table = places(held.spec, held.stages)
    assert table is not None
    assert sorted(place.entrant for place in table) == list(range(len(held.spec.entrants)))


def test_an_extension_is_scheduled_in_rounds() -> None:
    """Whoever was there plays the newcomer once a round; then all play on as ever."""
    played = play(spec(3, 2), first_wins)
    four = replace(spec(4, 2), late=((3, 2),))
    assert plan(four, played.stages) == (Pairing((0, 3)), Pairing((3, 1)), Pairing((2, 3)))
    assert plan(spec(3, 4), played.stages) == tuple(
        Pairing(pairing.entrants[::-1]) for pairing in played.stages[0].pairings
    )


def test_extended_by_games_it_is_as_if_planned_at_once() -> None:
    whole = play(spec(5, 8), first_wins).stages[0].pairings
    first = play(spec(5, 4), first_wins)
    more = plan(spec(5, 8), first.stages)
    assert more is not None
    assert (*first.stages[0].pairings, *more) == whole


def test_a_late_entrant_of_a_swiss_starts_with_nothing() -> None:
    two = play(spec(4, 2, format="swiss", rounds=2), first_wins)
    five = replace(spec(5, 2, format="swiss", rounds=3), late=((4, 3),))
    table = places(five, two.stages)
    assert table is not None
    assert {place.entrant: place.marks["points"] for place in table} == {0: "2", 1: "1", 2: "1", 3: "0", 4: "0"}
    pairings = plan(five, two.stages)
    assert pairings is not None
    assert len(pairings) == 2


def test_who_leaves_a_round_of_a_swiss_loses_it() -> None:
    of = replace(spec(4, 2, format="swiss", rounds=3), withdrawn=((0, 1),))
    pairings = plan(spec(4, 2, format="swiss", rounds=3), [])
    assert pairings is not None
    games = planned_games("paper", 1, pairings, [{}] * 2, (1, 1))
    stage = Stage.of(1, [(game, None if 0 in game.seats else counted(game.seats, first_wins)) for game in games])
    table = places(of, [stage])
    assert table is not None
    assert {place.entrant: place.marks["points"] for place in table} == {0: "0", 1: "1", 2: "1", 3: "0"}
    following = plan(of, [stage])
    assert following is not None
    assert [set(pairing.entrants) for pairing in following] == [{1, 2}]  # the third has the bye


@pytest.mark.parametrize(("of", "stages"), [("knockout", 1), ("double-elimination", 3)])
def test_who_leaves_an_elimination_loses_by_walkover(of: str, stages: int) -> None:
    held = Changing(spec(4, 2, format=of), random.Random(1))
    held.withdraw(0, 1)
    assert plan(held.spec, []) == (Pairing((1, 2)),)  # the last seed goes on without playing
    while held.advance():
        pass
    assert len(held.stages) > stages
    table = places(held.spec, held.stages)
    assert table is not None
    marks = {place.entrant: place.marks for place in table}
    assert marks[0]["bouts"] == ("0-1" if of == "knockout" else "0-2")
    assert marks[0]["state"] == "out"


def test_with_fewer_than_sit_at_a_table_it_is_done() -> None:
    for of in ("round-robin", "gauntlet", "knockout", "double-elimination"):
        assert plan(replace(spec(3, 2, format=of), withdrawn=((0, 1), (2, 1))), []) is None
    assert plan(replace(spec(3, 2, format="ladder", rounds=2), withdrawn=((0, 1), (2, 1))), []) is None
    assert plan(replace(spec(2, 2, format="match"), withdrawn=((0, 1),)), []) is None
    assert plan(replace(spec(3, 3, 3), withdrawn=((1, 1),)), []) is None
