"""The values that the arena's parts hand to each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.model import Entrant, Option, Pairing, Spec, TimeControl, UserError, labels


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("100ms", TimeControl(limit_us=100_000)),
        ("1.5s", TimeControl(limit_us=1_500_000)),
        ("10s+0.1s", TimeControl(bank_us=10_000_000, increment_us=100_000)),
        ("10s+0.1s/1s", TimeControl(limit_us=1_000_000, bank_us=10_000_000, increment_us=100_000)),
        ("100ms cpu", TimeControl(limit_us=100_000, cpu=True)),
        ("10s+0.1s/1s cpu", TimeControl(1_000_000, 10_000_000, 100_000, cpu=True)),
        ("10s+0s", TimeControl(bank_us=10_000_000)),
        ("none", TimeControl()),
    ],
)
def test_time_controls(text: str, control: TimeControl) -> None:
    assert TimeControl.parse(text) == control
    assert str(control) == text


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("10+0.1", "did you mean 10s+0.1s?"),
        ("100", "did you mean 100ms or 100s?"),
        ("none cpu", "or none"),
        ("10s+0.1", "did you mean 10s+0.1s?"),
        ("5", "did you mean 5ms or 5s?"),
        ("10+0.1/1", "did you mean 10s+0.1s/1s?"),
        ("soon", "write 100ms"),
        ("", "write 100ms"),
        ("-1s", "write 100ms"),
        ("1h", "write 100ms"),
        ("10s+", "write 100ms"),
        ("0ms", "give each ply some time"),
        ("0s+1s", "give each ply some time"),
    ],
)
def test_what_is_no_time_control_is_refused_with_what_to_do(text: str, fix: str) -> None:
    with pytest.raises(UserError) as refused:
        TimeControl.parse(text)
    assert fix in refused.value.fix
    assert text in str(refused.value)


durations = st.integers(1, 10**10)


@given(st.none() | durations, st.none() | durations, st.integers(0, 10**10))
def test_a_time_control_survives_its_text(limit: int | None, bank: int | None, increment: int) -> None:
    control = TimeControl(limit, bank, increment if bank else 0)
    assert TimeControl.parse(str(control)) == control


def test_a_contract_survives_json() -> None:
    entrants = (Entrant("a", "1", "0" * 64, (("c", 1.4), ("n", 3), ("x", True))), Entrant("b", "2", "1" * 64))
    spec = Spec(entrants, deals=(("edition", "original"),), seed="s", time_control=TimeControl.parse("10s+0.1s"))
    assert Spec.from_contract(spec.contract()) == spec
    assert spec.default_name == Spec.from_contract(spec.contract()).default_name


def test_every_entrant_of_a_pairing_sits_everywhere_once() -> None:
    assert Pairing((0, 1, 2)).rotations() == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]


def mcts(digest: str = "a", version: str = "0.3", name: str = "mcts", **options: Option) -> Entrant:
    return Entrant(name, version, digest * 64, tuple(sorted(options.items())))


@pytest.mark.parametrize(
    ("entrants", "told"),
    [
        ([mcts(c=1.4), mcts(name="greedy", c=1.0)], ["mcts 0.3", "greedy 0.3"]),
        ([mcts(c=1.4), mcts(version="0.4", c=2.0)], ["mcts 0.3", "mcts 0.4"]),
        ([mcts(c=1.4, playouts=200), mcts(c=2.0, playouts=200)], ["mcts 0.3 c=1.4", "mcts 0.3 c=2.0"]),
        ([mcts(c=1.4, fast=True), mcts(c=2.0, fast=False)], ["mcts 0.3 c=1.4 fast=true", "mcts 0.3 c=2.0 fast=false"]),
        ([mcts(), mcts("b")], ["mcts 0.3 digest=aaaaaaaa", "mcts 0.3 digest=bbbbbbbb"]),
        (
            [mcts(c=1.4), mcts("b", c=1.4), mcts("b", c=2.0)],
            ["mcts 0.3 c=1.4 digest=aaaaaaaa", "mcts 0.3 c=1.4 digest=bbbbbbbb", "mcts 0.3 c=2.0"],
        ),
        ([mcts(), mcts(c=1.0)], ["mcts 0.3", "mcts 0.3 c=1.0"]),
        ([mcts("a"), mcts("b", name="MCTS")], ["mcts 0.3 digest=aaaaaaaa", "MCTS 0.3 digest=bbbbbbbb"]),
    ],
)
def test_namesakes_are_told_apart_by_what_differs(entrants: list[Entrant], told: list[str]) -> None:
    assert list(labels(entrants)) == told
