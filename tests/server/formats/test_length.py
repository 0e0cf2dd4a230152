"""The number of games that is told beforehand."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import by_score, drawn, first_wins, play, spec

from arena_engine.game import Outcome
from arena_server.formats import FORMATS
from arena_server.formats.length import length
from arena_server.model import UserError

MORE: dict[str, dict[str, int]] = {"swiss": {"rounds": 3}, "ladder": {"rounds": 4}, "gauntlet": {"challengers": 2}}


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(FORMATS)),
    st.integers(4, 12),
    st.sampled_from([2, 4]),
    st.randoms(use_true_random=False),
)
def test_as_many_are_played(of: str, bots: int, games: int, dice: random.Random) -> None:
    def rule(_: tuple[int, ...]) -> Outcome:
        return by_score(dice.choices(range(3), k=2))

    asked = spec(2 if of == "match" else bots, games, format=of, **MORE.get(of, {}))
    least, most = length(asked)
    for results in (rule, first_wins, drawn):
        assert least <= len(play(asked, results).seatings) <= most


@pytest.mark.parametrize("of", ["knockout", "double-elimination"])
def test_the_bounds_of_a_bracket_are_reached(of: str) -> None:
    asked = spec(5, 2, format=of)
    least, most = length(asked)
    assert len(play(asked, first_wins).seatings) == least
    second_final = 0 if of == "knockout" else 2 + 2 * 8
    assert len(play(asked, drawn).seatings) == most - second_final


def test_three_seats() -> None:
    asked = spec(5, 6, seats=3, format="ladder", rounds=3)
    least, most = length(asked)
    assert least == most == len(play(asked, first_wins).seatings)


def test_what_cannot_be_planned_has_no_length() -> None:
    with pytest.raises(UserError, match="number of rounds"):
        length(spec(4, 2, format="swiss", rounds=9))
