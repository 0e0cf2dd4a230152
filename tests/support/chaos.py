"""A bad network between bots and the arena: a proxy that delays, throttles, loses, cuts and resets, over TCP or Unix.

with Chaos("unix", lambda number: Weather(delay=0.02)) as chaos:
    path = chaos.bot(tmp_path, "far")      # a bot that dials the proxy, which dials the arena
"""

from __future__ import annotations

import asyncio
import math
import random
import socket
import struct
import tempfile
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from command import bot

CHUNK = 1 << 14

DETOUR = """\
import os
from pathlib import Path

known = Path({known!r})
mine = known.with_suffix(f".{{os.getpid()}}")
mine.write_text(os.environ["ARENA_ADDRESS"])
mine.replace(known)
os.environ["ARENA_ADDRESS"] = {address!r}
"""


@dataclass(frozen=True)
class Weather:
    """What happens to one connection.

    Attributes:
        delay: seconds that every byte is under way.
        jitter: up to so many seconds more.
        rate: bytes a second in each direction.
        reset_after: bytes from the bot after which both ends are reset.
        cut_after: bytes from the bot after which both ends are closed, in the middle of whatever it was.
        silent_after: bytes from the bot after which nothing passes any more, and nobody is told.
    """

    delay: float = 0.0
    jitter: float = 0.0
    rate: float = math.inf
    reset_after: float = math.inf
    cut_after: float = math.inf
    silent_after: float = math.inf

    @property
    def end(self) -> float:
        """Bytes from the bot that pass."""
        return min(self.reset_after, self.cut_after, self.silent_after)


@dataclass
class Chaos:
    """The proxy, in a thread of its own; a context manager.

    Args:
        transport: ``unix`` or ``tcp``: how bots dial the proxy, and it the arena.
        weather: of the connection of that number, from 0.
        target: address of the arena; by default what the bots of `bot` are told by it.

    Attributes:
        connections: so far.
    """

    transport: str
    weather: Callable[[int], Weather]
    target: str = ""
    connections: int = 0
    address: str = field(init=False)
    _passages: set[asyncio.Task[None]] = field(default_factory=set)

    def bot(self, folder: Path, name: str, body: str = "return state.legal_moves()[0]") -> str:
        """A bot in one file that dials the proxy; see `command.bot`."""
        path = Path(bot(folder, name, body))
        path.write_text(DETOUR.format(known=str(self._known), address=self.address) + path.read_text())
        return str(path)

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="c")
        self._known = Path(self._folder.name) / "arena"
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._call(self._listen())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._folder.cleanup()

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _listen(self) -> None:
        if self.transport == "unix":
            path = f"{self._folder.name}/chaos"
            self._server: asyncio.Server = await asyncio.start_unix_server(self._connected, path)
            self.address = f"unix:{path}"
        else:
            self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
            self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _close(self) -> None:
        self._server.close()
        for task in self._passages:
            task.cancel()
        await asyncio.gather(*self._passages, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._passages.add(asyncio.get_running_loop().create_task(self._connect(reader, writer)))

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        weather = self.weather(self.connections)
        self.connections += 1
        address = self.target or self._known.read_text()
        if address.startswith("unix:"):
            there = await asyncio.open_unix_connection(address.removeprefix("unix:"))
        else:
            there = await asyncio.open_connection(*address.split(":"))
        await Passage(weather, (reader, writer), there).run()


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Parcel = tuple[float, bytes]
"""Bytes, and when they arrive."""


@dataclass
class Passage:
    """One connection through the proxy."""

    weather: Weather
    bot: Ends
    arena: Ends
    silent: bool = False

    async def run(self) -> None:
        """Until either end closes, or the weather ends it; a silent one keeps both open until the proxy closes."""
        there, back = asyncio.Queue[Parcel](), asyncio.Queue[Parcel]()
        ways = [
            self._take(self.bot[0], there),
            self._give(there, self.arena[1], self.weather.end),
            self._take(self.arena[0], back),
            self._give(back, self.bot[1], math.inf),
        ]
        tasks = [asyncio.ensure_future(way) for way in ways]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._end()

    async def _take(self, reader: asyncio.StreamReader, way: asyncio.Queue[Parcel]) -> None:
        """Reads for ever: who gives sees the end."""
        clock = asyncio.get_running_loop().time
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                way.put_nowait((clock() + self.weather.delay + random.uniform(0, self.weather.jitter), data))
        if not self.silent:
            way.put_nowait((clock(), b""))
        await asyncio.Event().wait()

    async def _give(self, way: asyncio.Queue[Parcel], writer: asyncio.StreamWriter, limit: float) -> None:
        """Writes what its time has come for; ends with the connection."""
        clock, given = asyncio.get_running_loop().time, 0
        while given < limit:
            due, data = await way.get()
            await asyncio.sleep(max(due - clock(), len(data) / self.weather.rate))
            if not data:
                return
            passing = data[: int(min(limit - given, len(data)))]
            given += len(passing)
            if not self.silent:
                writer.write(passing)
                await writer.drain()
        if self.weather.silent_after < math.inf:
            self.silent = True
            await asyncio.Event().wait()

    def _end(self) -> None:
        for _, writer in (self.bot, self.arena):
            with suppress(OSError):
                if self.weather.reset_after < math.inf:
                    _reset(writer)
                writer.transport.abort()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Lets the close that follows be a reset, where there is such a thing."""
    sock: socket.socket = writer.get_extra_info("socket")
    if sock.family == socket.AF_INET:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
