"""Kills: at every step that changes a file, in recording and in the whole command, and at INSTANTS random ones.

KILLS takes so many of all these at random.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import tempfile
import traceback
from pathlib import Path

from kills import Subject, the_command  # tests/support
from striking import Strike, Striker
from table import progress

from faults.running import size

SUBJECTS: dict[str, Subject] = {}
"""Of this process."""


def measure() -> dict[str, float]:
    """Kills on every core; each is followed by another run, which must complete as if nothing had happened."""
    workers = len(os.sched_getaffinity(0))
    with (
        tempfile.TemporaryDirectory(prefix="f") as folder,
        multiprocessing.get_context("spawn").Pool(workers, _begin, (folder,)) as pool,
    ):
        paper, command = pool.map(_calls, ["paper", "command"])
        dice = random.Random(os.urandom(8))
        work = [("paper", Strike(at)) for at in range(1, paper + 1)]
        work += [("command", Strike(at)) for at in range(1, command + 1)]
        work += [("command", Strike(after=dice.uniform(0.01, 1.5))) for _ in range(size("INSTANTS", 1000))]
        work = dice.sample(work, min(len(work), size("KILLS", len(work))))
        violations = 0
        for done, violation in enumerate(pool.imap_unordered(_kill, work), 1):
            if violation:
                violations += 1
                print(violation)
            progress(done, len(work), f"kills, {violations} violations")
    return {"kill_points": len(work), "kill_violations": violations}


def _begin(root: str) -> None:
    """Makes the subjects of this process, whose striker ends with it."""
    folder = Path(tempfile.mkdtemp(dir=root))
    tempfile.tempdir = str(folder)
    striker = Striker()
    for name, make in (("paper", _paper), ("command", the_command)):
        (folder / name).mkdir()
        SUBJECTS[name] = make(striker, folder / name)


def _paper(striker: Striker, folder: Path) -> Subject:
    return Subject(striker, folder, program="paper_tournament")


def _calls(subject: str) -> int:
    return SUBJECTS[subject].whole.calls


def _kill(task: tuple[str, Strike]) -> str:
    """What was violated, in words; empty where nothing was."""
    subject, strike = task
    try:
        SUBJECTS[subject].strike(strike)
    except Exception:  # noqa: BLE001 - any is a violation
        return f"{subject} {strike}\n{traceback.format_exc()}"
    return ""
