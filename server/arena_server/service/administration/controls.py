"""A server while it runs: what it tells of itself, and how it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from importlib import metadata
from typing import Protocol

from arena_server.coordinator.season import Season
from arena_server.coordinator.served import Floor
from arena_server.executors import Running
from arena_server.service.administration.administrator import Connected, Playing, ServerStatus
from arena_server.service.scribe import Scribe


class Stoppable(Protocol):
    """Something that a server does until it is told to stop."""

    def stop(self) -> None:
        """Begins nothing more; a second time it ends at once."""


class ServerControls:
    """What signals and the organiser reach a server by, all in its event loop.

    Args:
        season: what it tells of.
        work: all that it does, the season among it.
        floor: where games are played.
        scribe: is told.

    Attributes:
        addresses: where it can be dialled, once it serves.
        drain: tells whoever asks that the server stops.
    """

    def __init__(self, season: Season, work: Sequence[Stoppable], floor: Floor, scribe: Scribe) -> None:
        self.addresses: tuple[str, ...] = ()
        self.drain: Callable[[], Awaitable[None]]
        self._season = season
        self._work = work
        self._floor = floor
        self._scribe = scribe
        self._since = datetime.now(UTC).isoformat(timespec="seconds")
        self._draining: asyncio.Future[None] | None = None

    def stop(self, *, at_once: bool = False) -> float:
        """Begins no more games; seconds that those which run have to finish. A second time it ends at once."""
        first = self._draining is None
        self._scribe.tell("stopping" if first else "stopping at once")
        if first:
            self._draining = asyncio.ensure_future(self.drain())
        for work in self._work:
            work.stop()
        if first and at_once:
            self.stop()
        return self._season.grace if first and not at_once else 0.0

    def status(self) -> ServerStatus:
        """What it does now."""
        return ServerStatus(
            version=metadata.version("patchwork-arena"),
            season=self._season.tournament.name,
            since=self._since,
            addresses=self.addresses,
            stopping=self._draining is not None,
            capacity=self._floor.executor.capacity,
            waiting=self._season.waiting,
            connections=tuple(Connected(one.entrant.label, one.games_at_once) for one in self._floor.guests.all()),
            games=tuple(_playing(game) for game in self._floor.executor.running()),
        )


def _playing(game: Running) -> Playing:
    assignment = game.assignment
    return Playing(assignment.game_id, tuple(assignment.labels), game.ply, game.seconds)
