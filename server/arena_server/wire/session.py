"""The session of one bot process, over however many streams it takes."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol

import grpc
from google.protobuf.message import DecodeError

from arena.v1 import referee_pb2 as pb

GameMessage = pb.Ready | pb.Move | pb.Failure | pb.Resign
Stream = grpc.aio.ServicerContext[bytes, bytes]

GARBLED = pb.PlayRequest()
"""Stands for bytes that are no PlayRequest."""
SEND_S = 5.0
"""Seconds that a bot has to take a message: it may answer pings and still grant no window. Then its stream is lost."""
STREAM_LOST = (grpc.RpcError, grpc.aio.BaseError, asyncio.InvalidStateError)
"""What reading and writing raise on a stream that is gone."""
_REPLACED = pb.PlayResponse(
    goodbye=pb.Goodbye(code=pb.GOODBYE_CODE_REPLACED, text="another process came with this bot's token")
).SerializeToString()


class Outgoing(NamedTuple):
    """A message to a bot.

    Attributes:
        data: a serialised PlayResponse.
        leaves: called at the moment it is written, or found to be lost.
        sent: told whether it was written.
        last: whether the stream ends behind it.
    """

    data: bytes
    leaves: Callable[[], None] | None = None
    sent: asyncio.Future[bool] | None = None
    last: bool = False

    def tell(self, *, sent: bool) -> None:
        """Says so to whoever waits."""
        if self.sent is not None and not self.sent.done():
            self.sent.set_result(sent)


class Line:
    """One stream of a bot. What it is told is written by a task of its own: nobody waits for a bot that takes nothing.

    Attributes:
        over: done once it is to be read no more, which ends it.
    """

    def __init__(self, stream: Stream) -> None:
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._stream = stream
        self._waiting: deque[Outgoing] = deque()
        self._filled = asyncio.Event()
        self._is_lost = False
        self._began: float | None = None  # to write the message that is being written
        self._watch: asyncio.TimerHandle | None = None
        self._writing = asyncio.ensure_future(self._write_all())

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

    def post(self, message: Outgoing) -> None:
        """Writes it behind those that wait."""
        self._waiting.append(message)
        self._filled.set()
        if self._is_lost:
            self._lose()

    async def write(self, data: bytes) -> bool:
        """Sends a serialised PlayResponse; False where the stream is gone, or the bot takes nothing."""
        sent: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.post(Outgoing(data, sent=sent))
        return await sent

    def close(self) -> None:
        """Writes no more."""
        self._writing.cancel()
        if self._watch is not None:
            self._watch.cancel()
        self._lose()

    async def _write_all(self) -> None:
        while await self._filled.wait():
            self._filled.clear()
            while self._waiting:
                await self._write(self._waiting.popleft())

    async def _write(self, message: Outgoing) -> None:
        if message.leaves is not None:
            message.leaves()
        self._began = asyncio.get_running_loop().time()
        if self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(SEND_S, self._look)
        try:
            await self._stream.write(message.data)
        except STREAM_LOST:
            self._lose()
        finally:
            self._began = None
            message.tell(sent=not self._is_lost)
        if message.last:
            self._end()

    def _look(self) -> None:
        """Whether one write has taken too long; looked at now and then, as a timer for each would cost more than it."""
        self._watch = None
        if self._began is None:
            return
        loop = asyncio.get_running_loop()
        if loop.time() < self._began + SEND_S:
            self._watch = loop.call_at(self._began + SEND_S, self._look)
        else:
            self.close()

    def _lose(self) -> None:
        """What waits, and will, leaves for nowhere."""
        self._is_lost = True
        self._end()
        while self._waiting:
            message = self._waiting.popleft()
            if message.leaves is not None:
                message.leaves()
            message.tell(sent=False)

    def _end(self) -> None:
        if not self.over.done():
            self.over.set_result(None)


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

    Args:
        welcome: what answers each Hello.
        changed: called whenever it comes, goes, or asks for no more games.

    Attributes:
        games: who listens, by handle; messages with other handles are dropped.
        hello: what it said of itself, once it has.
        leaving: whether it has asked for no more games.
        arrived: done at the first Hello, with the reason why it was refused or an empty text.
    """

    def __init__(self, welcome: pb.Welcome, changed: Callable[[], None] = lambda: None) -> None:
        self._welcome = pb.PlayResponse(welcome=welcome).SerializeToString()
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

    def post(self, data: bytes, leaves: Callable[[], None] = lambda: None) -> None:
        """Sends a serialised PlayResponse behind those that wait; it is lost where the stream is.

        Args:
            data: the message.
            leaves: called at the moment it is written, or found to be lost: then a clock may start.
        """
        if self._line is not None:
            self._line.post(Outgoing(data, leaves))
        else:
            leaves()

    async def send(self, data: bytes) -> bool:
        """Sends a serialised PlayResponse and waits until it is written; False where there is no stream to write on."""
        line = self._line
        return line is not None and await line.write(data)

    async def serve(self, line: Line, hello: pb.Hello) -> None:
        """Reads a stream until it ends; a newer one of the same bot takes the place of an older one."""
        replaced, self._line, self.hello = self._line, line, hello
        self.leaving = False
        try:
            if replaced is not None:
                self._replace(replaced)
            if not await line.write(self._welcome):
                return
            if self._line is line:
                self.arrive()
                for listener in self._listeners:
                    listener.returned()
                self._changed()
            reading = asyncio.ensure_future(self._read(line))
            try:
                await asyncio.wait([reading, line.over], return_when=asyncio.FIRST_COMPLETED)
            finally:
                reading.cancel()
        finally:
            self._detach(line)

    def end(self, goodbye: bytes) -> None:
        """Says Goodbye and closes the stream, if there is one; it is gone at once for everybody here."""
        line = self._line
        if line is not None:
            line.post(Outgoing(goodbye, last=True))
            self._detach(line)

    def _replace(self, line: Line) -> None:
        """Ends an older stream."""
        for listener in self._listeners:
            listener.lost()
        line.post(Outgoing(_REPLACED, last=True))

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
            if self._line is line:  # or its Goodbye is on the way
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
