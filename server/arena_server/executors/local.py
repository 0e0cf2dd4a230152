"""Games in this process, bots on this machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from arena_engine.game import Game
from arena_server.executors import Running
from arena_server.launching.bots import Bot
from arena_server.launching.processes import Keeper
from arena_server.model import Assignment, Entrant, Result
from arena_server.referee.guests import Guests
from arena_server.referee.referee import Referee


class LocalExecutor:
    """Plays with a referee in this event loop; an async context manager.

    Args:
        bots: how to start each entrant.
        keeper: started before grpc was imported; attached and closed here.
        capacity: games at the same time.
        transport: how the bots that it starts reach the referee: ``unix`` or ``tcp``.
        guests: the bots that come from elsewhere, where any do.
    """

    def __init__(  # noqa: PLR0913 - what it plays, with whom, and how
        self,
        game: Game,
        bots: Mapping[Entrant, Bot],
        keeper: Keeper,
        *,
        capacity: int,
        transport: str = "unix",
        guests: Guests | None = None,
    ) -> None:
        self.capacity = capacity
        self._keeper = keeper
        self._referee = Referee(game, bots, keeper, concurrency=capacity, transport=transport, guests=guests)

    async def __aenter__(self) -> Self:
        """Opens the referee's socket."""
        await self._keeper.attach()
        await self._referee.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops every bot."""
        try:
            await self._referee.__aexit__(kind, error, trace)
        finally:
            await self._keeper.close()

    def running(self) -> list[Running]:
        """The games that it plays now; also asked from other threads, while games begin."""
        now = time.monotonic()
        return [
            Running(match.assignment, match.ply, match.asking, now - began, tuple(match.plies))
            for match, began in ((driver.match, began) for driver, began in list(self._referee.playing.items()))
        ]

    async def play(self, assignment: Assignment) -> Result:
        """Plays one attempt to its end; raises ArenaError when the keeper is lost, for which no bot is to blame."""
        result = await self._referee.play(assignment)
        if self._keeper.lost.done():
            raise self._keeper.lost.result()
        return result
