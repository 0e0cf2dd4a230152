"""Kill -9 at any step that changes a file, and at any instant (F1).

The steps are counted by `shim.c`. `make faults PARTS=kills` strikes all of them.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile

import pytest
from command import environment
from kills import Subject, commit, rotated
from requirements import missing, require
from striking import Strike, Striker

INSTANTS = 8
SHARES = 3
"""Into how many tests the most work is divided, so that cores share it."""

pytestmark = pytest.mark.timeout(400)  # many commands, and the machine may be busy


def test_killed_at_any_step_of_recording(paper: Subject) -> None:
    for at in rotated(paper.whole.calls, 9):
        (killed,) = paper.strike(Strike(at))
        assert killed.code == -9, f"killed at step {at}"


def test_killed_again_while_it_recovers(paper: Subject) -> None:
    dice = random.Random(commit())
    for at in rotated(paper.whole.calls, 30):
        paper.strike(Strike(at), Strike(dice.randint(1, 12)), Strike(dice.randint(1, 40)))


@pytest.mark.parametrize("share", range(SHARES))
def test_the_command_killed_at_any_step(command: Subject, share: int) -> None:
    for at in rotated(command.whole.calls)[share::SHARES]:
        (killed,) = command.strike(Strike(at))
        assert killed.code == -9, f"killed at step {at}"


def test_the_command_killed_at_any_instant(command: Subject) -> None:
    dice = random.Random(commit())
    for _ in range(INSTANTS):
        command.strike(Strike(after=dice.uniform(0.01, 1.5)))


COUNTING = """
import ctypes, sys, tempfile
from arena_server.cli import main
tempfile.gettempdir()  # tries it out, with a write
ctypes.CDLL(None).shim_arm(0, 0, 0)
try:
    main()
finally:
    print("calls", ctypes.CDLL(None).shim_calls())
"""


def test_no_step_is_overlooked(command: Subject, striker: Striker) -> None:
    """strace, which sees every call, counts as many as the shim."""
    home = command.home("traced")
    log = home.with_suffix(".strace")
    calls = "pwrite64,pwritev,fdatasync,fsync,ftruncate,fallocate,unlink,rename,write,openat"
    strace = [require("strace"), "-f", "-y", "--seccomp-bpf", "-e", f"trace={calls}", "-o", str(log)]
    done = subprocess.run(
        [*strace, sys.executable, "-c", COUNTING, *command.arguments],
        env=environment(LD_PRELOAD=str(striker.library)),
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in done.stderr:
        missing("strace", f"may not trace here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    ours = (f"{home}/arena.db", f"<{home}>)", f"{tempfile.gettempdir()}/arena-")
    lines = log.read_text().splitlines()
    made = set[str]()
    seen = [line for line in lines if any(place in line for place in ours) and changes(line, made)]
    assert f"calls {len(seen)}" in done.stdout, "\n".join(seen)


def changes(line: str, made: set[str]) -> bool:
    """Whether a call that strace saw changes a file: its beginning, where it was interrupted.

    Opening does where it makes one: `made` holds those that were, and is kept up.
    """
    if "resumed>" in line:
        return False
    if "openat(" in line:
        opened = re.search(r'"(.+?)", \S*O_CREAT', line)
        if opened is None or opened[1] in made:
            return False
        made.add(opened[1])
    elif gone := re.search(r'unlink\("(.+?)"', line):
        made.discard(gone[1])
    return True
