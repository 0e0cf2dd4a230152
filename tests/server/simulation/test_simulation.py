"""A thousand tournaments under faults; `make simulate SEEDS=50000` plays more."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated import simulate, tell
from simulated.figures import broken
from simulated.planted import BUGS, seeds_until_caught
from simulated.script import SEEDS_PER_CAST, draw
from simulated.search import failure, quiet, shrink
from simulated.world import PLACE

SEEDS = 1_000
CHUNK = 5 * SEEDS_PER_CAST


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_whatever_befalls_the_arena_its_promises_hold(first: int) -> None:
    for seed in range(first, first + CHUNK):
        assert not failure(draw(seed)), tell(seed)


def test_a_command_that_is_hurried_may_leave_while_the_database_is_away() -> None:
    run = simulate(2669)
    assert any("waits no more for the database" in what for _, what in run.trace)


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(2166, id="killed when the command is through"),
        pytest.param(3097, id="a stream that breaks when the next game is given out"),
        pytest.param(3985, id="a bot that comes back when it is being stopped"),
        pytest.param(6050, id="a crash for a game that has come to nothing"),
        pytest.param(19011, id="the last moment of a bot that was asked late for its own fault"),
        pytest.param(23600, id="nonsense for a game that has come to nothing"),
        pytest.param(10027, id="a crash that does not come, and what was said meanwhile"),
    ],
)
def test_what_the_simulation_itself_once_got_wrong(seed: int) -> None:
    assert not failure(draw(seed)), tell(seed)


def test_many_processes_leave_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PLACE, str(tmp_path))
    seeds = broken(range(2))
    assert next(seeds) == (0, "")
    assert list(tmp_path.glob("*/*/arena.db"))
    assert list(seeds) == [(1, "")]
    assert not list(tmp_path.iterdir())


def test_a_seed_is_the_same_run_again() -> None:
    for seed in (3, 31, 52, 96):
        assert simulate(seed).trace == simulate(seed).trace


def test_the_seeds_reach_what_they_should() -> None:
    """Kills, also of a command that resumes one that was killed; late results, repeated ones, every kind of ending."""
    runs = [simulate(seed) for seed in range(0, SEEDS, SEEDS_PER_CAST)]
    events = [[what for _, what in run.trace] for run in runs]
    assert max(run.commands for run in runs) >= 4
    for sign in (
        "kill -9 before a commit",
        "kill -9 after a commit",
        " late: ",
        " delivered again: ",
        "the disk is full",
        "the database is away after a commit",
        "stop",
        "parked",
        " void",
        " timeout",
        " crash",
        " disconnect",
        " protocol_error",
    ):
        assert any(sign in what for run in events for what in run), sign
    assert any(run.results[number].ending == "void" for run in runs for number in run.results)  # abandoned after three


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught(bug: str) -> None:
    assert seeds_until_caught(bug) is not None


def test_a_broken_seed_is_told_with_no_more_than_it_takes() -> None:
    """A double count shows without any fault at all, so that is the shortest script."""
    script = draw(100)
    quiet(script.quiet)
    with BUGS["a double count"]():
        assert script.deeds
        assert script.strikes
        shortest = shrink(script)
        assert (shortest.deeds, shortest.strikes) == ((), ())
        quiet.cache_clear()
        told = tell(100).splitlines()
    quiet.cache_clear()
    assert told[0].startswith("seed 100: ")
    assert told[-1].startswith("Violation: verify: ")
    assert len(told) < 80
