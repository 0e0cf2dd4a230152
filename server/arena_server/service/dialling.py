"""A server from the side of whoever asks it: the channel, and errors as the server told them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc

from arena_server.model import ArenaError, UserError
from arena_server.service.answering import ERROR_KEY
from arena_server.store.lists import MissingError

MAX_ANSWER = 64 * 1024 * 1024
"""Bytes of one answer: a contract names every bot."""
LOCAL = "unix:"
"""How the address of a Unix socket begins."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_Answer = TypeVar("_Answer")


class Dialled:
    """A connection to a server; a context manager.

    Args:
        server: ``HOST:PORT``, or ``unix:PATH``.
        ca: a PEM file with the certificate authority to trust; None: those that the machine trusts. On this machine
            alone (a Unix socket, 127.0.0.1) nothing is encrypted unless it is given.

    Attributes:
        label: the server.
        channel: to it.
        patience_s: seconds that one answer may take.

    Raises:
        UserError: the address or the file makes no sense.
    """

    patience_s = 10.0

    def __init__(self, server: str, ca: Path | None = None) -> None:
        _check(server)
        self.label = server
        options = [("grpc.max_receive_message_length", MAX_ANSWER)]
        if ca is None and _is_here(server):
            self.channel = grpc.insecure_channel(server, options)
        else:
            self.channel = grpc.secure_channel(server, grpc.ssl_channel_credentials(_roots(ca)), options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.channel.close()

    def ask(self, method: Callable[..., _Answer], request: object) -> _Answer:
        """The answer to one call; raises what the server refused it with, or ArenaError where there is none."""
        try:
            return method(request, timeout=self.patience_s)
        except grpc.RpcError as error:
            raise self.told(error) from None

    def told(self, error: Any) -> ArenaError:
        """An error of the server as it told it, or that there is no server."""
        parts = dict(error.trailing_metadata() or ()).get(ERROR_KEY)
        kinds: dict[grpc.StatusCode, type[ArenaError]] = {
            grpc.StatusCode.NOT_FOUND: MissingError,
            grpc.StatusCode.INVALID_ARGUMENT: UserError,
        }
        kind = kinds.get(error.code(), ArenaError)
        if parts is not None:
            return kind(**json.loads(parts))
        what = f"no answer from the server ({error.code().name.lower().replace('_', ' ')}: {error.details()})"
        return ArenaError(what, self.label, "check the address, and --ca where it has a certificate of its own")


def _check(server: str) -> None:
    _, colon, port = server.rpartition(":")
    if not colon or not (port.isdigit() or server.startswith(LOCAL)):
        raise UserError("not an address", repr(server), "write HOST:PORT, or unix:PATH")


def _is_here(server: str) -> bool:
    return server.startswith(LOCAL) or server.rpartition(":")[0] in _LOOPBACK


def _roots(ca: Path | None) -> bytes | None:
    if ca is None:
        return None
    try:
        return ca.read_bytes()
    except OSError as error:
        raise UserError("cannot read the certificate authority", f"{ca}: {error.strerror}", "check --ca") from None
