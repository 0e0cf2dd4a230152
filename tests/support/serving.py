"""A real query server beside a test: in a thread of its own, on a Unix socket."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc

from arena.v1 import leaderboard_pb2_grpc
from arena_server.executors import Running
from arena_server.service.administration.administrator import Connected, Playing, ServerStatus
from arena_server.service.administration.office import Office
from arena_server.service.leaderboard import Leaderboard
from arena_server.store import Store
from arena_server.wire.options import channel_arguments

GENEROUS_S = 20.0
"""A statement's limit where a test is not about it: the machine may be busy."""


@contextmanager
def served(
    store: Store, *, also: str = "", credentials: grpc.ServerCredentials | None = None, **options: Any
) -> Iterator[str]:
    """The address of a server of that store; options as those of the service.

    Args:
        store: to answer from.
        also: HOST:PORT where it can be dialled, too.
        credentials: for TLS there; None: the wire is plain.
        options: of the service.
    """

    @asynccontextmanager
    async def serve(path: Path) -> AsyncIterator[None]:
        server = grpc.aio.server(options=channel_arguments())
        service = Leaderboard(store, **{"statement_s": GENEROUS_S, **options})
        leaderboard_pb2_grpc.add_LeaderboardServicer_to_server(service, server)
        server.add_insecure_port(f"unix:{path}")
        if also and credentials is not None:
            server.add_secure_port(also, credentials)
        elif also:
            server.add_insecure_port(also)
        await server.start()
        yield
        await server.stop(None)
        service.close()

    with _in_a_thread(serve) as address:
        yield address


@contextmanager
def administered(store: Store) -> Iterator[str]:
    """The address of an organiser's socket over that store, of a server that is none."""

    @asynccontextmanager
    async def serve(path: Path) -> AsyncIterator[None]:
        office = Office(path)
        office.bind()
        await office.open(store, StandIn(), StandIn())
        yield
        await office.close()

    with _in_a_thread(serve) as address:
        yield address


class StandIn:
    """For a server that runs."""

    stopping = False

    def running(self) -> list[Running]:
        return []

    def status(self) -> ServerStatus:
        return ServerStatus(
            version="1",
            season="spring",
            since="2026-11-30T00:00:00+00:00",
            addresses=("127.0.0.1:5400",),
            stopping=self.stopping,
            capacity=2,
            waiting=3,
            connections=(Connected("ada 1", 2),),
            games=(Playing("spring/17", ("ada 1", "bob 1"), 4, 12.3),),
        )

    def stop(self, *, at_once: bool = False) -> float:
        self.stopping = True
        return 0.0 if at_once else 20.0


@contextmanager
def _in_a_thread(serve: Callable[[Path], AbstractAsyncContextManager[None]]) -> Iterator[str]:
    """The address of what is served at a path."""
    with TemporaryDirectory(prefix="q", dir="/tmp") as folder:
        path, ready, done = Path(folder) / "socket", threading.Event(), threading.Event()

        async def run() -> None:
            async with serve(path):
                ready.set()
                while not done.is_set():
                    await asyncio.sleep(0.02)

        thread = threading.Thread(target=lambda: asyncio.run(run()))
        thread.start()
        try:
            assert ready.wait(60)
            yield f"unix:{path}"
        finally:
            done.set()
            thread.join()
