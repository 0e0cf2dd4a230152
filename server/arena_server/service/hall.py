"""The addresses of a server where bots and readers dial in, and beside them the organiser's own door."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

import grpc
from grpc_health.v1 import health

from arena.v1 import leaderboard_pb2_grpc
from arena_server.model import ArenaError, UserError
from arena_server.service.administration.office import Office
from arena_server.service.administration.servicer import Controls
from arena_server.service.health import Health
from arena_server.service.leaderboard import Leaderboard
from arena_server.service.settings import ServeSettings
from arena_server.service.visibility import FairPlay
from arena_server.service.watching import Live
from arena_server.store import Store, registry
from arena_server.wire.lobby import Lobby
from arena_server.wire.server import STOP_GRACE, serving

PERIOD_S = 1.0
"""Between two looks at the registry."""
SERVICES = ("arena.v1.Referee", "arena.v1.Leaderboard")


class Hall:
    """Serves a lobby and the leaderboard at every address of the settings.

    Args:
        settings: the addresses, and what they need.
        lobby: of the bots that dial in.
    """

    def __init__(self, settings: ServeSettings, lobby: Lobby) -> None:
        self._settings = settings
        self._server = serving(lobby)
        self._health = Health(self._server, SERVICES)
        self._office = None if settings.socket is None else Office(settings.socket)
        self._looking: asyncio.Task[None] | None = None
        self._board: Leaderboard | None = None
        if settings.dev:
            from grpc_reflection.v1alpha import reflection  # noqa: PLC0415 - seldom wanted

            names = (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(names, self._server)

    def bind(self) -> list[str]:
        """Takes every address, and answers nobody yet; the addresses, with the ports that were chosen.

        Raises:
            UserError: an address is taken or none of ours.
        """
        bound = [self._listen(address) for address in self._settings.listen]
        if self._office is not None:
            bound.append(self._office.bind())
        return bound

    async def open(self, store: Store, live: Live, controls: Controls, fair_play: FairPlay) -> None:
        """Serves where it was bound.

        Args:
            store: what is asked about.
            live: where games are played.
            controls: of the server, for the organiser.
            fair_play: who may see what of the games; who allows more is read here.
        """
        self._board = Leaderboard(store, visibility=fair_play, live=live)
        leaderboard_pb2_grpc.add_LeaderboardServicer_to_server(self._board, self._server)
        if self._office is not None:
            await self._office.open(store, live, controls)
        self._looking = asyncio.create_task(_look(store, fair_play))
        await self._server.start()
        await self._health.say(serving=True)

    async def drain(self) -> None:
        """Tells whoever asks that the server stops."""
        await self._health.say(serving=False)
        if self._office is not None:
            await self._office.drain()

    async def close(self) -> None:
        """Ends all streams and gives the socket back."""
        if self._looking is not None:
            self._looking.cancel()
        if self._office is not None:
            await self._office.close()
        await self._server.stop(STOP_GRACE)
        if self._board is not None:
            self._board.close()

    def _listen(self, address: str) -> str:
        credentials = self._credentials()
        try:
            if credentials is None:
                port = self._server.add_insecure_port(address)
            else:
                port = self._server.add_secure_port(address, credentials)
        except RuntimeError:
            raise UserError(f"cannot listen there{_reason(address)}", address, "choose another address") from None
        return f"{address.rpartition(':')[0]}:{port}"

    def _credentials(self) -> grpc.ServerCredentials | None:
        certificate, key = self._settings.tls_cert, self._settings.tls_key
        if certificate is None or key is None:
            return None
        return grpc.ssl_server_credentials([(key.read_bytes(), certificate.read_bytes())])


async def _look(store: Store, fair_play: FairPlay) -> None:
    """Keeps up with whose games may be watched."""
    while True:
        with suppress(ArenaError):
            fair_play.open = await asyncio.to_thread(registry.open_bots, store.database)
        await asyncio.sleep(PERIOD_S)


def _reason(address: str) -> str:
    """Why nobody can listen there, which gRPC does not say; empty where the system finds nothing wrong."""
    host, _, port = address.rpartition(":")
    try:
        found = socket.getaddrinfo(host.strip("[]").encode(), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, place in found:
            with socket.socket(family, kind, protocol) as probe:
                probe.bind(place)
                probe.listen()
    except OSError as error:
        return f": {error.strerror}"
    return ""
