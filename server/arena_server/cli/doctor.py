"""`arena doctor`: what this machine gives, and what to do where it does not."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import asdict, dataclass

import typer

from arena_server.cli.options import AsJson


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        state: ``good``, ``slower`` (works, but not at its best) or ``bad``.
        fix: what to do; empty where it is good.
    """

    what: str
    state: str
    found: str
    fix: str = ""


def doctor(*, as_json: AsJson = False) -> None:
    """Look at what the arena needs from this machine."""
    from arena_server.cli.output import show_json

    findings = [_python(), _system(), _cores(), _engine(), _loop(), _sockets(), _keeper()]
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            fix = f" - {finding.fix}" if finding.fix else ""
            print(f"{finding.state:7} {finding.what:16} {finding.found}{fix}")
    if any(finding.state == "bad" for finding in findings):
        raise typer.Exit(1)


def _python() -> Finding:
    return Finding("Python", "good", f"{platform.python_version()}, {sys.executable}")


def _system() -> Finding:
    found = f"{platform.system()} {platform.release()}"
    if sys.platform == "linux":
        return Finding("system", "good", found)
    return Finding("system", "bad", found, "tournaments need Linux; engine and SDK work here")


def _cores() -> Finding:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores > 1:
        return Finding("cores", "good", str(cores))
    return Finding("cores", "slower", "1", "bots and the referee share it: give longer time limits")


def _engine() -> Finding:
    from arena_engine.patchwork import core

    if core.ENGINE == "compiled":
        return Finding("Patchwork engine", "good", "compiled")
    return Finding("Patchwork engine", "slower", "pure Python", core.WHY_PURE)


def _loop() -> Finding:
    from importlib.util import find_spec

    if find_spec("uvloop"):
        return Finding("event loop", "good", "uvloop")
    return Finding("event loop", "slower", "asyncio", "pip install uvloop")


def _sockets() -> Finding:
    import shutil
    import tempfile

    try:
        folder = tempfile.mkdtemp(prefix="arena-")
    except OSError as error:
        return Finding("sockets", "bad", str(error), "set TMPDIR to a folder that can be written")
    shutil.rmtree(folder)
    longest = 90  # bytes: a socket's path may have 107, and its name comes behind
    if len(os.fsencode(folder)) > longest:
        return Finding("sockets", "bad", folder, "its path is too long for a socket: set TMPDIR to a shorter one")
    return Finding("sockets", "good", f"Unix, in {os.path.dirname(folder)}")  # noqa: PTH120 - a text, to be shown


def _keeper() -> Finding:
    """Starts a process the way bots are started."""
    import asyncio
    from pathlib import Path

    from arena_server.launching.processes import Keeper
    from arena_server.model import ArenaError

    async def start() -> None:
        keeper = Keeper.start()
        try:
            await keeper.attach()
            process = await keeper.spawn([sys.executable, "-c", ""], Path.cwd(), {})
            await asyncio.wait([process.exited], timeout=10)
        finally:
            await keeper.close()

    try:
        asyncio.run(start())
    except ArenaError as error:
        return Finding("bot processes", "bad", f"{error.what}: {error.value}", error.fix)
    return Finding("bot processes", "good", "start and stop")
