"""Plans of matches, gauntlets and ladders."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planning import by_score, drawn, first_wins, play, spec

from arena_server.formats import places, plan
from arena_server.model import Pairing, Spec, UserError, canonical_json


@given(st.integers(2, 4), st.integers(1, 4), st.integers(0, 5), st.integers(1, 2))
def test_challengers_meet_all_others(seats: int, challengers: int, more: int, deals: int) -> None:
    bots = challengers + seats - 1 + more
    played = play(spec(bots, seats * deals, seats, format="gauntlet", challengers=challengers), drawn)
    assert len(played.stages) == 1
    met = Counter(frozenset(pairing.entrants) for pairing in played.stages[0].pairings)
    others = list(combinations(range(challengers, bots), seats - 1))
    assert met == {frozenset({one, *rest}): deals for one in range(challengers) for rest in others}
    sat = Counter((seat, entrant) for seats in played.seatings for seat, entrant in enumerate(seats))
    assert all(len({sat[seat, entrant] for seat in range(seats)}) == 1 for entrant in range(bots))


def test_challengers_play_in_turns() -> None:
    (stage,) = play(spec(4, 2, format="gauntlet", challengers=2), drawn).stages
    assert [pairing.entrants for pairing in stage.pairings] == [(0, 2), (1, 3), (0, 3), (1, 2)]


@pytest.mark.parametrize("challengers", [0, 4, -1])
def test_a_gauntlet_needs_both_sides(challengers: int) -> None:
    with pytest.raises(UserError, match=rf"number of challengers: {challengers} - of 4 bots 1 to 3 can challenge"):
        plan(spec(4, 2, format="gauntlet", challengers=challengers), [])


def test_a_match_is_one_table_over_and_over() -> None:
    (stage,) = play(spec(2, 6, format="match"), drawn).stages
    assert stage.pairings == (Pairing((0, 1)), Pairing((1, 0)), Pairing((0, 1)))
    (stage,) = play(spec(3, 6, 3, format="match"), drawn).stages
    assert stage.pairings == (Pairing((0, 1, 2)), Pairing((1, 2, 0)))


@pytest.mark.parametrize("bots", [1, 3])
def test_a_match_is_between_as_many_as_sit_there(bots: int) -> None:
    with pytest.raises(UserError, match="bots"):
        plan(spec(bots, 2, format="match"), [])


@given(st.permutations(range(7)))
def test_a_ladder_of_as_many_rounds_as_bots_sorts_them(strength: list[int]) -> None:
    of = spec(7, 2, format="ladder", rounds=7)
    played = play(of, lambda seats: by_score([strength[entrant] for entrant in seats]))
    assert len(played.stages) == 7
    table = places(of, played.stages)
    assert table is not None
    assert [strength[place.entrant] for place in table] == [6, 5, 4, 3, 2, 1, 0]


@given(st.integers(2, 4), st.integers(0, 6), st.integers(1, 6), st.randoms(use_true_random=False))
def test_neighbours_meet_once_a_round(seats: int, more: int, rounds: int, dice: random.Random) -> None:
    of = spec(seats + more, seats, seats, format="ladder", rounds=rounds)
    played = play(of, lambda seats: None if dice.random() < 0.1 else by_score(dice.choices(range(3), k=len(seats))))
    assert len(played.stages) == rounds
    for stage, pairs in zip(played.stages, played.rounds, strict=True):
        before = places(of, played.stages[: stage.number - 1])
        assert before is not None
        order = [place.entrant for place in before]
        for pair in pairs:
            rungs = sorted(order.index(entrant) for entrant in pair)
            assert rungs[-1] - rungs[0] == seats - 1
        assert len(set().union(*pairs)) == seats * len(pairs)


def test_both_ends_of_a_ladder_rest_in_turn() -> None:
    assert play(spec(3, 2, format="ladder", rounds=2), first_wins).rounds == [[{0, 1}], [{1, 2}]]
    assert play(spec(2, 2, format="ladder", rounds=2), first_wins).rounds == [[{0, 1}], [{0, 1}]]


def test_a_draw_leaves_a_ladder_as_it_is() -> None:
    of = spec(4, 2, format="ladder", rounds=3)
    table = places(of, play(of, drawn).stages)
    assert table is not None
    assert [place.entrant for place in table] == [0, 1, 2, 3]


def test_a_ladder_needs_rounds() -> None:
    with pytest.raises(UserError, match="number of rounds: 0 - give 1 or more"):
        plan(spec(4, 2, format="ladder", rounds=0), [])


def test_formats_of_one_stage_have_no_table_of_their_own() -> None:
    assert places(spec(4, 2), []) is None


def test_a_contract_leaves_out_what_is_default() -> None:
    plain, chosen = spec(3, 2), spec(3, 2, format="gauntlet", rounds=3, challengers=2)
    assert not {"rounds", "challengers"} & plain.contract().keys()
    assert plain.default_name == "round-robin-a10ab096"
    for one in (plain, chosen):
        assert Spec.from_contract(one.contract()) == one
        assert canonical_json(Spec.from_contract(one.contract()).contract()) == canonical_json(one.contract())
