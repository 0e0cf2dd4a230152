"""Disks that are full, broken or read-only (F5): a clear error, exit code 3, and resumed once mended."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from kills import Subject, leaderboard, recorded, rotated
from requirements import missing, require
from striking import Ran, Strike

pytestmark = pytest.mark.timeout(400)  # many commands, and the machine may be busy

SAID = {errno.ENOSPC: ("is full: ", "No space left on device"), errno.EIO: ("the disk failed", "Input/output error")}


@pytest.mark.parametrize("error", SAID, ids=lambda error: errno.errorcode[error])
def test_an_error_at_any_step(paper: Subject, error: int) -> None:
    for at in rotated(paper.whole.calls, 40):
        for lasting in (False, True):
            (failed,) = paper.strike(Strike(at, error, lasting))
            check_error(failed, error, at)


@pytest.mark.parametrize("error", SAID, ids=lambda error: errno.errorcode[error])
def test_the_command_stops_at_an_error(command: Subject, error: int) -> None:
    for at in rotated(command.whole.calls, 40):
        (failed,) = command.strike(Strike(at, error, lasting=True))
        check_error(failed, error, at)


def check_error(failed: Ran, error: int, at: int) -> None:
    """One line and exit code 3; but a call that does not matter, such as the removal of a file, may fail unnoticed."""
    assert failed.code in (0, 3), f"at step {at}: {failed}"
    assert "Traceback" not in failed.err, f"at step {at}: {failed}"
    if failed.code:
        (line,) = [line for line in failed.err.splitlines() if line.startswith("arena: ")]
        assert any(words in line for words in SAID[error]), f"at step {at}: {failed}"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, with little room."""
    place = tmp_path / "disk"
    place.mkdir()
    done = mount("-t", "tmpfs", "-o", "size=64k", "arena-test", str(place))
    if done.returncode:
        missing("mount", f"may not mount here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run([require("umount"), "--lazy", place], check=True)


def mount(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([require("mount"), *arguments], capture_output=True, text=True, check=False)


def test_a_disk_that_is_really_full(command: Subject, disk: Path) -> None:
    """It grows until all fits: at every size the command stops where it must, and goes on from there."""
    codes = []
    for size in ("120k", "200k", "300k", "8m"):
        assert mount("-o", f"remount,size={size}", str(disk)).returncode == 0
        ran = command.run(disk)
        codes.append(ran.code)
        check_error(ran, errno.ENOSPC, ran.calls)
        recorded(command.copied(disk))
    assert codes[0] == 3
    assert codes[-1] == 0
    assert recorded(disk) == command.games
    assert leaderboard(disk) == command.board


def test_a_disk_that_is_read_only(command: Subject, disk: Path) -> None:
    assert mount("-o", "remount,size=8m", str(disk)).returncode == 0
    torn = command.run(disk, Strike(command.whole.calls - 30))
    assert torn.code == -9
    assert mount("-o", "remount,ro", str(disk)).returncode == 0
    refused = command.run(disk)
    assert refused.code == 3
    assert refused.err.startswith("arena: the disk is read-only: arena.db - ")
    assert mount("-o", "remount,rw", str(disk)).returncode == 0
    assert command.run(disk).code == 0
    assert leaderboard(disk) == command.board
