"""What a run runs with, and its contract does not say: versions, the machine, how it was called."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arena_engine.game import Game
from arena_server.text import without_passwords

_PACKAGES = {"arena": "patchwork-arena", "grpc": "grpcio", "protobuf": "protobuf", "trueskill": "trueskill"}


def facts(game: Game, command: Sequence[str], run: Mapping[str, Any]) -> dict[str, Any]:
    """What is stored with a run.

    Args:
        game: what is played.
        command: the command line.
        run: what this run alone was asked for: concurrency, restarts, transport.
    """
    return {
        **run,
        "command": [without_passwords(word) for word in command],
        "versions": {
            "python": platform.python_version(),
            **{name: metadata.version(package) for name, package in _PACKAGES.items()},
            "event_loop": "uvloop" if find_spec("uvloop") else "asyncio",
            "engine": game.engine,
        },
        "machine": {
            "system": f"{platform.system()} {platform.release()}",
            "processor": _processor(),
            "cores": len(os.sched_getaffinity(0)),
            "memory_mb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20,
        },
    }


def command_line() -> list[str]:
    """How this program was called."""
    return ["arena", *sys.argv[1:]]


def _processor() -> str:
    """The model's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
