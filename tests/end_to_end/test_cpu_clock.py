"""CPU time instead of time on the wall, with real bots."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from command import arena, bot, games

from arena_server.launching import usage

BURN = "import time\nuntil = time.process_time() + {seconds}\nwhile time.process_time() < until: pass"
SLEEPS = "import time; time.sleep(0.4); return state.legal_moves()[0]"
BURNS = f"{BURN.format(seconds=0.12)}\nreturn state.legal_moves()[0]"
CHILD = f"""
    import subprocess, sys
    subprocess.run([sys.executable, "-c", {BURN.format(seconds=0.12)!r}])
    return state.legal_moves()[0]
"""
SILENT = "import time; time.sleep(3600)"


def ending(tmp_path: Path, body: str) -> tuple[str, str]:
    """How the first game of a bot with that body ends, and the reason, at 20 ms of CPU a ply."""
    paths = bot(tmp_path, "one", body), bot(tmp_path, "two")
    done = arena("run-tournament", *paths, "--games", "2", "--time", "20ms", "--clock", "cpu", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = games(tmp_path)[0]
    assert record["time_control"] == "20ms cpu"
    return record["termination"], (record["failed"] or {}).get("reason", "")


def test_sleep_costs_nothing(tmp_path: Path) -> None:
    body = SLEEPS.replace("0.4", "0.4 if state.time(self.seat) > 25 else 0")
    assert ending(tmp_path, body) == ("normal", "")
    assert all(seconds < 0.1 for record in games(tmp_path) for seconds in record["times"])


def test_what_it_burns_is_charged(tmp_path: Path) -> None:
    how, why = ending(tmp_path, BURNS)
    assert how == "timeout"
    assert "ms of CPU of 20 ms" in why
    assert "whose fault: the bot's: CPU time is its own" in arena("games", "show", "1", cwd=tmp_path).stdout


def test_so_is_what_its_children_burn(tmp_path: Path) -> None:
    how, why = ending(tmp_path, CHILD)
    assert how == "timeout"
    assert "ms of CPU of 20 ms" in why


def test_silence_has_an_end(tmp_path: Path) -> None:
    how, why = ending(tmp_path, SILENT)
    assert how == "timeout"
    assert "of the 1060 ms for an answer" in why


def test_living_children_count() -> None:
    parent = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    with subprocess.Popen([sys.executable, "-c", parent, BURN.format(seconds=0.3) + "\ntime.sleep(3600)"]) as process:
        try:
            deadline = time.monotonic() + 30
            while (usage.tree_cpu_us(process.pid) or 0) < 300_000:
                assert time.monotonic() < deadline
                time.sleep(0.02)
            assert (usage.cpu_us(process.pid) or 0) < 300_000
        finally:
            for child in usage._children(process.pid):
                os.kill(child, 9)
            process.wait(10)
    assert usage.tree_cpu_us(process.pid) is None
