"""The talk with a bot that is asked once: its game, as it has come so far, then one request."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import replace
from typing import Any

from arena.v1 import referee_pb2 as pb
from arena_server.author.asking import Answer, Position
from arena_server.launching.bots import Bot
from arena_server.launching.processes import Keeper
from arena_server.referee import messages
from arena_server.referee.clocks import Now, Reading
from arena_server.referee.events import Ask, Begin
from arena_server.referee.match import Match
from arena_server.referee.players import FAREWELL, Player, Players, StartError
from arena_server.referee.stalls import Stalls
from arena_server.wire.lobby import Lobby
from arena_server.wire.server import Server
from arena_server.wire.session import GameMessage


async def ask_here(position: Position, bot: Bot, keeper: Keeper, patience: float) -> Answer:
    """Starts the bot, asks it, and stops it again; see ``asking.ask``."""
    await keeper.attach()
    lobby = Lobby(position.game)
    server = Server(lobby)
    if server.folder is not None:
        keeper.tidy(server.folder)
    stalls = Stalls()
    players = Players(keeper, lobby, await server.start(), 1, stalls)
    try:
        return await Conversation(position, await players.acquire(bot.entrant, bot)).hold(patience)
    except StartError as failure:
        return Answer(position.seat, failure=failure.reason, stderr=failure.evidence, seeded=position.seeded)
    finally:
        await players.close()
        stalls.stop()
        await server.stop()
        await keeper.close()


class Conversation:
    """Listens to the bot's session: first it is to be ready, then to answer."""

    def __init__(self, position: Position, player: Player) -> None:
        loop = asyncio.get_running_loop()
        self._position = position
        self._player = player
        self._ready: asyncio.Future[GameMessage] = loop.create_future()
        self._answered: asyncio.Future[GameMessage] = loop.create_future()
        self._broken: asyncio.Future[str] = loop.create_future()
        self._asked = self._ended = 0.0

    async def hold(self, patience: float) -> Answer:
        """All of it."""
        position, session, match = self._position, self._player.session, _match(self._position)
        handle = secrets.token_hex(8)
        session.games[handle] = self
        await session.send(messages.game_started(handle, Begin(position.seat, tuple(position.plies)), match))
        await self._wait(self._ready, self._player.bot.manifest.start_limit_us / 1e6)
        if not self._ready.done() or not isinstance(self._ready.result(), pb.Ready):
            return await self._answer(self._ready, "it did not get ready within its start limit")
        mode = pb.OBSERVATION_MODE_UNSPECIFIED if session.hello is None else session.hello.observation_mode
        ask = Ask(position.seat, len(position.plies), ())
        request = messages.move_request(handle, ask, match, mode, Now(0.0))
        self._asked = time.monotonic()
        await session.send(request)
        await self._wait(self._answered, patience)
        return await self._answer(self._answered, f"it gave no answer within {patience:g} s")

    def received(self, message: GameMessage, at: float) -> None:
        """Ready, or Failure instead of it; then the answer."""
        if not self._ready.done():
            self._ready.set_result(message)
        elif not self._answered.done():
            self._ended = at
            self._answered.set_result(message)

    def malformed(self, reason: str) -> None:
        """It will say nothing useful any more."""
        if not self._broken.done():
            self._broken.set_result(reason)

    def lost(self) -> None:
        """Nor then."""
        self.malformed("its stream was lost")

    def returned(self) -> None:
        """Nothing is resumed here."""

    async def _wait(self, awaited: asyncio.Future[GameMessage], seconds: float) -> None:
        exited = self._player.process.exited
        some: list[asyncio.Future[Any]] = [awaited, self._broken, exited]
        await asyncio.wait(some, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if self._broken.done() and not awaited.done():
            await asyncio.wait([exited], timeout=FAREWELL)  # a crash breaks the stream first

    async def _answer(self, awaited: asyncio.Future[GameMessage], otherwise: str) -> Answer:
        exited = self._player.process.exited
        how = exited.result().describe() if exited.done() else ""
        message = awaited.result() if awaited.done() else None
        ended = self._ended or time.monotonic()
        answer = Answer(
            seat=self._position.seat,
            seconds=ended - self._asked if self._asked else 0.0,
            exit=how,
            stderr=(await self._player.process.output()).stderr,
            seeded=self._position.seeded,
        )
        match message:
            case pb.Move(move=move):
                objection = self._position.objection(move)
                log, own_s = tuple(message.log), message.own_us / 1e6
                return replace(answer, move=move, objection=objection, own_seconds=own_s, log=log)
            case pb.Failure():
                return replace(answer, failure=message.traceback)
            case pb.Resign():
                return replace(answer, failure="it gives up")
            case _:
                broken = self._broken.result() if self._broken.done() else otherwise
                return replace(answer, failure=how or broken)


def _match(position: Position) -> Match:
    """The match; its clocks have run as recorded."""
    match = Match(position.assignment, position.game, (0,) * len(position.assignment.planned.seats), "", Now(0.0))
    match.state, match.plies = position.state, position.plies
    for mover, us in position.spent:
        match.seats[mover].clock.stop(Reading(us, 0, overrun=False))
    return match
