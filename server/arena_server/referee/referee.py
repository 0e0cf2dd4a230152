"""The referee: plays assignments with launched bots."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from arena_engine.game import Game
from arena_server.launching.bots import Bot
from arena_server.launching.processes import Keeper
from arena_server.model import MARGIN_LAUNCHED_US, MARGIN_REMOTE_US, Assignment, Entrant, Result
from arena_server.referee import blackbox
from arena_server.referee.driver import Driver
from arena_server.referee.guests import Guest, Guests
from arena_server.referee.players import Player, Players, StartError
from arena_server.referee.stalls import Stalls
from arena_server.wire.lobby import Lobby
from arena_server.wire.server import Server


class Referee:
    """Plays games, each in its own task; an async context manager.

    Args:
        bots: how to start each entrant.
        concurrency: games at the same time, for the number of processes that are kept.
        transport: ``unix`` or ``tcp``.
        guests: the bots that come from elsewhere, where any do.

    Attributes:
        playing: the games being played, each with the monotonic instant it began.
    """

    def __init__(  # noqa: PLR0913 - what it plays, with whom, and how
        self,
        game: Game,
        bots: Mapping[Entrant, Bot],
        keeper: Keeper,
        *,
        concurrency: int,
        transport: str = "unix",
        guests: Guests | None = None,
    ) -> None:
        self.game = game
        self.bots = bots
        self.keeper = keeper
        self.guests = guests
        self.playing: dict[Driver, float] = {}
        self._most = max(2 * concurrency * game.max_seats, len(bots))
        self._lobby = Lobby(game)
        self._transport = transport

    async def __aenter__(self) -> Self:
        """Opens the socket."""
        self._server = Server(self._lobby, self._transport)
        if self._server.folder is not None:
            self.keeper.tidy(self._server.folder)
        address = await self._server.start()
        self._stalls = Stalls()
        self._players = Players(self.keeper, self._lobby, address, self._most, self._stalls)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops every bot and closes the socket."""
        await self._players.close()
        self._stalls.stop()
        await self._server.stop()

    async def play(self, assignment: Assignment) -> Result:
        """Plays one attempt to its end."""
        driver = Driver(assignment, self.game, self._stalls, tuple(map(self._margin_us, assignment.entrants)))
        self.playing[driver] = time.monotonic()
        players: dict[str, Player] = {}
        try:
            seats = zip(assignment.planned.letters, assignment.entrants, strict=True)
            await asyncio.gather(*(self._seat(driver, letter, entrant, players) for letter, entrant in seats))
            return await blackbox.read_out(await driver.finished, driver.chairs, self.bots)
        finally:
            del self.playing[driver]
            chairs = driver.close()
            thinking = {letter: chair.thinking is not None for letter, chair in chairs.items()}
            for chair in chairs.values():
                if isinstance(chair.player, Guest):
                    chair.player.let_go(chair.handle)
            for letter, player in players.items():
                await self._players.release(player, thinking=thinking.get(letter, False))

    async def _seat(self, driver: Driver, letter: str, entrant: Entrant, players: dict[str, Player]) -> None:
        if entrant not in self.bots and self.guests is not None:
            await driver.seat(letter, self.guests.guest(entrant, self._stalls))
            return
        try:
            players[letter] = await self._players.acquire(entrant, self.bots[entrant])
            while not await driver.seat(letter, players[letter]):  # it died of something else: a new process plays
                await self._players.release(players.pop(letter), thinking=False)
                players[letter] = await self._players.acquire(entrant, self.bots[entrant])
        except StartError as failure:
            driver.leave_empty(letter, failure.reason, failure.evidence)

    def _margin_us(self, entrant: Entrant) -> int:
        return MARGIN_LAUNCHED_US if entrant in self.bots else MARGIN_REMOTE_US
