"""One stream to the arena."""

from __future__ import annotations

from collections.abc import Iterator
from queue import SimpleQueue
from types import TracebackType
from typing import Self

import grpc

from arena.v1 import referee_pb2_grpc
from arena.v1.referee_pb2 import PlayRequest, PlayResponse

OPTIONS: tuple[tuple[str, int], ...] = (
    # An arena is dialled directly: a proxy of the environment is meant for the web and would break a local socket.
    ("grpc.enable_http_proxy", 0),
    # Every stream connects anew: a shared subchannel would make it wait out the last failure's backoff.
    ("grpc.use_local_subchannel_pool", 1),
    # The session resumes games itself; gRPC cannot repeat a stream.
    ("grpc.enable_retries", 0),
    # A frozen or vanished arena is noticed after 15 s; the arena forbids pings closer than 4 s.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.http2.ping_timeout_ms", 5_000),
    # A game without a message for minutes (the opponent thinks) must not end the pings.
    ("grpc.http2.max_pings_without_data", 0),
    # What the arena accepts; the SDK bounds every text below it.
    ("grpc.max_send_message_length", 64 * 1024),
    # A resumed game carries all its plies; more than this is a fault.
    ("grpc.max_receive_message_length", 1024 * 1024),
)


def channel(address: str, roots: bytes | None) -> grpc.Channel:
    """A channel with our options; plain where there are no roots."""
    if roots is None:
        return grpc.insecure_channel(address, options=OPTIONS)
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(roots or None), options=OPTIONS)


class Stream:
    """An open ``Play`` call: iterate over what the arena says; ``send`` from any thread. A context manager.

    Args:
        address: ``unix:/path`` or ``host:port``.
        token: who this bot is.
        hello: the first request.
        roots: certificates, PEM, one of which must vouch for the arena; None: the wire is plain.
    """

    def __init__(self, address: str, token: str, hello: PlayRequest, roots: bytes | None = None) -> None:
        self._requests: SimpleQueue[PlayRequest | None] = SimpleQueue()
        self._requests.put(hello)
        self._channel = channel(address, roots)
        self._call = referee_pb2_grpc.RefereeStub(self._channel).Play(
            iter(self._requests.get, None), metadata=(("authorization", f"Bearer {token}"),)
        )

    def send(self, request: PlayRequest) -> None:
        """Queues a request; lost if the stream is."""
        self._requests.put(request)

    def __iter__(self) -> Iterator[PlayResponse]:
        """What the arena says, until it ends the stream; raises grpc.RpcError when it breaks."""
        return iter(self._call)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._call.cancel()
        self._requests.put(None)  # ends gRPC's thread that waits for requests
        self._channel.close()
        # Its finalizer takes a lock. At the end of the process a thread of gRPC may have died with it.
        del self._call
