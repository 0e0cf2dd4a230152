"""The addresses of a server where bots and readers dial in, and beside them the organiser's own door."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

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
        store: what is asked about.
        live: where games are played.
        controls: of the server, for the organiser.
        fair_play: who may see what of the games; who allows more is read here.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what it serves, and to whom
        self,
        settings: ServeSettings,
        lobby: Lobby,
        store: Store,
        live: Live,
        controls: Controls,
        fair_play: FairPlay,
    ) -> None:
        self._settings = settings
        self._server = serving(lobby)
        self._health = Health(self._server, SERVICES)
        self._office = None if settings.socket is None else Office(settings.socket, store, live, controls)
        self._fair_play = fair_play
        self._store = store
        self._looking: asyncio.Task[None] | None = None
        self._board = Leaderboard(store, visibility=self._fair_play, live=live)
        leaderboard_pb2_grpc.add_LeaderboardServicer_to_server(self._board, self._server)
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
        if self._office is not None:
            opened.append(await self._office.open())
        self._looking = asyncio.create_task(self._look())
        await self._server.start()
        await self._health.say(serving=True)
        return opened

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
        self._board.close()

    async def _look(self) -> None:
        """Keeps up with whose games may be watched."""
        while True:
            with suppress(ArenaError):
                self._fair_play.open = await asyncio.to_thread(registry.open_bots, self._store.database)
            await asyncio.sleep(PERIOD_S)

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
