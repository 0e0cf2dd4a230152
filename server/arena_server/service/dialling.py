"""A server from the side of whoever asks it: the channel, and errors as the server told them."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc

from arena_sdk.process import roots
from arena_sdk.session import tls_trouble
from arena_server.model import ArenaError, UserError
from arena_server.service.answering import ERROR_KEY
from arena_server.store.lists import MissingError

MAX_ANSWER = 64 * 1024 * 1024
"""Bytes of one answer: a contract names every bot."""
LOCAL = "unix:"
"""How the address of a Unix socket begins."""
MAX_PORT = 65_535
LOOK_S = 3.0
"""Seconds in which a server that was dialled plain is to show that it speaks TLS."""

_Answer = TypeVar("_Answer")


class Dialled:
    """A connection to a server; a context manager.

    Args:
        server: ``HOST:PORT``, or ``unix:PATH``.
        ca: a PEM file with the certificate authority to trust; None: those that the machine trusts.
        insecure: whether the wire may be plain; where an authority is given it is not. On this machine alone (a Unix
            socket, 127.0.0.1) it may be so anyway.

    Attributes:
        label: the server.
        channel: to it.
        patience_s: seconds that one answer may take.

    Raises:
        UserError: the address or the file makes no sense.
    """

    patience_s = 10.0

    def __init__(self, server: str, ca: Path | None = None, *, insecure: bool = False) -> None:
        _check(server)
        self.label = server
        options = [("grpc.max_receive_message_length", MAX_ANSWER)]
        trusted = _trusted(server, ca, insecure=insecure)
        self._is_plain = trusted is None
        if trusted is None:
            self.channel = grpc.insecure_channel(server, options)
        else:
            self.channel = grpc.secure_channel(server, grpc.ssl_channel_credentials(trusted or None), options)

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
        reason = error.details() or ""
        trouble = tls_trouble(reason)
        if not trouble and self._is_plain and error.code() is grpc.StatusCode.UNAVAILABLE and _speaks_tls(self.label):
            trouble = "it speaks TLS - name the file of who vouches for it: ARENA_CA, --ca; or leave --insecure out"
        if trouble:
            what, _, fix = trouble.partition(" - ")
            return UserError(f"no safe connection to the server at {self.label}", what, fix)
        what = f"no answer from the server ({error.code().name.lower().replace('_', ' ')}: {reason})"
        return ArenaError(what, self.label, "check the address, and --ca where it has a certificate of its own")


def _check(server: str) -> None:
    _, colon, port = server.rpartition(":")
    is_port = re.fullmatch("[0-9]{1,5}", port) and int(port) <= MAX_PORT
    if not colon or not (is_port or server.startswith(LOCAL)):
        raise UserError("not an address", repr(server), "write HOST:PORT, or unix:PATH")


def _trusted(server: str, ca: Path | None, *, insecure: bool) -> bytes | None:
    """The certificates that vouch for the server, as a bot has them; None: the wire is plain."""
    said = {"ARENA_SERVER": server, "ARENA_CA": str(ca or ""), "ARENA_INSECURE": "1" if insecure else ""}
    try:
        return roots(said)
    except OSError as error:
        raise UserError(
            "cannot read the certificate authority", f"{ca}: {error.strerror}", "check ARENA_CA, --ca"
        ) from None


def _speaks_tls(server: str) -> bool:
    if server.startswith(LOCAL):
        return False
    host, _, port = server.rpartition(":")
    try:
        ssl.get_server_certificate((host.strip("[]"), int(port)), timeout=LOOK_S)
    except (OSError, UnicodeError):  # the latter for what is no name of a host
        return False
    return True
