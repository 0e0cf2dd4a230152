"""How much is measured, and commands that are measured."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from command import start  # tests/support


def size(name: str, usual: int) -> int:
    """The number that the environment gives, or the usual one."""
    return int(os.environ.get(name, "") or usual)


@contextmanager
def running(*arguments: str, cwd: Path, **more: str) -> Iterator[subprocess.Popen[str]]:
    """An `arena` command that must succeed, and does not outlive us."""
    process = start(*arguments, cwd=cwd, **more)
    try:
        yield process
        _, errors = process.communicate()
    finally:
        process.kill()
        process.communicate()
    if process.returncode:
        raise RuntimeError(errors)
