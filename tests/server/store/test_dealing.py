"""Listed deals are played in turn: fairly, and none twice while there are others."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import first_wins, play, spec
from tiny_game import GAME
from tournaments import begin, patchwork_spec, tiny_spec

from arena_engine import suites
from arena_server.formats import Stage
from arena_server.model import Pairing, Spec, UserError
from arena_server.store import Store, Terms
from arena_server.store.dealing import dealt
from arena_server.store.verify import verify

SUITE = tuple(tuple(deal.items()) for deal in suites.read("abc\nbca\ncab\nacb", GAME, {}, 3))


def played(of: Spec, listed: int) -> list[tuple[int, frozenset[int], int]]:
    """Stage, table and deal of every pairing."""
    suite = tuple((("order", str(number)),) for number in range(listed))
    terms = Terms(1, replace(of, suite=suite), b"", "")
    found, before = [], list[Stage]()
    for stage in play(of, first_wins).stages:
        for pairing, deal in zip(stage.pairings, dealt(terms, GAME, before, stage.pairings), strict=True):
            found.append((stage.number, frozenset(pairing.entrants), int(deal["order"])))
        before.append(stage)
    return found


@settings(max_examples=40)
@given(
    bots=st.integers(2, 9),
    games=st.integers(1, 6),
    listed=st.integers(1, 20),
    form=st.sampled_from(["round-robin", "gauntlet", "swiss", "ladder", "double-elimination"]),
)
def test_who_meet_again_play_every_deal_before_one_comes_again(bots: int, games: int, listed: int, form: str) -> None:
    rounds = {"swiss": min(3, bots - 1 + bots % 2), "ladder": 3}.get(form)
    by_table = defaultdict[frozenset[int], list[int]](list)
    for _, table, deal in played(spec(bots, games * 2, format=form, rounds=rounds), listed):
        by_table[table].append(deal)
    for deals in by_table.values():
        counts = Counter(deals)
        assert max(counts.values()) <= -(-len(deals) // listed)


def test_a_match_goes_through_the_list_in_order() -> None:
    assert [deal for _, _, deal in played(spec(2, 14, format="match"), 5)] == [0, 1, 2, 3, 4, 0, 1]


def test_in_a_round_of_a_swiss_everybody_plays_the_same_deal() -> None:
    found = played(spec(8, 2, format="swiss", rounds=4), 10)
    assert {(stage, deal) for stage, _, deal in found} == {(1, 0), (2, 1), (3, 2), (4, 3)}


def test_nobody_meets_one_opponent_over_one_deal_alone() -> None:
    """Also where a pass of the schedule is as long as the list."""
    by_table = defaultdict[frozenset[int], set[int]](set)
    for _, table, deal in played(spec(4, 6), 3):
        by_table[table].add(deal)
    assert all(deals == {0, 1, 2} for deals in by_table.values())


def test_a_tournament_over_a_suite_is_verified_also_when_it_is_extended(store: Store) -> None:
    first = tiny_spec(3, 9, suite=SUITE)
    playing = begin(store, first, name="listed")
    orders = [assignment.planned.deal["order"] for assignment in playing.assignments()]
    assert orders == ["abc"] * 3 + ["bca"] * 3 + ["cab"] * 3
    store.record(playing.results())
    store.finish(playing.tournament)
    playing.lock.release()
    assert verify(store, playing.tournament).ok


def test_another_list_is_another_contract(store: Store) -> None:
    store.enter(tiny_spec(suite=SUITE), name="listed")
    with pytest.raises(UserError, match=r"suite: 4 deals with SHA-256 \w{8} -> 3 deals with SHA-256 \w{8}"):
        store.enter(tiny_spec(suite=SUITE[:3]), name="listed")
    with pytest.raises(UserError, match=r"suite: 4 deals with SHA-256 \w{8} -> none"):
        store.enter(tiny_spec(), name="listed")


def test_shuffled_deals_follow_from_the_number_of_their_pairing() -> None:
    terms = Terms(1, tiny_spec(), b"secret", "")
    pairings = [Pairing((0, 1, 2))] * 5
    whole = dealt(terms, GAME, (), pairings)
    parts = dealt(terms, GAME, [Stage(1, tuple(pairings[:2]))], pairings[2:])
    assert whole[2:] == parts


EDITIONS = ((("edition", "revised"),), (("edition", "original"),))


def test_shuffled_deals_have_the_variants_in_turn_for_every_two_who_meet(store: Store) -> None:
    playing = begin(store, patchwork_spec(3, 8, deals=EDITIONS[0], variants=EDITIONS), name="both")
    by_table = defaultdict[frozenset[int], list[str]](list)
    for assignment in playing.assignments()[::2]:
        by_table[frozenset(assignment.planned.seats)].append(assignment.planned.deal["edition"])
    assert len({assignment.planned.deal["circle"] for assignment in playing.assignments()}) == 3 * 4
    assert all(Counter(editions) == {"revised": 2, "original": 2} for editions in by_table.values())
    store.record(playing.results())
    store.finish(playing.tournament)
    playing.lock.release()
    assert verify(store, playing.tournament).ok
    with pytest.raises(UserError, match="variants: edition=revised; edition=original -> none"):
        store.enter(patchwork_spec(3, 8, deals=EDITIONS[0]), name="both")
