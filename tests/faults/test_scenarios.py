"""Reports from the field about the clock and about blame, R1 to R13, with real bots.

R4 and R12 run under a simulated clock (tests/server/referee/test_match.py), R5 behind the proxy (test_network.py);
R9 is with the broken bots (tests/end_to_end), R13 with the keeper (tests/server/launching).
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import tiny_game
from command import arena, bot, games

SUPPORT = Path(tiny_game.__file__).parent
TENTH = "import time; time.sleep(0.1); return state.legal_moves()[{}]"
LEAK = """
    import subprocess, sys
    if state.time(self.seat) == 0:
        sleep = [sys.executable, "-S", "-c", "import time; time.sleep(3600)"]
        subprocess.Popen(sleep, start_new_session=True)
    return state.legal_moves()[0]
"""

REFEREE = """
    import asyncio, json, os, sys, threading, time
    sys.path.insert(0, {support!r})
    from arena_server.launching.bots import resolve
    from arena_server.launching.processes import Keeper

    keeper = Keeper.start()

    import psutil
    from dataclasses import replace
    from simulation import assignment
    from arena_engine.patchwork import GAME
    from arena_server.executors.local import LocalExecutor

    async def stall():
        while True:
            await asyncio.sleep(0.5)
            time.sleep({stall})

    def held():
        this = psutil.Process()
        return this.num_fds(), threading.active_count(), len(this.children(recursive=True))

    async def main():
        bots = [resolve(path) for path in {paths!r}]
        given = assignment(GAME, {control!r})
        given = replace(given, spec=replace(given.spec, entrants=tuple(bot.entrant for bot in bots)))
        async with LocalExecutor(GAME, {{bot.entrant: bot for bot in bots}}, keeper, capacity=2) as executor:
            stalling = asyncio.create_task(stall()) if {stall} else None
            for number in range({games}):
                played = replace(given, planned=replace(given.planned, number=number + 1))
                result = await executor.play(played)
                credit = sum(move.credit_us for move in result.moves)
                told = [result.ending, "".join(result.blamed), result.duration_us, credit, held()]
                print(json.dumps(told), flush=True)
            if stalling:
                stalling.cancel()

    import uvloop
    uvloop.run(main())
"""


def referee(folder: Path, paths: list[str], control: str, *, stall: float = 0.0, count: int = 1) -> list[Any]:
    """Plays games with a referee alone: ending, blame, microseconds, credit and what it holds, for each."""
    text = textwrap.dedent(REFEREE).format(support=str(SUPPORT), paths=paths, control=control, stall=stall, games=count)
    script = folder / "referee.py"
    script.write_text(text)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def plays(folder: Path, *bots: str, time: str, count: int = 2, at_once: int = 2) -> list[dict[str, Any]]:
    """The records of a tournament."""
    options = ("--games", str(count), "--time", time, "--concurrency", str(at_once))
    done = arena("run-tournament", *bots, *options, cwd=folder, timeout=110)
    assert done.returncode == 0, done.stderr
    return games(folder)


def test_r1_r2_many_games_at_once_lose_none_on_time(tmp_path: Path) -> None:
    """Bots that answer in 100 ms at 1 s limits; what they are charged is their own measure and little more."""
    bots = bot(tmp_path, "first", TENTH.format(0)), bot(tmp_path, "last", TENTH.format(-1))
    records = plays(tmp_path, *bots, time="1s", count=12, at_once=12)
    assert {record["termination"] for record in records} == {"normal"}
    shown = json.loads(arena("games", "show", "1", "--json", cwd=tmp_path).stdout)
    extra = [ply["used_us"] - ply["credit_us"] - ply["own_us"] for ply in shown["plies"]]
    assert median(extra) < 50_000


def test_r3_our_own_work_never_lands_on_the_clock_of_a_bot(tmp_path: Path) -> None:
    """The loop stands still for 300 ms again and again; a move may take 100 ms."""
    slow = "import time; time.sleep(0.02); return state.legal_moves()[0]"
    paths = [bot(tmp_path, name, slow) for name in ("one", "two")]
    results = referee(tmp_path, paths, "100ms", stall=0.3, count=3)
    assert {ending for ending, *_ in results} <= {"normal", "void"}
    assert sum(credit for _, _, _, credit, _ in results) > 300_000


def test_r6_bots_that_raise_leave_nothing_behind(tmp_path: Path) -> None:
    paths = [bot(tmp_path, "bad", "raise ValueError('no idea')"), bot(tmp_path, "good")]
    results = referee(tmp_path, paths, "5s", count=60)
    assert {(ending, blamed) for ending, blamed, *_ in results} == {("crash", "a")}
    settled = [tuple(held) for *_, held in results[5:]]
    assert max(fds for fds, _, _ in settled) <= min(fds for fds, _, _ in settled) + 4  # streams that come and go
    assert len({(threads, children) for _, threads, children in settled}) <= 3


def test_r7_a_bot_that_leaks_children_does_not_slow_the_games(tmp_path: Path) -> None:
    results = referee(tmp_path, [bot(tmp_path, "leaky", LEAK), bot(tmp_path, "good")], "5s", count=40)
    assert {ending for ending, *_ in results} == {"normal"}
    durations = [duration for _, _, duration, _, _ in results]
    assert median(durations[-10:]) < 3 * median(durations[:10]) + 500_000


@pytest.mark.parametrize("control", ["none", "60s"])
def test_r8_a_bot_that_dies_while_we_wait_ends_the_game_at_once(tmp_path: Path, control: str) -> None:
    paths = [bot(tmp_path, "bad", "import os; os.kill(os.getpid(), 9)"), bot(tmp_path, "good")]
    ((ending, blamed, duration, _, _),) = referee(tmp_path, paths, control)
    assert (ending, blamed) == ("crash", "a")
    assert duration < 10_000_000  # one second, on a machine that has one


def test_r10_a_bot_that_crashed_in_its_first_game_is_still_scheduled(tmp_path: Path) -> None:
    mark = tmp_path / "crashed"
    body = f"""
        import os
        if not os.path.exists({str(mark)!r}):
            open({str(mark)!r}, "w").close()
            os._exit(1)
        return state.legal_moves()[0]
    """
    records = plays(tmp_path, bot(tmp_path, "once", body), bot(tmp_path, "good"), time="2s", count=6, at_once=1)
    assert [record["termination"] for record in records] == ["crash"] + ["normal"] * 5


def test_r11_a_bot_that_uses_all_its_time_holds_nobody_up(tmp_path: Path) -> None:
    """While one game of the slow bot goes on, the others play many."""
    slow = bot(tmp_path, "slow", "import time; time.sleep(0.1); return state.legal_moves()[0]")
    others = [bot(tmp_path, name, "return state.legal_moves()[-1]") for name in ("one", "two", "three")]
    records = plays(tmp_path, slow, *others, time="1s")
    assert {record["termination"] for record in records} == {"normal"}
    took = {"slow": [], "quick": []}  # type: dict[str, list[float]]
    for record in records:
        took["slow" if "slow" in {seat["bot"] for seat in record["seats"]} else "quick"].append(record["seconds"])
    assert median(took["quick"]) < median(took["slow"])
