"""The `arena` command as a user runs it, and the bots that tests give it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena_server.store import Store, queries
from arena_server.store.verify import verify

FIRST_LEGAL = "return state.legal_moves()[0]"
ARENA = [sys.executable, "-c", "from arena_server.cli import main; main()"]

FIRST = """
    from arena_sdk import Bot

    class First(Bot):
        def choose(self, state, clock):
            {body}

    if __name__ == "__main__":
        First.main()
"""


def environment(**more: str) -> dict[str, str]:
    """Ours, without what would change what a command does."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ARENA_") or key == "ARENA_REQUIRE"}
    return {**kept, "COLUMNS": "120", **more}


def arena(*arguments: str, cwd: Path, timeout: float = 60, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end."""
    return subprocess.run(
        [*ARENA, *arguments],
        cwd=cwd,
        env=environment(**more),
        timeout=timeout,
        capture_output=True,
        text=True,
        check=False,
    )


def start(*arguments: str, cwd: Path, **more: str) -> subprocess.Popen[str]:
    """Starts a command in a process group of its own."""
    return subprocess.Popen(
        [*ARENA, *arguments],
        cwd=cwd,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def games(cwd: Path) -> list[dict[str, Any]]:
    """All records of the tournament played last, once the whole of it is verified."""
    with Store.open(str(cwd / "arena.db"), create=False) as store:
        tournament = queries.tournament(store, None)
        report = verify(store, tournament)
        assert report.ok, report.problems
        return [record.as_dict() for record in queries.export(store, tournament)]


def bot(folder: Path, name: str, body: str = FIRST_LEGAL) -> str:
    """A bot in one file whose `choose` is that body; returns its path."""
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(FIRST).format(body=textwrap.indent(textwrap.dedent(body), " " * 8).strip()))
    return str(path)


def script(folder: Path, name: str, text: str, manifest: str = "") -> str:
    """A bot in a folder with a manifest of its own; returns the folder."""
    home = folder / name
    home.mkdir()
    (home / "bot.py").write_text(textwrap.dedent(text))
    lines = f'name = "{name}"\nversion = "1"\ncommand = ["python", "bot.py"]\n' if "command" not in manifest else ""
    (home / "bot.toml").write_text(lines + textwrap.dedent(manifest))
    return str(home)


@contextmanager
def nothing_left(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Gives commands a temporary folder of their own, and looks for what they leave there or running."""
    with tempfile.TemporaryDirectory(prefix="t") as sockets:  # short: a socket's path is bounded
        monkeypatch.setenv("TMPDIR", sockets)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield
        deadline = time.monotonic() + 5
        while left := list(processes_of(folder)):
            assert time.monotonic() < deadline, f"left running: {left}"
            time.sleep(0.05)
        assert not list(Path(sockets).glob("arena-*")), "a socket is left behind"


def processes_of(folder: Path) -> Iterator[psutil.Process]:
    """Every process that runs in or below a folder, or was told its path."""
    for process in psutil.process_iter():
        try:
            told = any(str(folder) in word for word in process.cmdline())
            if process.pid != os.getpid() and (told or Path(process.cwd()).is_relative_to(folder)):
                yield process
        except (psutil.Error, OSError):
            continue
