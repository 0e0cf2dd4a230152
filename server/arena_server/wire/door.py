"""What every call passes before it is served: the bounds for which gRPC has no option."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from ipaddress import IPv6Address
from typing import Any, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from arena_server.wire.options import ENTRY_OVERHEAD, MAX_METADATA

MAX_CALLS = 256
"""Calls of one method at once, from everybody; bots' streams are counted by the lobby."""
MAX_OF_HOST = 16
"""Of them from one host. A client that does not take its answer keeps its place, and so keeps it from itself."""
ARRIVAL_S = 10.0
"""Seconds that a request may be on its way."""

FULL = "too many calls at once - come again later"
NETWORK = 19
"""Characters of an IPv6 address, written in full, that say the network: a /64 is one host's as a rule."""

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Context = grpc.aio.ServicerContext[Any, Any]
_MALFORMED = object()


class Door(grpc.aio.ServerInterceptor):
    """Bounds the calls of a server.

    - Metadata: the channel's option holds only after the client has seen SETTINGS.
    - Calls at once, by method and host, so that a flood leaves other methods and hosts alone.
    - The time that a request takes to arrive.
    - Bytes that are no message of a method are the caller's mistake, not an accident of ours.
    """

    def __init__(self) -> None:
        self._open: Counter[Hashable] = Counter()

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Lets a call in, or gives a handler that refuses it."""
        metadata, method = handler_call_details.invocation_metadata or (), str(handler_call_details.method)
        if sum(len(key) + len(value) + ENTRY_OVERHEAD for key, value in metadata) > MAX_METADATA:
            return _refusing(f"over {MAX_METADATA} bytes of metadata")
        handler = await continuation(handler_call_details)
        if handler is None or handler.request_streaming:
            return handler
        if not self._enter(method, MAX_CALLS):
            return _refusing(FULL)
        call = _call()
        arriving = asyncio.get_running_loop().call_later(ARRIVAL_S, call.cancel)
        call.add_done_callback(lambda _: arriving.cancel())
        return self._careful(handler, method, arriving)

    def _enter(self, key: Hashable, most: int) -> bool:
        """Counts this call until it is over; False where there are too many already."""
        if self._open[key] >= most:
            return False
        self._open[key] += 1
        _call().add_done_callback(lambda _: self._leave(key))
        return True

    def _leave(self, key: Hashable) -> None:
        self._open[key] -= 1
        if not self._open[key]:
            del self._open[key]

    def _careful(self, handler: Handler, method: str, arriving: asyncio.TimerHandle) -> Handler:
        """The same handler for requests that have arrived, are messages, and are not too many of one host."""
        streams, parse = handler.response_streaming, handler.request_deserializer
        serve: Any = handler.unary_stream if streams else handler.unary_unary

        def parsed(data: bytes) -> Any:
            arriving.cancel()
            try:
                return data if parse is None else parse(data)
            except DecodeError:
                return _MALFORMED

        async def served(request: Any, context: Context) -> Any:
            if request is _MALFORMED:
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the request is no message of this method")
            if not self._enter((method, host(context.peer())), MAX_OF_HOST):
                await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, FULL)
            return await serve(request, context)

        make: Any = grpc.unary_stream_rpc_method_handler if streams else grpc.unary_unary_rpc_method_handler
        made: Handler = make(served, parsed, handler.response_serializer)
        return made


def host(peer: str) -> str:
    """Of a peer as gRPC names it, ``ipv4:10.0.0.1:5400``: an IPv6 network counts as one host."""
    kind, _, rest = peer.partition(":")
    address = rest.rpartition(":")[0].replace("%5B", "").replace("%5D", "").strip("[]")
    if kind == "ipv6":
        return IPv6Address(address.partition("%")[0]).exploded[:NETWORK]
    return address if kind == "ipv4" else kind


def _call() -> asyncio.Task[Any]:
    """The task of this call: gRPC serves one, interceptors included, in a task of its own."""
    task = asyncio.current_task()
    assert task is not None
    return task


def _refusing(why: str) -> Handler:
    async def refuse(_requests: object, context: Context) -> None:
        await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, why)

    return grpc.stream_stream_rpc_method_handler(refuse)
