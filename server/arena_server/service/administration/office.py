"""The organiser's own door: a server on a Unix socket that nobody else can open."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

from arena.v1 import administration_pb2_grpc, leaderboard_pb2_grpc
from arena_server.model import UserError
from arena_server.service.administration.servicer import Administration, Controls
from arena_server.service.health import Health
from arena_server.service.leaderboard import Leaderboard
from arena_server.service.watching import Live
from arena_server.store import Store
from arena_server.wire.server import MAX_SOCKET_PATH, STOP_GRACE, bare

SERVICES = ("arena.v1.Administration", "arena.v1.Leaderboard")


class Office:
    """Serves the administration, and the leaderboard with nothing hidden, to the user who runs the server.

    Args:
        path: of the socket.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock: int | None = None
        self._server = bare()
        self._health = Health(self._server, SERVICES)
        self._services: tuple[Leaderboard, Administration] | tuple[()] = ()

    def bind(self) -> str:
        """Takes the socket, and answers nobody yet; its address.

        Raises:
            UserError: another server has it, or there can be none for this user alone.
        """
        if len(bytes(self._path)) > MAX_SOCKET_PATH:
            raise UserError("the path of the socket is too long", self._path, f"at most {MAX_SOCKET_PATH} bytes")
        _check_folder(self._path.parent)
        self._lock = _locked(self._path)
        self._path.unlink(missing_ok=True)  # a server that was killed has left it
        everybody = os.umask(0o077)  # from its first moment the socket is this user's alone
        try:
            self._server.add_insecure_port(f"unix:{self._path}")
        finally:
            os.umask(everybody)
        return f"unix:{self._path}"

    async def open(self, store: Store, live: Live, controls: Controls) -> None:
        """Serves where it was bound.

        Args:
            store: the database.
            live: where games are played.
            controls: of the server.
        """
        board, administration = self._services = (Leaderboard(store, live=live), Administration(store, controls))
        leaderboard_pb2_grpc.add_LeaderboardServicer_to_server(board, self._server)
        administration_pb2_grpc.add_AdministrationServicer_to_server(administration, self._server)
        await self._server.start()
        await self._health.say(serving=True)

    async def drain(self) -> None:
        """Tells whoever asks that the server stops."""
        await self._health.say(serving=False)

    async def close(self) -> None:
        """Ends all streams and gives the socket back."""
        await self._server.stop(STOP_GRACE)
        for service in self._services:
            service.close()
        if self._lock is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._lock)


def _check_folder(folder: Path) -> None:
    """In a folder where everybody may rename, anybody could put a socket of his own in place of ours."""
    try:
        mode = folder.stat().st_mode
    except OSError as error:
        raise UserError(f"no socket: {error.strerror}", folder, "choose another path") from None
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        fix = f"chmod o-w {folder}, or choose a folder of your own"
        raise UserError("everybody could replace a socket in this folder", folder, fix)


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
