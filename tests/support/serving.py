"""A real query server beside a test: in a thread of its own, on a Unix socket."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc

from arena.v1 import leaderboard_pb2_grpc
from arena_server.service.leaderboard import Leaderboard
from arena_server.store import Store
from arena_server.wire.options import channel_arguments

GENEROUS_S = 20.0
"""A statement's limit where a test is not about it: the machine may be busy."""


@contextmanager
def served(store: Store, **options: Any) -> Iterator[str]:
    """The address of a server of that store; options as those of the service."""
    with TemporaryDirectory(prefix="q", dir="/tmp") as folder:
        address, ready, done = f"unix:{Path(folder) / 'socket'}", threading.Event(), threading.Event()
        thread = threading.Thread(target=lambda: asyncio.run(_serve(store, address, ready, done, options)))
        thread.start()
        try:
            assert ready.wait(60)
            yield address
        finally:
            done.set()
            thread.join()


async def _serve(
    store: Store, address: str, ready: threading.Event, done: threading.Event, options: dict[str, Any]
) -> None:
    server = grpc.aio.server(options=channel_arguments())
    service = Leaderboard(store, **{"statement_s": GENEROUS_S, **options})
    leaderboard_pb2_grpc.add_LeaderboardServicer_to_server(service, server)
    server.add_insecure_port(address)
    await server.start()
    ready.set()
    while not done.is_set():
        await asyncio.sleep(0.02)
    await server.stop(None)
    service.close()
