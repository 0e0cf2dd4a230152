"""The look at the machine before a run, and what is told after it."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from simulation import Simulation, assignment

from arena_engine.patchwork import GAME
from arena_server.coordinator.machine import Look, Strain, look
from arena_server.model import Ending, Played, Result, TimeControl
from arena_server.referee.events import Ask, Event, Replied

IDLE = Look(cores=8, share=1.0, late_ms=0.5, memory_mb=16_000)


def warnings(seen: Look, capacity: int = 7, control: str = "100ms") -> str:
    return "\n".join(seen.warnings(capacity, 2, TimeControl.parse(control)))


def test_the_look_is_short_and_plausible() -> None:
    began = time.monotonic()
    seen = look()
    assert time.monotonic() - began < 20
    assert seen.cores >= 1
    assert 0 < seen.share <= 1
    assert seen.late_ms >= 0
    assert seen.capacity(2) <= max(1, seen.cores - 1)


@pytest.mark.parametrize(
    ("seen", "capacity"),
    [
        (IDLE, 7),
        (replace(IDLE, share=0.5), 4),
        (replace(IDLE, cores=1), 1),
        (replace(IDLE, memory_mb=400), 3),
        (replace(IDLE, memory_mb=None), 7),
        (replace(IDLE, memory_mb=10), 1),
    ],
)
def test_games_at_once_follow_from_cores_load_and_memory(seen: Look, capacity: int) -> None:
    assert seen.capacity(2) == capacity


def test_an_idle_machine_is_no_news() -> None:
    assert warnings(IDLE) == ""


@pytest.mark.parametrize(
    ("seen", "capacity", "control", "words"),
    [
        (IDLE, 16, "1s", "16 games at once on 8 cores: bots that think all the time get 50% of a core"),
        (replace(IDLE, share=0.4), 7, "1s", "a process gets 40% of a core"),
        (replace(IDLE, late_ms=30), 7, "100ms", "as much as 30 ms late here, which is a lot beside 100 ms"),
        (replace(IDLE, late_ms=30), 7, "10s+0.1s", "beside 100 ms"),
        (replace(IDLE, memory_mb=500), 7, "1s", "14 bots may not fit into the 500 MB"),
    ],
)
def test_what_is_warned_of(seen: Look, capacity: int, control: str, words: str) -> None:
    assert words in warnings(seen, capacity, control)


def test_cpu_time_is_fair_on_few_cores() -> None:
    assert warnings(IDLE, 16, "1s cpu") == ""
    assert warnings(replace(IDLE, late_ms=30), 7, "10s+0s") == ""


@pytest.fixture
def result() -> Result:
    def silent(_simulation: Simulation, ask: Ask) -> list[tuple[float, Event]]:
        return [(0.01, Replied(ask.seat, ask.ply, "none"))]

    return Simulation(GAME, assignment(GAME, "100ms"), {"a": silent, "b": silent}).run()


def test_the_end_tells_of_stalls(result: Result) -> None:
    strain = Strain()
    strain.note(result)
    assert list(strain.lines()) == []
    moves = tuple(Played(ply, "a", ">", 2_000, credit_us) for ply, credit_us in enumerate((0, 30_000, 70_000)))
    strain.note(replace(result, moves=moves))
    strain.note(replace(result, ending=Ending.VOID, outcome=None))
    (line,) = strain.lines()
    assert "2 of 3 moves got credit for it, 0.1 s in all, and 1 game was void" in line
