"""A game over real streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from http2 import NO_WINDOW, Peer, block, data, headers, message, messages, window
from simulation import assignment

from arena.v1 import referee_pb2 as pb
from arena.v1 import referee_pb2_grpc
from arena_engine.patchwork import GAME
from arena_server.referee.driver import Driver
from arena_server.referee.guests import Guest
from arena_server.referee.stalls import Stalls
from arena_server.wire.lobby import Lobby
from arena_server.wire.server import Server
from arena_server.wire.session import Session

HELLO = pb.PlayRequest(hello=pb.Hello(protocol_min=1, protocol_max=1, rules={"patchwork": "1"}))
SOON = 20.0
"""Seconds within which anything happens on a slow machine."""


class Table:
    """A game of two bots that come from elsewhere.

    Attributes:
        address: where they dial.
        driver: of the game.
        tokens: by seat.
        sessions: likewise.
    """

    def __init__(self, lobby: Lobby, address: str, stalls: Stalls) -> None:
        self.address = address
        self.driver = Driver(assignment(GAME, "20s"), GAME, stalls)
        self.tokens: dict[str, str] = {}
        self.sessions: dict[str, Session] = {}
        for seat in "ab":
            self.tokens[seat], self.sessions[seat] = lobby.admit(seat, ())

    @asynccontextmanager
    async def seated(self, seat: str, stalls: Stalls) -> AsyncIterator[Any]:
        """The stream of a bot that has been told of the game, and is ready."""
        async with grpc.aio.insecure_channel(self.address) as channel:
            stub: Any = referee_pb2_grpc.RefereeStub(channel)
            call = stub.Play(metadata=(("authorization", f"Bearer {self.tokens[seat]}"),))
            await call.write(HELLO)
            assert (await call.read()).HasField("welcome")
            await self.sessions[seat].arrived
            await self.driver.seat(seat, Guest(self.sessions[seat], stalls))
            await call.write(ready((await call.read()).game_started.handle))
            yield call


def ready(handle: str) -> pb.PlayRequest:
    return pb.PlayRequest(ready=pb.Ready(handle=handle))


def play(test: Callable[[Table, Any, Any], Awaitable[None]]) -> None:
    """Seats two bots, whose streams the test is given, with the first one asked for a move."""

    async def main() -> None:
        lobby, stalls = Lobby(GAME), Stalls()
        server = Server(lobby, "tcp")
        table = Table(lobby, await server.start(), stalls)
        try:
            async with asyncio.timeout(60), table.seated("a", stalls) as a, table.seated("b", stalls) as b:
                await test(table, a, b)
        finally:
            table.driver.close()
            stalls.stop()
            await server.stop()

    asyncio.run(main())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON):
        while not condition():
            await asyncio.sleep(0.01)


def test_bots_of_a_game_that_is_given_up_hear_that_it_is_over() -> None:
    """Or they would keep its table, and in the end drop a game that goes on for it."""

    async def test(table: Table, a: Any, b: Any) -> None:
        assert (await a.read()).HasField("move_request")
        table.driver.finished.cancel()  # as whoever waits for it does when that is cancelled
        table.driver.close()
        for call in (a, b):
            assert (await call.read()).game_over.ending == pb.ENDING_VOID

    play(test)


def test_nothing_is_asked_on_a_new_stream_before_the_game_is_started_there() -> None:
    async def test(table: Table, a: Any, b: Any) -> None:
        asked = (await a.read()).move_request
        b.cancel()
        await until(lambda: not table.sessions["b"].connected)
        with Peer(table.address, NO_WINDOW) as peer:

            def hear(count: int) -> list[pb.PlayResponse]:
                heard = messages(peer.polite(SOON))
                return [pb.PlayResponse.FromString(next(heard)) for _ in range(count)]

            said = data(1, message(HELLO.SerializeToString()), last=False)
            peer.send(headers(1, block("/arena.v1.Referee/Play", token=table.tokens["b"])), said)
            await until(lambda: table.sessions["b"].connected)  # and Welcome waits for window
            await a.write(pb.PlayRequest(move=pb.Move(handle=asked.handle, ply=0, move=">")))
            await until(lambda: table.driver.match.asking == "b")
            peer.send(window(1, 1 << 16))
            _, started = await asyncio.to_thread(hear, 2)
            assert list(started.game_started.plies) == ["a >"]
            peer.send(data(1, message(ready(started.game_started.handle).SerializeToString()), last=False))
            (again,) = await asyncio.to_thread(hear, 1)
            assert again.move_request.ply == 1
            assert not again.move_request.plies

    play(test)
