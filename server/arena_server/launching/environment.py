"""The environment of a bot process: what it needs, and nothing of ours."""

from __future__ import annotations

import os

from arena_server.launching.bots import Bot

EVENT_ENGINE_OFF = "-event_engine_client,-event_engine_listener"
"""Halves the cost of a move in a Python bot; gRPC may rename these, so they are tested, and never needed."""

_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR")
_FIXED = {
    "PYTHONUNBUFFERED": "1",  # what a crashing bot printed is seen
    "PYTHONHASHSEED": "0",  # a deterministic bot is deterministic
    "GRPC_ENABLE_FORK_SUPPORT": "0",  # else a bot that starts a process gets warnings
    "GRPC_EXPERIMENTS": EVENT_ENGINE_OFF,
    # A bot has one core, however many it sees.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}


def environment(bot: Bot, address: str, token: str) -> dict[str, str]:
    """All variables of a bot's process.

    Args:
        bot: who is started.
        address: where the referee listens, as gRPC reads it.
        token: what this one process is known by.
    """
    passed_on = {key: value for key, value in os.environ.items() if key in _PASSED_ON or key.startswith("LC_")}
    return {
        **passed_on,
        **_FIXED,
        "ARENA_ADDRESS": address,
        "ARENA_TOKEN": token,
        "ARENA_BOT": bot.manifest.name,
        "ARENA_VERSION": bot.manifest.version,
        "ARENA_GAMES_AT_ONCE": str(bot.manifest.games_at_once),
    }
