"""A loss on time, explained from its evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tournaments import begin, patchwork_spec

from arena_server.model import BlackBox, Ending, Failure, Result
from arena_server.report.evidence import box_lines, time_lines
from arena_server.store import Store

LOST = BlackBox(limit_us=100_000, margin_us=50_000, stolen_us=0, waited_us=0)


@pytest.fixture
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    with Store.open(str(tmp_path_factory.mktemp("db") / "arena.db")) as store:
        playing = begin(store, patchwork_spec())
        return playing.forfeit(playing.assignments()[0], plies=9)


def failure(box: BlackBox, ending: Ending = Ending.TIMEOUT) -> Failure:
    return Failure("a", ending, 9, "too slow", 171_000, 20_000, box=box)


def told(result: Result, **known: object) -> str:
    return "\n".join(time_lines(result, failure(replace(LOST, **known))))  # type: ignore[arg-type]


def test_the_arithmetic_is_shown(result: Result) -> None:
    text = told(result, own_us=98_000, late_us=191_000)
    assert "allowed: 100.0 ms and 50.0 ms of margin" in text
    assert "charged when it lost: 151.0 ms (171.0 ms less 20.0 ms of our own stalls)" in text
    assert "its own measure: 98.0 ms of 191.0 ms until its answer; the way there and back 73.0 ms" in text
    assert "its other " in text


@pytest.mark.parametrize(
    ("known", "verdict"),
    [
        ({"own_us": 160_000, "late_us": 165_000}, "the bot's: by its own measure"),
        ({"own_us": 90_000, "late_us": 165_000}, "not clearly the bot's"),
        ({"stolen_us": 60_000}, "perhaps the machine's"),
        ({"waited_us": 150_000}, "but the machine was short of cores"),
        ({}, "had cores to spare"),
        ({"stolen_us": None, "waited_us": None}, "whether the machine was short of cores is not known"),
    ],
)
def test_whose_fault_it_looks_like(result: Result, known: dict[str, int], verdict: str) -> None:
    assert verdict in told(result, **known)


def test_other_failures_have_no_such_story(result: Result) -> None:
    assert not list(time_lines(result, failure(LOST, Ending.CRASH)))
    assert not list(time_lines(result, failure(replace(LOST, limit_us=None))))
    assert not list(time_lines(result, replace(failure(LOST), box=None)))


def test_what_a_bot_said_cannot_act_on_a_terminal() -> None:
    box = BlackBox(exit="exit status 1", cpu_us=5_000, max_rss_kb=2048, stderr="\x1b[2J\nx", messages=("\u202eyes",))
    assert list(box_lines(failure(box))) == [
        "process: exit status 1, 0.005 s of CPU in this game, at most 2 MiB",
        "standard error:",
        "  \\x1b[2J",
        "  x",
        "last messages:",
        "  \\u202eyes",
    ]
