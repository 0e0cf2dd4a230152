"""HTTP/2 as an attacker speaks it: frames on a plain socket, also such as no library would send."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

from hpack import Encoder, NeverIndexedHeaderTuple
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    Frame,
    HeadersFrame,
    PingFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
NO_WINDOW = {SettingsFrame.INITIAL_WINDOW_SIZE: 0}
"""Settings of a client that grants nothing."""
CHUNK = 1 << 16
PREFIX = 5
"""Bytes before a gRPC message: whether it is compressed, and its length."""
Header = tuple[str, str]


def block(path: str, more: Iterable[Header] = (), token: str = "") -> bytes:
    """The headers of a gRPC call, which may be sent again and again: they leave nothing in the other's table."""
    bearer = [("authorization", f"Bearer {token}")] if token else []
    headers = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "arena"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        *bearer,
        *more,
    ]
    return bytes(Encoder().encode([NeverIndexedHeaderTuple(*header) for header in headers]))


def message(content: bytes, claimed: int | None = None) -> bytes:
    """A gRPC message, which may claim to be longer than it is."""
    return b"\0" + (len(content) if claimed is None else claimed).to_bytes(4, "big") + content


def messages(frames: Iterable[Frame]) -> Iterator[bytes]:
    """The gRPC messages that come with the frames of a call."""
    pending = b""
    for one in frames:
        pending += one.data if isinstance(one, DataFrame) else b""
        while len(pending) >= PREFIX and len(pending) >= (end := PREFIX + int.from_bytes(pending[1:PREFIX], "big")):
            yield pending[PREFIX:end]
            pending = pending[end:]


def headers(stream: int, content: bytes, *flags: str) -> HeadersFrame:
    """With END_HEADERS unless other flags are given."""
    return HeadersFrame(stream, content, flags=flags or ("END_HEADERS",))


def continuation(stream: int, content: bytes, *flags: str) -> ContinuationFrame:
    """One of any number."""
    return ContinuationFrame(stream, content, flags=flags)


def data(stream: int, content: bytes, *, last: bool = True) -> DataFrame:
    """Of a call's request."""
    return DataFrame(stream, content, flags=("END_STREAM",) if last else ())


def reset(stream: int) -> RstStreamFrame:
    """Cancels a call."""
    return RstStreamFrame(stream, error_code=8)


def frame(kind: int, length: int, flags: int = 0, stream: int = 0) -> bytes:
    """The head of a frame of any kind that claims any length."""
    return length.to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big")


class Peer:
    """One connection; a context manager. Whatever the server does to it is an end, not an error.

    Args:
        address: ``host:port``.
        settings: the client's; None: it does not even greet.

    Attributes:
        ended: whether the server has closed it.
    """

    def __init__(self, address: str, settings: dict[int, int] | None = {}) -> None:  # noqa: B006 - never changed
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=10)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._pending = b""
        self.ended = False
        if settings is not None:
            self.send(PREFACE, SettingsFrame(0, settings))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the connection up."""
        self._socket.close()

    def send(self, *parts: Frame | bytes) -> bool:
        """Sends frames, or any bytes; False once the server has closed or takes nothing more."""
        wanted = b"".join(part if isinstance(part, bytes) else part.serialize() for part in parts)
        try:
            self._socket.sendall(wanted)
        except OSError:
            self.ended = True
        return not self.ended

    def frames(self, seconds: float) -> Iterator[Frame]:
        """What the server sends in that time, or until it closes."""
        ends = time.monotonic() + seconds
        while not self.ended and (left := ends - time.monotonic()) > 0:
            self._take(left)
            yield from self._whole()

    def drain(self) -> None:
        """Takes what is there, and looks at none of it."""
        self._pending = b""
        self._take(0.0)

    def polite(self, seconds: float) -> Iterator[Frame]:
        """As ``frames``, but greetings and pings are answered: such a connection is alive."""
        for one in self.frames(seconds):
            if isinstance(one, SettingsFrame) and "ACK" not in one.flags:
                self.send(SettingsFrame(0, flags=("ACK",)))
            elif isinstance(one, PingFrame) and "ACK" not in one.flags:
                self.send(PingFrame(0, one.opaque_data, flags=("ACK",)))
            yield one

    def is_closed_within(self, seconds: float) -> bool:
        """Whether the server ends the connection in that time."""
        for _ in self.frames(seconds):
            pass
        return self.ended

    def _take(self, seconds: float) -> None:
        self._socket.settimeout(max(seconds, 0.001))
        try:
            got = self._socket.recv(CHUNK)
        except TimeoutError:
            return
        except OSError:
            got = b""
        finally:
            self._socket.settimeout(10)
        self.ended = self.ended or not got
        self._pending += got

    def _whole(self) -> Iterator[Frame]:
        while len(self._pending) >= 9:
            found, length = Frame.parse_frame_header(memoryview(self._pending[:9]))
            if len(self._pending) < 9 + length:
                return
            found.parse_body(memoryview(self._pending[9 : 9 + length]))
            self._pending = self._pending[9 + length :]
            yield found


@contextmanager
def crowd(address: str, size: int, settings: dict[int, int] | None = {}) -> Iterator[Sequence[Peer]]:  # noqa: B006 - likewise
    """Many connections; fewer where the server takes no more."""
    peers: list[Peer] = []
    try:
        with suppress(OSError):
            for _ in range(size):
                peers.append(Peer(address, settings))  # noqa: PERF401 - what there is must be closed
        yield peers
    finally:
        for peer in peers:
            peer.close()


def window(stream: int, size: int) -> WindowUpdateFrame:
    """Grants so many bytes more."""
    return WindowUpdateFrame(stream, window_increment=size)
