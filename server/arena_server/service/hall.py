"""The addresses of a server: where bots and readers dial in, over TLS or this machine's own wires."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health

from arena.v1 import leaderboard_pb2_grpc
from arena_server.model import UserError
from arena_server.service.leaderboard import Leaderboard
from arena_server.service.settings import ServeSettings
from arena_server.service.visibility import FairPlay
from arena_server.service.watching import Live
from arena_server.store import Store
from arena_server.wire.lobby import Lobby
from arena_server.wire.server import MAX_SOCKET_PATH, STOP_GRACE, serving

SERVICES = ("arena.v1.Referee", "arena.v1.Leaderboard")
SOCKET_MODE = 0o700


class Hall:
    """Serves a lobby and the leaderboard at every address of the settings.

    Args:
        settings: the addresses, and what they need.
        lobby: of the bots that dial in.
        store: what is asked about.
        live: where games are played.
    """

    def __init__(self, settings: ServeSettings, lobby: Lobby, store: Store, live: Live) -> None:
        self._settings = settings
        self._server = serving(lobby)
        self._health = health.HealthServicer()
        self._lock: int | None = None
        self._board = Leaderboard(store, visibility=FairPlay(settings.season), live=live)
        leaderboard_pb2_grpc.add_LeaderboardServicer_to_server(self._board, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        if settings.dev:
            from grpc_reflection.v1alpha import reflection  # noqa: PLC0415 - seldom wanted

            names = (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(names, self._server)

    async def open(self) -> list[str]:
        """Opens every address, then serves; the addresses, with the ports that were chosen.

        Raises:
            UserError: an address is taken or none of ours, or the certificate cannot be used.
        """
        opened = [self._listen(address) for address in self._settings.listen]
        if self._settings.socket is not None:
            opened.append(self._listen_locally(self._settings.socket))
        await self._server.start()
        await self._say(health_pb2.HealthCheckResponse.SERVING)
        return opened

    async def drain(self) -> None:
        """Tells whoever asks that the server stops."""
        await self._say(health_pb2.HealthCheckResponse.NOT_SERVING)

    async def close(self) -> None:
        """Ends all streams and gives the socket back."""
        await self._server.stop(STOP_GRACE)
        self._board.close()
        if self._lock is not None and self._settings.socket is not None:
            self._settings.socket.unlink(missing_ok=True)
            os.close(self._lock)

    async def _say(self, status: health_pb2.HealthCheckResponse.ServingStatus.ValueType) -> None:
        for name in ("", *SERVICES):
            await self._health.set(name, status)

    def _listen(self, address: str) -> str:
        credentials = self._credentials()
        try:
            if credentials is None:
                port = self._server.add_insecure_port(address)
            else:
                port = self._server.add_secure_port(address, credentials)
        except RuntimeError:
            fix = "another program has it, or it is no address of this machine: choose another"
            raise UserError("cannot listen there", address, fix) from None
        return f"{address.rpartition(':')[0]}:{port}"

    def _listen_locally(self, path: Path) -> str:
        if len(bytes(path)) > MAX_SOCKET_PATH:
            raise UserError("the path of the socket is too long", path, f"at most {MAX_SOCKET_PATH} bytes")
        self._lock = _locked(path)
        path.unlink(missing_ok=True)  # a server that was killed has left it
        self._server.add_insecure_port(f"unix:{path}")
        path.chmod(SOCKET_MODE)
        return f"unix:{path}"

    def _credentials(self) -> grpc.ServerCredentials | None:
        certificate, key = self._settings.tls_cert, self._settings.tls_key
        if certificate is None or key is None:
            return None
        return grpc.ssl_server_credentials(_pairs(key, certificate))


def _pairs(key: Path, certificate: Path) -> list[tuple[bytes, bytes]]:
    try:
        return [(key.read_bytes(), certificate.read_bytes())]
    except OSError as error:
        raise UserError(f"cannot read the certificate: {error.strerror}", error.filename, "check the path") from None


def _locked(path: Path) -> int:
    """A lock beside the socket, whose path a second server would take away."""
    try:
        file = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise UserError("another server has this socket", path, "choose another") from None
    except OSError as error:
        raise UserError(f"no socket: {error.strerror}", path, "choose another path") from None
    return file
