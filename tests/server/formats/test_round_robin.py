"""Round-robin plans."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from math import comb
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.formats import Stage, plan
from arena_server.model import Entrant, Pairing, Spec, UserError


def spec(bots: int, games: int, seats: int = 2, **more: Any) -> Spec:
    return Spec(tuple(Entrant(f"bot{n}", "1", "00") for n in range(bots)), games=games, seats=seats, **more)


def tables(bots: int, games: int, seats: int = 2) -> list[tuple[int, ...]]:
    pairings = plan(spec(bots, games, seats), [])
    assert pairings is not None
    return [pairing.entrants for pairing in pairings]


@given(st.integers(2, 9), st.integers(1, 4))
def test_every_two_meet_equally_often_and_sit_first_in_turn(bots: int, passes: int) -> None:
    met = tables(bots, 2 * passes)
    assert Counter(map(frozenset, met)) == {frozenset(pair): passes for pair in combinations(range(bots), 2)}
    for one, other in combinations(range(bots), 2):
        firsts = [pair[0] for pair in met if set(pair) == {one, other}]
        assert all(before != after for before, after in pairwise(firsts))


@given(st.integers(2, 12), st.integers(1, 3))
def test_nobody_plays_twice_in_a_round(bots: int, passes: int) -> None:
    met = tables(bots, 2 * passes)
    per_round = bots // 2
    rounds = [met[start : start + per_round] for start in range(0, len(met), per_round)]
    assert len(rounds) == passes * (bots - 1 + bots % 2)
    assert all(len({bot for pair in played for bot in pair}) == 2 * per_round for played in rounds)


@given(st.integers(3, 5), st.integers(0, 4), st.integers(1, 3))
def test_more_seats_combine_everybody_evenly(seats: int, more: int, passes: int) -> None:
    bots = seats + more
    met = tables(bots, seats * passes, seats)
    assert Counter(map(frozenset, met)) == {frozenset(one): passes for one in combinations(range(bots), seats)}
    seen = Counter(dict.fromkeys(range(bots), 0))
    for table in met:
        seen.update(table)
        assert max(seen.values()) - min(seen.values()) <= seats
    assert set(seen.values()) == {passes * comb(bots - 1, seats - 1)}


@given(st.lists(st.integers(0, 3), min_size=3, max_size=8), st.integers(2, 3))
def test_entrants_of_one_owner_do_not_meet_and_all_others_do(owners: list[int], seats: int) -> None:
    met = plan(spec(len(owners), 2 * seats, seats, owners=tuple(owners)), ()) or ()
    strangers = [
        table for table in combinations(range(len(owners)), seats) if len({owners[one] for one in table}) == seats
    ]
    assert Counter(frozenset(pairing.entrants) for pairing in met) == {frozenset(table): 2 for table in strangers}
    everybody = [pairing.entrants for pairing in plan(spec(len(owners), 2 * seats, seats), ()) or ()]
    assert [pairing.entrants for pairing in met] == [
        table for table in everybody if len({owners[one] for one in table}) == seats
    ]


def test_owners_are_told_of_every_entrant_and_to_no_other_format() -> None:
    with pytest.raises(UserError, match="owners of other entrants"):
        plan(spec(3, 2, owners=(0, 1)), ())
    with pytest.raises(UserError, match="knows no owners"):
        plan(spec(3, 2, format="gauntlet", owners=(0, 1, 2)), ())


def test_each_pass_moves_the_first_seat_on() -> None:
    assert tables(3, 9, seats=3) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]


def test_four_bots_meet_in_three_rounds() -> None:
    assert tables(4, 2) == [(0, 3), (1, 2), (0, 2), (3, 1), (0, 1), (2, 3)]


def test_one_stage_is_all() -> None:
    played = Stage(1, tuple(map(Pairing, tables(3, 2))))
    assert plan(spec(3, 2), [played]) is None


@pytest.mark.parametrize(
    ("bots", "games", "seats", "told"),
    [
        (2, 5, 2, "5 - a multiple of 2 is needed, since every deal is played from each seat; did you mean 4 or 6?"),
        (2, 1, 2, "1 - a multiple of 2 is needed, since every deal is played from each seat; did you mean 2?"),
        (2, 0, 2, "0 - a multiple of 2 is needed"),
        (2, -4, 2, "-4 - a multiple of 2 is needed"),
        (3, 7, 3, "did you mean 6 or 9?"),
        (1, 2, 2, "too few bots: 1 - patchwork has 2 seats: name at least 2 bots"),
        (0, 2, 2, "too few bots: 0"),
    ],
)
def test_what_cannot_be_played_is_told(bots: int, games: int, seats: int, told: str) -> None:
    with pytest.raises(UserError) as refused:
        plan(spec(bots, games, seats), [])
    assert told in str(refused.value)


def test_the_same_bot_twice_is_told() -> None:
    twice = Spec((Entrant("Greedy", "1.0", "00"), Entrant("greedy", "1.0", "00")))
    with pytest.raises(UserError, match=r"the same bot twice: greedy 1\.0"):
        plan(twice, [])


def test_one_bot_with_two_options_is_two() -> None:
    two = (Entrant("greedy", "1.0", "00", (("c", 1),)), Entrant("greedy", "1.0", "00", (("c", 2),)))
    assert plan(Spec(two, games=2), []) == (Pairing((0, 1)),)


@pytest.mark.parametrize(("name", "fix"), [("roundrobin", "did you mean round-robin"), ("x", "known: round-robin")])
def test_an_unknown_format_is_told(name: str, fix: str) -> None:
    with pytest.raises(UserError, match=f"no such format: '{name}' - {fix}"):
        plan(spec(2, 2, format=name), [])
