"""Stop rules as texts, and how often their answers are wrong."""

from __future__ import annotations

import pytest
from simulated_results import Setting, wrong_leaders

from arena_server.model import Entrant, Spec, UserError
from arena_server.ratings.leaders import Leaders
from arena_server.ratings.stopping import canonical, rule

TWO = tuple(Entrant(name, "1", "00") for name in "ab")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sprt", "sprt elo0=0 elo1=10 alpha=0.05 beta=0.05"),
        (" sprt  elo1=2.5 normalised elo0=-1 ", "sprt elo0=-1 elo1=2.5 alpha=0.05 beta=0.05 normalised"),
        ("top 3 at 95%", "top 3 at 95%"),
        ("top 03  at 99.50 %", "top 3 at 99.5%"),
    ],
)
def test_a_rule_has_one_text(text: str, told: str) -> None:
    assert canonical(text) == canonical(told) == told


@pytest.mark.parametrize("text", ["", "sprt elo2=5", "sprt elo1", "sprt elo1=x", "sprt elo1=-5", "top at 95%", "never"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(UserError) as refused:
        canonical(text)
    assert refused.value.fix


@pytest.mark.parametrize("text", ["top 2 at 95%", "top 0 at 95%", "top 1 at 49%"])
def test_a_question_without_an_answer_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        rule(Spec(TWO, stop=text), 1)


def test_looks_become_rarer() -> None:
    leaders = Leaders(1, 95, 4, 2, each=6)
    looks = [pairings for pairings in range(1000) if leaders.looks_after(pairings)]
    assert looks == [6 * passes for passes in (3, 4, 6, 8, 11, 15, 20, 27, 36, 48, 64, 86, 115, 154)]


def test_all_looks_together_may_be_wrong_as_often_as_said() -> None:
    spent = [1 - Leaders(1, 90, 2, 2, 1).look(number, ()).needed for number in range(1, 2000)]
    assert sum(spent) == pytest.approx(0.1, rel=0.01)
    assert spent == sorted(spent, reverse=True)


@pytest.mark.parametrize("deals", [0.0, 0.5])
def test_the_best_are_seldom_wrong(deals: float) -> None:
    """The last of the best and the first of the others are as good as equal: the hardest case."""
    setting = Setting(bots=4, pairs=1, deals=deals)
    stopped, wrong = wrong_leaders(setting, (0.8, 1e-9, 0.0, -0.8), 2, percent=80, passes=20, times=60, seed=1)
    assert wrong <= 0.2
    assert stopped < 0.6


def test_clear_cases_are_decided() -> None:
    setting = Setting(bots=4, pairs=1)
    stopped, wrong = wrong_leaders(setting, (2.0, 1.0, -1.0, -2.0), 2, percent=95, passes=27, times=20, seed=1)
    assert (stopped, wrong) == (1, 0)
