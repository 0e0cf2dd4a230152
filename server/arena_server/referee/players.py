"""Bot processes that play: started when first needed, kept between games, the least recently used stopped."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine
from typing import Any

from arena_server.launching.bots import Bot
from arena_server.launching.environment import environment
from arena_server.launching.processes import Keeper, Process, SpawnError
from arena_server.model import Entrant
from arena_server.referee import messages
from arena_server.referee.stalls import Stalls
from arena_server.wire.lobby import Lobby
from arena_server.wire.session import Session

LATE_REPLY = 1.0
"""Seconds that a bot has to finish thinking after a game that ended without its answer, before it is stopped."""
FAREWELL = 0.2
"""Seconds that a bot has to leave by itself after Goodbye."""
TURN = 2.0
"""Seconds for which a starting bot keeps the next one from starting: all at once, they would take the cores from the
games that run, and from the referee."""


class StartError(Exception):
    """No session with the bot could be had: why, and what its process said."""

    def __init__(self, reason: str, evidence: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.evidence = evidence


class Player:
    """One process of a bot, and its session.

    Attributes:
        games: how many it plays now.
        used: when it last began or ended a game.
        fresh: whether it has not been given a game yet.
        rested: set once a late answer came.
        dismissed: whether we have stopped it.
    """

    def __init__(self, bot: Bot, process: Process, session: Session, stalls: Stalls) -> None:
        self.bot = bot
        self.process = process
        self.session = session
        self.games = 0
        self.used = time.monotonic()
        self._stalls = stalls
        self._started = stalls.now()
        self.rested = asyncio.Event()
        self.dismissed = False
        self.fresh = True

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return not self.process.exited.done()

    @property
    def free(self) -> bool:
        """Whether it can take one more game."""
        return self.alive and self.session.connected and self.games < self.bot.manifest.games_at_once

    def ready_by(self) -> float:
        """When it must be ready for a game that begins now: a new process has one start limit for everything."""
        now = self._stalls.now()
        start = self._started if self.fresh else now
        self.fresh = False
        return now.at - now.running_since(start) + self.bot.manifest.start_limit_us / 1e6

    async def news(self, seconds: float) -> bool:
        """Waits for its Hello or its end; returns whether one of them came in time."""
        awaited: list[asyncio.Future[Any]] = [self.session.arrived, self.process.exited]
        done, _ = await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)

    async def arrive(self) -> None:
        """Waits until the process has said Hello; raises StartError."""
        limit = self.bot.manifest.start_limit_us / 1e6
        arrived = self.session.arrived
        while (left := limit - self._stalls.now().running_since(self._started)) > 0:  # a stall of ours moves it
            if await self.news(left):
                break
        if arrived.done():
            if arrived.result():
                raise StartError(arrived.result())
        elif self.process.exited.done():
            gone = self.process.exited.result()
            raise StartError(f"{gone.describe()} before it connected", gone.output.stderr)
        else:
            output = await self.process.output()
            raise StartError(f"did not connect within its start limit of {limit:g} s", output.stderr)


class Players:
    """The processes of all bots of a tournament.

    As many start at the same time as there are cores, unless one takes long.

    Args:
        most: processes at the same time; at least as many as the seats of all games that run at once.
        address: where they dial in.
    """

    def __init__(self, keeper: Keeper, lobby: Lobby, address: str, most: int, stalls: Stalls) -> None:
        self.keeper = keeper
        self.stalls = stalls
        self._turns = asyncio.Semaphore(len(os.sched_getaffinity(0)))
        self.lobby = lobby
        self.address = address
        self.most = most
        self._players: dict[tuple[object, ...], list[Player]] = {}
        self._stopping: set[asyncio.Task[None]] = set()

    async def acquire(self, entrant: Entrant, bot: Bot) -> Player:
        """A player of this bot for one game; raises StartError."""
        own = self._players.setdefault(entrant.key, [])
        own[:] = [player for player in own if player.alive]
        player = next((player for player in own if player.free), None)
        if player is not None:
            player.games += 1
            player.used = time.monotonic()
            return player
        return await self._start(own, bot)

    async def release(self, player: Player, *, thinking: bool) -> None:
        """The game is over; a player that is still `thinking` gets a moment to stop doing so."""
        player.used = time.monotonic()
        if thinking or player.bot.manifest.restart == "per_game" or not player.alive:
            self._later(self._retire(player, LATE_REPLY if thinking else 0.0))
        else:
            player.games -= 1

    async def close(self) -> None:
        """Says goodbye to all and stops them."""
        for player in self._all():
            self._later(self._stop(player))
        while self._stopping:
            await asyncio.wait(self._stopping)

    async def _start(self, own: list[Player], bot: Bot) -> Player:
        async with self._turns:
            self._make_room()
            player = await self._spawn(bot)
            own.append(player)
            await self._or_stop(player, player.news(TURN))
        await self._or_stop(player, player.arrive())
        return player

    async def _or_stop(self, player: Player, wait: Coroutine[None, None, object]) -> None:
        try:
            await wait
        except BaseException:
            await self._stop(player)
            raise

    async def _spawn(self, bot: Bot) -> Player:
        token, session = self.lobby.admit(bot.manifest.name, bot.options, bot.manifest.version)
        try:
            process = await self.keeper.spawn(bot.argv(), bot.folder, environment(bot, self.address, token))
        except SpawnError as error:
            self.lobby.dismiss(session)
            raise StartError(str(error)) from None
        player = Player(bot, process, session, self.stalls)
        player.games = 1
        return player

    def _make_room(self) -> None:
        players = self._all()
        idle = sorted((player for player in players if not player.games), key=lambda player: player.used)
        for player in idle[: max(0, len(players) + 1 - self.most)]:
            self._forget(player)  # now: the next seat of this very game may look for one
            self._later(self._stop(player))

    async def _retire(self, player: Player, patience: float) -> None:
        """Takes a player out of use: a late answer within the patience brings it back."""
        if patience and player.alive and player.bot.manifest.restart == "never":
            try:
                async with asyncio.timeout(patience):
                    await player.rested.wait()
            except TimeoutError:
                pass
            else:
                player.rested.clear()
                player.games -= 1
                return
        await self._stop(player)

    def _forget(self, player: Player) -> None:
        """It gets no more games."""
        for own in self._players.values():
            if player in own:
                own.remove(player)

    async def _stop(self, player: Player) -> None:
        player.dismissed = player.alive
        self._forget(player)
        await player.session.send(messages.goodbye("the arena has no more games for this process"))
        await asyncio.wait([player.process.exited], timeout=FAREWELL)
        await player.process.kill()
        self.lobby.dismiss(player.session)

    def _all(self) -> list[Player]:
        return [player for own in self._players.values() for player in own]

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)
