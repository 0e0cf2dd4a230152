"""Plans of knockouts and double eliminations."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import Played, by_score, drawn, first_wins, play, spec

from arena_engine.game import Outcome
from arena_server.formats import places, plan
from arena_server.formats.elimination import EXTRA_DEALS
from arena_server.model import UserError

LIVES = {"knockout": 1, "double-elimination": 2}


def table(of: str, bots: int, played: Played) -> list[tuple[int, int, str, str]]:
    rows = places(spec(bots, 2, format=of), played.stages)
    assert rows is not None
    return [(row.rank, row.entrant, row.marks["bouts"], row.marks["state"]) for row in rows]


@settings(max_examples=25)
@given(st.sampled_from(sorted(LIVES)), st.integers(2, 19), st.randoms(use_true_random=False), st.booleans())
def test_all_but_one_lose_as_often_as_puts_them_out(of: str, bots: int, dice: random.Random, holes: bool) -> None:  # noqa: FBT001
    def rule(_: tuple[int, ...]) -> Outcome | None:
        return None if holes and dice.random() < 0.2 else by_score(dice.choices(range(3), k=2))

    played = play(spec(bots, 2, format=of), rule)
    rows = table(of, bots, played)
    won_lost = {entrant: tuple(map(int, bouts.split("-"))) for _, entrant, bouts, _ in rows}
    assert [state for _, _, _, state in rows] == ["in"] + ["out"] * (bots - 1)
    assert [rank for rank, *_ in rows[:2]] == [1, 2]
    assert all(won_lost[entrant][1] == LIVES[of] for _, entrant, _, state in rows if state == "out")
    assert won_lost[rows[0][1]][1] < LIVES[of]
    sat = Counter((seat, entrant) for seats in played.seatings for seat, entrant in enumerate(seats))
    assert all(sat[0, entrant] == sat[1, entrant] for entrant in range(bots))
    for pairs in played.rounds:
        assert len(set().union(*pairs)) == 2 * len(pairs)


@pytest.mark.parametrize("of", LIVES)
@pytest.mark.parametrize("bots", [2, 3, 7, 16, 200])
def test_favourites_meet_late(of: str, bots: int) -> None:
    played = play(spec(bots, 2, format=of), first_wins)
    rows = table(of, bots, played)
    assert [entrant for _, entrant, _, _ in rows[:2]] == [0, 1]
    assert played.rounds[-1] == [frozenset({0, 1})]
    assert sum(frozenset({0, 1}) in pairs for pairs in played.rounds) == LIVES[of]
    assert len(played.seatings) == 2 * (LIVES[of] * bots - 1 - (of == "double-elimination"))


def upset_in(final: int) -> Callable[[tuple[int, ...]], Outcome]:
    """The earlier entry wins, but of the first two the other wins their so-manieth meeting."""
    games = Counter[frozenset[int]]()

    def rule(seats: tuple[int, ...]) -> Outcome:
        games[frozenset(seats)] += 1
        upset = set(seats) == {0, 1} and (games[frozenset(seats)] + 1) // 2 == final
        return by_score([entrant if upset else -entrant for entrant in seats])

    return rule


def test_the_unbeaten_one_has_a_second_final() -> None:
    played = play(spec(4, 2, format="double-elimination"), upset_in(2))
    assert played.rounds[-3:] == [[frozenset({1, 2})], [frozenset({0, 1})], [frozenset({0, 1})]]
    assert table("double-elimination", 4, played) == [
        (1, 0, "3-1", "in"),
        (2, 1, "3-2", "out"),
        (3, 2, "1-2", "out"),
        (4, 3, "0-2", "out"),
    ]


def test_bouts_put_out_equals_in_one_round() -> None:
    played = play(spec(4, 2, format="knockout"), first_wins)
    assert [rank for rank, *_ in table("knockout", 4, played)] == [1, 2, 3, 3]


def test_a_drawn_bout_goes_on_by_the_deal_until_it_is_decided() -> None:
    games = 0

    def rule(seats: tuple[int, ...]) -> Outcome:
        nonlocal games
        games += 1
        return drawn(seats) if games <= 8 else by_score(list(seats))

    played = play(spec(2, 4, format="knockout"), rule)
    assert [len(stage.pairings) for stage in played.stages] == [2, 1, 1, 1]
    assert table("knockout", 2, played) == [(1, 1, "1-0", "in"), (2, 0, "0-1", "out")]


def test_after_the_last_extra_deal_the_earlier_entry_wins() -> None:
    played = play(spec(2, 2, format="knockout"), drawn)
    assert len(played.stages) == 1 + EXTRA_DEALS
    assert table("knockout", 2, played)[0][1] == 0


def test_after_the_last_extra_deal_the_margin_decides_first() -> None:
    def rule(seats: tuple[int, ...]) -> Outcome:
        """The first seat wins; the later entry by more."""
        return by_score([5 + seats[0], 0])

    played = play(spec(2, 2, format="knockout"), rule)
    assert len(played.stages) == 1 + EXTRA_DEALS
    assert table("knockout", 2, played)[0][1] == 1


@pytest.mark.parametrize("of", LIVES)
def test_what_cannot_be_played_is_told(of: str) -> None:
    with pytest.raises(UserError, match="too few bots: 1"):
        plan(spec(1, 2, format=of), [])
    with pytest.raises(UserError, match="a format for games of two seats"):
        plan(spec(4, 3, 3, format=of), [])
    with pytest.raises(UserError, match="has no rounds to choose"):
        plan(spec(4, 2, format=of, rounds=3), [])
    with pytest.raises(UserError, match="has no challengers"):
        plan(spec(4, 2, format=of, challengers=2), [])
