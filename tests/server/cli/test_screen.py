"""The live screen at several sizes, and the other ways to show a run."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from rich.console import Console
from sample_store import EVIL
from tournaments import begin, patchwork_spec

from arena_server.cli.live import JsonLines, PlainLines, Screen
from arena_server.cli.screen import result_line, screen
from arena_server.coordinator import Snapshot
from arena_server.executors import Running
from arena_server.model import Ending, Result
from arena_server.store import Store


@dataclass
class Run:
    """A run at one moment: 14 of 24 games recorded, two of them behind an open one."""

    snapshot: Snapshot
    results: list[Result]
    evil: Result

    def lines(self, width: int, height: int) -> list[str]:
        return screen(self.snapshot, [result_line(result) for result in self.results[:3]], width, height)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with Store.open(str(tmp_path_factory.mktemp("screen") / "arena.db")) as store:
        playing = begin(store, patchwork_spec(4, 4))
        results = playing.results()
        store.record([*results[:12], *results[13:15]])
        games = [Running(one, 5 * n, "ab"[n % 2] if n else "", 30.0 - n) for n, one in enumerate(playing.assignments())]
        standings, progress = store.standings(playing.tournament), store.progress(playing.tournament)
        snapshot = Snapshot(standings, progress, 2.5, 4.0, "bot1 1.0 over bot3 1.0: 91.2% sure", games[:8])
        failed = playing.forfeit(results[0].assignment, "a", Ending.CRASH)
        failures = tuple(replace(one, reason=f"boom {EVIL}\nnext") for one in failed.failures)
        yield Run(snapshot, results, replace(failed, failures=failures))


SMALL = """\
#  bot       mu-3sigma  W-L  failures
1  bot3 1.0      17.35  4-2  -
2  bot2 1.0      15.73  4-2  -
3  bot1 1.0      10.26  3-3  timeout 1
4  bot0 1.0       7.03  1-5  -
 #13  bot3 1.0 - bot0 1.0  starts  30 s
 #16  bot1 1.0 - bot2 1.0   ply 6  29 s
 #17  bot2 1.0 - bot0 1.0  ply 11  28 s
... 5 more
14 of 24 games, 4 s left, 2.5 games/s, 2 wait for an earlier one to be rated
bot1 1.0 over bot3 1.0: 91.2% sure
"""
USUAL = """\
#  bot          mu  sigma  mu-3sigma  W-L  games  margin  failures
1  bot3 1.0  29.33   3.99      17.35  4-2      6    +2.0  -
2  bot2 1.0  28.28   4.19      15.73  4-2      6    +2.2  -
3  bot1 1.0  22.26   4.00      10.26  3-3      6    +2.4  timeout 1
4  bot0 1.0  20.32   4.43       7.03  1-5      6    -5.8  -
 #13  bot3 1.0 - bot0 1.0  starts            30 s
 #16  bot1 1.0 - bot2 1.0   ply 6  bot2 1.0  29 s
 #17  bot2 1.0 - bot0 1.0  ply 11  bot2 1.0  28 s
 #18  bot0 1.0 - bot2 1.0  ply 16  bot2 1.0  27 s
 #19  bot1 1.0 - bot3 1.0  ply 21  bot1 1.0  26 s
 #20  bot3 1.0 - bot1 1.0  ply 26  bot1 1.0  25 s
 #21  bot1 1.0 - bot0 1.0  ply 31  bot1 1.0  24 s
 #22  bot0 1.0 - bot1 1.0  ply 36  bot1 1.0  23 s
game 1: bot0 1.0 - bot3 1.0 -26:-6
game 2: bot3 1.0 - bot0 1.0 -9:-24
game 3: bot1 1.0 - bot2 1.0 -2:-38
14 of 24 games, 4 s left, 2.5 games/s, 2 wait for an earlier one to be rated
bot1 1.0 over bot3 1.0: 91.2% sure
"""


@pytest.mark.parametrize(("width", "height", "expected"), [(40, 11, SMALL), (80, 23, USUAL)])
def test_it_looks_right(run: Run, width: int, height: int, expected: str) -> None:
    """On terminals of 12 and 24 rows: the cursor takes one."""
    assert run.lines(width, height) == expected.splitlines()


@pytest.mark.parametrize("width", [1, 20, 40, 80, 200])
def test_it_fits_any_terminal(run: Run, width: int) -> None:
    whole = run.lines(width, 60)
    assert len(whole) == 5 + 8 + 3 + 2
    for height in range(1, 20):
        shown = run.lines(width, height)
        assert len(shown) <= height
        assert any("of 24 games" in line for line in shown)
        assert height < 4 or shown[0] == whole[0]


def drawn(run: Run, width: int, height: int) -> str:
    """What a terminal of that size gets."""
    terminal = io.StringIO()
    console = Console(file=terminal, width=width, height=height, force_terminal=True, color_system=None)
    with Screen(console) as shown:
        shown.stands(run.snapshot)
        shown.ended(run.evil)
        shown.notes(f"note {EVIL}")
        shown.stands(run.snapshot)
    return terminal.getvalue()


@pytest.mark.parametrize("size", [(40, 12), (120, 40)])
def test_nothing_that_bots_say_acts_on_the_terminal(run: Run, size: tuple[int, int]) -> None:
    text = drawn(run, *size)
    joined = text.replace("\n", "")
    assert not any(evil in text for evil in ("\x1b[2J", "\x9b", "\u202e"))
    assert r"\x1b[2J" in joined
    assert r"[red]" in joined


def test_a_screen_is_cut_at_the_edge(run: Run) -> None:
    text = drawn(replace(run, evil=run.results[0]), 40, 12)
    rows = [row for row in text.replace("\x1b", "\n\x1b").splitlines() if not row.startswith("\x1b")]
    assert rows
    assert max(map(len, rows)) <= 40


def test_json_lines(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with JsonLines() as shown:
        shown.stands(run.snapshot)
        shown.stands(run.snapshot)
        shown.ended(run.evil)
        shown.notes(f"note {EVIL}")
    out, err = capsys.readouterr()
    assert not out
    told = [json.loads(line) for line in err.splitlines()]
    assert [one["event"] for one in told] == ["standings", "game", "note", "standings", "end"]
    assert told[0]["running"] == [one.assignment.planned.number for one in run.snapshot.running]
    assert told[1]["failures"][0]["ending"] == "crash"
    assert told[2]["text"] == f"note {EVIL}"
    assert told[4] == {"event": "end", "complete": True}
    assert err.replace("\n", "").isprintable()


def test_plain_lines_are_harmless(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with PlainLines() as shown:
        shown.ended(run.evil)
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.strip().isprintable()
