"""The gRPC server: where bots dial in."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import grpc

from arena_server.model import ArenaError
from arena_server.wire.door import Door
from arena_server.wire.lobby import Lobby
from arena_server.wire.options import channel_arguments

SOCKET = "referee"
MAX_SOCKET_PATH = 100
"""Bytes; longer Unix socket paths are refused by the kernel."""
STOP_GRACE = 1.0
"""Seconds that open streams have to end by themselves."""


def bare() -> grpc.aio.Server:
    """A server with our options that serves nothing, at no address yet."""
    return grpc.aio.server(interceptors=[Door()], options=channel_arguments())


def serving(lobby: Lobby) -> grpc.aio.Server:
    """The same, serving a lobby."""
    server = bare()
    # Bytes both ways: the driver serialises, so that it can stamp between serialising and writing; a session parses, so
    # that garbage is its bot's fault and no lost stream.
    play: grpc.RpcMethodHandler[Any, Any] = grpc.stream_stream_rpc_method_handler(lobby.play)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("arena.v1.Referee", {"Play": play})])
    return server


class Server:
    """Serves a lobby at one address.

    Args:
        transport: ``unix`` (a socket in a private folder) or ``tcp`` (127.0.0.1, any free port).

    Attributes:
        folder: the private folder; None for ``tcp``.

    Raises:
        ArenaError: the folder for temporary files is too deep for a socket.
    """

    def __init__(self, lobby: Lobby, transport: str = "unix") -> None:
        self._server = serving(lobby)
        self.folder = _private_folder() if transport == "unix" else None

    async def start(self) -> str:
        """Opens the port, then serves; returns the address that bots dial."""
        if self.folder is None:
            port = self._server.add_insecure_port("127.0.0.1:0")
            address = f"127.0.0.1:{port}"
        else:
            address = f"unix:{self.folder / SOCKET}"
            self._server.add_insecure_port(address)
        await self._server.start()
        return address

    async def stop(self) -> None:
        """Ends all streams and removes the socket."""
        await self._server.stop(STOP_GRACE)
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def _private_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="arena-"))  # made with mode 0700
    if len(bytes(folder / SOCKET)) > MAX_SOCKET_PATH:
        folder.rmdir()
        raise ArenaError("the path of the referee's socket is too long", folder, "set TMPDIR to a shorter folder")
    return folder
