"""The session of one bot process, over however many streams it takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

import grpc
from google.protobuf.message import DecodeError

from arena.v1 import referee_pb2 as pb
from arena_server.model import Option

GameMessage = pb.Ready | pb.Move | pb.Failure | pb.Resign
Stream = grpc.aio.ServicerContext[bytes, bytes]

GARBLED = pb.PlayRequest()
"""Stands for bytes that are no PlayRequest."""
SEND_S = 5.0
"""Seconds that a bot has to take a message: it may answer pings and still grant no window. Then its stream is lost."""
STREAM_LOST = (grpc.RpcError, grpc.aio.BaseError, asyncio.InvalidStateError)
"""What reading and writing raise on a stream that is gone."""


class Line:
    """One stream of a bot.

    Attributes:
        reading: the task that reads it, once there is one.
    """

    def __init__(self, stream: Stream) -> None:
        self.reading: asyncio.Task[None] | None = None
        self._stream = stream
        self._writing = asyncio.Lock()
        self._is_stuck = False

    async def read(self) -> pb.PlayRequest | None:
        """What the bot says next; None at the end of the stream, however it ended."""
        try:
            data: object = await self._stream.read()
        except STREAM_LOST:
            return None
        try:
            return pb.PlayRequest.FromString(data) if isinstance(data, bytes) else None
        except DecodeError:
            return GARBLED

    async def write(self, data: bytes) -> bool:
        """Sends a serialised PlayResponse; False where the stream is gone, or the bot takes nothing."""
        try:
            async with asyncio.timeout(SEND_S), self._writing:
                if self._is_stuck:
                    return False
                await self._stream.write(data)
        except STREAM_LOST:
            return False
        except TimeoutError:
            self._is_stuck = True
            self.end()
            return False
        return True

    def end(self) -> None:
        """Reads no more, which ends the stream."""
        if self.reading is not None:
            self.reading.cancel()


class Listener(Protocol):
    """Who plays a game over a session: told about one handle."""

    def received(self, message: GameMessage, at: float) -> None:
        """A message for this game came in at that monotonic instant."""

    def malformed(self, reason: str) -> None:
        """The bot sent what makes no sense."""

    def lost(self) -> None:
        """The stream broke."""

    def returned(self) -> None:
        """There is a new stream."""


class Session:
    """One bot process as the arena talks to it.

    Attributes:
        games: who listens, by handle; messages with other handles are dropped.
        hello: what it said of itself, once it has.
        leaving: whether it has asked for no more games.
        arrived: done at the first Hello, with the reason why it was refused or an empty text.
    """

    def __init__(
        self, bot: str, options: tuple[tuple[str, Option], ...], changed: Callable[[], None] = lambda: None
    ) -> None:
        self.bot = bot
        self.options = options
        self.leaving = False
        self._changed = changed
        self.games: dict[str, Listener] = {}
        self.hello: pb.Hello | None = None
        self.arrived: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._line: Line | None = None

    @property
    def connected(self) -> bool:
        """Whether there is a stream."""
        return self._line is not None

    async def send(self, data: bytes) -> bool:
        """Sends a serialised PlayResponse; False where there is no stream to send it on."""
        line = self._line
        return line is not None and await self._send(line, data)

    async def _send(self, line: Line, data: bytes) -> bool:
        sent = await line.write(data)
        if not sent:
            self._detach(line)
        return sent

    async def serve(self, line: Line, hello: pb.Hello, welcome: bytes) -> None:
        """Reads a stream until it ends; a newer one of the same bot takes the place of an older one."""
        replaced, self._line, self.hello = self._line, line, hello
        self.leaving = False
        try:
            if replaced is not None:
                self._replace(replaced)
            if not await self._send(line, welcome) or self._line is not line:
                return
            self.arrive()
            for listener in self._listeners:
                listener.returned()
            self._changed()
            line.reading = reading = asyncio.ensure_future(self._read(line))
            try:
                await asyncio.wait([reading])
            finally:
                reading.cancel()
        finally:
            self._detach(line)

    async def end(self, goodbye: bytes) -> None:
        """Says Goodbye and closes the stream, if there is one."""
        line = self._line
        if line is not None and await self._send(line, goodbye):
            line.end()

    def _replace(self, line: Line) -> None:
        """Ends an older stream: told in a task of its own, since its reader may be frozen."""
        for listener in self._listeners:
            listener.lost()
        farewell = asyncio.ensure_future(_replaced(line))
        farewell.add_done_callback(lambda done: done.cancelled() or done.exception())

    def arrive(self, refusal: str = "") -> None:
        """The bot has said Hello, and may play unless a reason is given."""
        if not self.arrived.done():
            self.arrived.set_result(refusal)

    @property
    def _listeners(self) -> list[Listener]:
        return list(self.games.values())

    async def _read(self, line: Line) -> None:
        while (request := await line.read()) is not None:
            at = time.monotonic()
            if self._line is not line:
                return  # it was replaced meanwhile
            self._dispatch(request, at)

    def _dispatch(self, request: pb.PlayRequest, at: float) -> None:
        kind = request.WhichOneof("message")
        if kind is None or kind == "hello":
            for listener in self._listeners:
                listener.malformed(_senseless(request))
            return
        if kind == "leave":
            if not self.leaving:
                self.leaving = True
                self._changed()
            return
        message: GameMessage = getattr(request, kind)
        addressed = self.games.get(message.handle)
        if addressed is not None:
            addressed.received(message, at)

    def _detach(self, line: Line) -> None:
        if self._line is line:
            self._line = None
            for listener in self._listeners:
                listener.lost()
            self._changed()


def _senseless(request: pb.PlayRequest) -> str:
    """What is wrong with a message that no game can take."""
    if request is GARBLED:
        return "bytes that are no PlayRequest"
    return "a second Hello" if request.HasField("hello") else "an empty message"


async def _replaced(line: Line) -> None:
    goodbye = pb.Goodbye(code=pb.GOODBYE_CODE_REPLACED, text="another process came with this bot's token")
    await line.write(pb.PlayResponse(goodbye=goodbye).SerializeToString())
    line.end()
