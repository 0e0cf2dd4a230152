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
STREAM_LOST = (grpc.RpcError, grpc.aio.BaseError, asyncio.InvalidStateError)
"""What reading and writing raise on a stream that is gone."""


async def next_request(stream: Stream) -> pb.PlayRequest | None:
    """What the bot says next; None at the end of the stream, however it ended."""
    try:
        data: object = await stream.read()
    except STREAM_LOST:
        return None
    try:
        return pb.PlayRequest.FromString(data) if isinstance(data, bytes) else None
    except DecodeError:
        return GARBLED


async def write(stream: Stream, data: bytes) -> bool:
    """Sends a serialised PlayResponse; False where the stream is gone."""
    try:
        await stream.write(data)
    except STREAM_LOST:
        return False
    return True


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
        self._reading: asyncio.Task[None] | None = None
        self.games: dict[str, Listener] = {}
        self.hello: pb.Hello | None = None
        self.arrived: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._stream: Stream | None = None
        self._writing = asyncio.Lock()

    @property
    def connected(self) -> bool:
        """Whether there is a stream."""
        return self._stream is not None

    async def send(self, data: bytes) -> bool:
        """Sends a serialised PlayResponse; False where there is no stream to send it on.

        A write blocks only on a peer that does not read: keepalive ends such a stream within ten seconds.
        """
        stream = self._stream
        if stream is None:
            return False
        async with self._writing:
            sent = await write(stream, data)
        if not sent:
            self._detach(stream)
        return sent

    async def serve(self, stream: Stream, hello: pb.Hello, welcome: bytes) -> None:
        """Reads the stream until it ends; a newer stream of the same bot takes the place of an older one."""
        replaced, self._stream, self.hello = self._stream, stream, hello
        self.leaving = False
        try:
            if replaced is not None:
                self._replace(replaced)
            await self.send(welcome)
            self.arrive()
            for listener in self._listeners:
                listener.returned()
            self._changed()
            self._reading = reading = asyncio.ensure_future(self._read(stream))
            try:
                await asyncio.wait([reading])
            finally:
                reading.cancel()
        finally:
            self._detach(stream)

    async def end(self, goodbye: bytes) -> None:
        """Says Goodbye and closes the stream, if there is one."""
        stream, reading = self._stream, self._reading
        if await self.send(goodbye) and self._stream is stream and reading is not None:
            reading.cancel()

    def _replace(self, stream: Stream) -> None:
        """Ends an older stream: told in a task of its own, since its reader may be frozen."""
        for listener in self._listeners:
            listener.lost()
        if self._reading is not None:
            farewell = asyncio.ensure_future(_replaced(stream, self._reading))
            farewell.add_done_callback(lambda done: done.cancelled() or done.exception())

    def arrive(self, refusal: str = "") -> None:
        """The bot has said Hello, and may play unless a reason is given."""
        if not self.arrived.done():
            self.arrived.set_result(refusal)

    @property
    def _listeners(self) -> list[Listener]:
        return list(self.games.values())

    async def _read(self, stream: Stream) -> None:
        while (request := await next_request(stream)) is not None:
            at = time.monotonic()
            if self._stream is not stream:
                return  # it was replaced meanwhile
            self._dispatch(request, at)

    def _dispatch(self, request: pb.PlayRequest, at: float) -> None:
        kind = request.WhichOneof("message")
        if kind is None or kind == "hello":
            for listener in self._listeners:
                listener.malformed(_senseless(request))
            return
        if kind == "leave":
            self.leaving = True
            self._changed()
            return
        message: GameMessage = getattr(request, kind)
        addressed = self.games.get(message.handle)
        if addressed is not None:
            addressed.received(message, at)

    def _detach(self, stream: Stream) -> None:
        if self._stream is stream:
            self._stream = None
            for listener in self._listeners:
                listener.lost()
            self._changed()


def _senseless(request: pb.PlayRequest) -> str:
    """What is wrong with a message that no game can take."""
    if request is GARBLED:
        return "bytes that are no PlayRequest"
    return "a second Hello" if request.HasField("hello") else "an empty message"


async def _replaced(stream: Stream, reading: asyncio.Task[None]) -> None:
    goodbye = pb.Goodbye(code=pb.GOODBYE_CODE_REPLACED, text="another process came with this bot's token")
    await write(stream, pb.PlayResponse(goodbye=goodbye).SerializeToString())
    reading.cancel()
