"""What a server says to whoever asks how it is."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio


class Health:
    """The health service of a server.

    Args:
        server: gains it.
        services: that the server has beside it.
    """

    def __init__(self, server: grpc.aio.Server, services: Sequence[str]) -> None:
        self._servicer = aio.HealthServicer()
        self._services = services
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    async def say(self, *, serving: bool) -> None:
        """Of the whole server, and of each service."""
        status = health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in ("", *self._services):
            await self._servicer.set(name, status)
