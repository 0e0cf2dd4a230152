"""Every test here leaves no process and no socket behind."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import processes_of


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Gives the command a temporary folder of its own, and looks what is left."""
    with tempfile.TemporaryDirectory(prefix="t") as sockets:  # short: a socket's path is bounded
        monkeypatch.setenv("TMPDIR", sockets)
        yield
        deadline = time.monotonic() + 5
        while left := list(processes_of(tmp_path)):
            assert time.monotonic() < deadline, f"left running: {left}"
            time.sleep(0.05)
        assert not list(Path(sockets).glob("arena-*")), "a socket is left behind"
