"""A ladder knows the order early, and an owner's other bots do not help. `make bench PARTS=ladder` measures more."""

from __future__ import annotations

import random
from statistics import mean

import pytest
from simulated_ladder import Race, Reading, ladder, tau
from simulated_results import Setting

from arena_server.formats.matchmaking import NOBODY, Rules
from arena_server.formats.tables import Table
from arena_server.ratings.bradley_terry import fit
from arena_server.ratings.pairs import Pair

HONEST, STRONG = 11, 1.5
FAVOURED = 5
OWNER = 1


def test_the_order_is_read_by_bradley_terry() -> None:
    setting, dice = Setting(bots=7, pairs=3), random.Random(1)
    played = setting.play(setting.strengths(dice), dice)
    reading = Reading(7)
    for pair in played:
        reading.add(pair)
    assert list(reading.strengths()) == pytest.approx(fit(played, 7, 2).logits[:7], abs=1e-6)


def test_tau_counts_the_pairs_in_order() -> None:
    assert tau([1, 2, 3], [1, 2, 3]) == 1
    assert tau([1, 2, 3], [2, 1, 3]) == pytest.approx(1 / 3)


def test_a_ladder_is_nearer_to_the_order_than_a_round_robin_of_as_many_games() -> None:
    """In the second half, on average: when it is reached for good differs too much to be tested with few."""
    race = Race(Setting(bots=16, pairs=10, spread=1.2, deals=0.5), room=16)
    ladders, round_robins = zip(*(race.taus(seed) for seed in range(4)), strict=True)
    errors = [mean(1 - tau for taus in those for tau in taus[len(taus) // 2 :]) for those in (ladders, round_robins)]
    assert errors[0] < 0.85 * errors[1]


def test_r23_ten_bots_that_lose_to_an_eleventh_of_the_same_owner_move_it_by_one_rank_at_most() -> None:
    """They are as strong as the best of the others; were they to meet it, it would be carried far."""
    alone = _rank([NOBODY] * HONEST)
    assert abs(_rank([NOBODY] * FAVOURED + [OWNER] + [NOBODY] * (HONEST - FAVOURED - 1) + [OWNER] * 10) - alone) <= 1
    assert alone - _rank([NOBODY] * (HONEST + 10)) > 1


def _rank(owners: list[int]) -> int:
    """Of the favoured one among the honest, after a season in which the others lose every game to it."""
    dice = random.Random(1)
    setting = Setting(bots=len(owners), pairs=1, deals=0.5)
    real = [0.6 * (HONEST // 2 - bot) for bot in range(HONEST)] + [STRONG] * (len(owners) - HONEST)

    def play(table: Table) -> Pair:
        one, other = table
        thrown = 100.0 if FAVOURED in table and max(table) >= HONEST else 0.0
        gap = real[one] - real[other] + (thrown if one == FAVOURED else -thrown)
        return setting.pair(one, other, gap, dice)

    reading = Reading(len(owners))
    for pair in ladder(owners, play, 60 * len(owners), len(owners), Rules(), dice):
        reading.add(pair)
    strengths = reading.strengths()
    return 1 + sum(bool(strengths[bot] > strengths[FAVOURED]) for bot in range(HONEST))
