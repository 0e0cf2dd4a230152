"""Who comes from elsewhere."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import grpc
import pytest

from arena.v1 import referee_pb2 as pb
from arena.v1 import referee_pb2_grpc
from arena_engine.patchwork import GAME
from arena_server.model import ArenaError, Entrant, Identity
from arena_server.referee import guests
from arena_server.referee.guests import Guests
from arena_server.store.registry import digest
from arena_server.wire.server import Server

HELLO = pb.PlayRequest(hello=pb.Hello(protocol_min=1, protocol_max=1, rules={"patchwork": "1"}))


def looks(found: Mapping[bytes, Identity]) -> Callable[[], Awaitable[Mapping[bytes, Identity]]]:
    """Looks at the registry, which has these."""

    async def look() -> Mapping[bytes, Identity]:
        return found

    return look


@asynccontextmanager
async def dialled(address: str, token: str) -> AsyncIterator[Any]:
    """The stream of a bot that was welcomed."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = referee_pb2_grpc.RefereeStub(channel)
        call = stub.Play(metadata=(("authorization", f"Bearer {token}"),))
        await call.write(HELLO)
        assert (await call.read()).HasField("welcome")
        yield call


def test_a_look_at_the_registry_takes_back_nothing_that_came_after_it() -> None:
    ada = Identity("ada", 1, ("1",))
    entrant = Entrant("ada", "1", "")
    tokens = {digest("old"): ada, digest("new"): replace(ada, bot="bob")}

    async def identify(sha256: bytes) -> Identity | None:
        return tokens.get(sha256)

    async def test() -> None:
        lobby = Guests(GAME, identify, admission=True)
        server = Server(lobby)
        address = await server.start()
        old = {digest("old"): ada}
        async with asyncio.timeout(20), dialled(address, "old"), AsyncExitStack() as stack:

            async def look() -> Mapping[bytes, Identity]:
                lobby.let_in(entrant)
                await stack.enter_async_context(dialled(address, "new"))
                return old

            await lobby.check(look)
            assert [one.entrant for one in lobby.present()] == [entrant]
            assert [one.entrant.name for one in lobby.newcomers()] == ["bob"]
            await lobby.check(looks(old))
            assert not lobby.present()
            assert [one.entrant for one in lobby.newcomers()] == [entrant]  # the registry says so
        await server.stop()

    asyncio.run(test())


def test_a_flood_of_wrong_tokens_costs_few_look_ups_and_keeps_out_nobody_who_is_known() -> None:
    ada, looked_up = Identity("ada", 1, ("1",)), list[bytes]()

    async def identify(sha256: bytes) -> Identity | None:
        looked_up.append(sha256)
        return ada if sha256 in (b"ada", b"new") else None

    async def flood(lobby: Guests) -> None:
        for number in range(1_000):
            try:
                assert not await lobby.knows(b"%d" % number)
            except ArenaError:
                return
        pytest.fail("nothing was refused")

    async def test() -> None:
        lobby = Guests(GAME, identify)
        await lobby.check(looks({b"ada": ada}))
        await flood(lobby)
        assert len(looked_up) == guests.MAX_STRANGE
        assert await lobby.knows(b"ada")
        with pytest.raises(ArenaError, match="come again in a second"):
            await lobby.knows(b"new")
        await lobby.check(looks({b"ada": ada, b"new": ada}))
        assert await lobby.knows(b"new")

    asyncio.run(test())


def test_a_bot_that_is_refused_over_and_over_is_one_line_of_the_log() -> None:
    async def identify(_: bytes) -> Identity | None:
        return Identity("ada", 1, ("1",))

    async def test() -> None:
        lobby, lines = Guests(GAME, identify), list[str]()
        lobby.notes = lines.append
        for sha256 in (b"one", b"two"):
            assert await lobby.knows(sha256)
            for number in range(100):
                lobby.refused(sha256, f"it calls itself {number}")
        assert lines == ["ada is refused: it calls itself 0"] * 2

    asyncio.run(test())


def test_connections_can_be_counted_from_a_thread_while_bots_come() -> None:
    """Metrics are: they are scraped beside the loop."""
    bots = {b"%d" % number: Identity(f"bot{number}", 1, ("1",)) for number in range(300)}
    done = threading.Event()

    async def identify(sha256: bytes) -> Identity | None:
        return bots.get(sha256)

    async def test() -> list[int]:
        lobby = Guests(GAME, identify)
        await lobby.check(looks(bots))
        counted = list[int]()

        def count() -> None:
            while not done.is_set():
                counted.append(lobby.connections)

        counting = asyncio.create_task(asyncio.to_thread(count))
        await asyncio.sleep(0)
        try:
            for sha256 in bots:
                assert await lobby.knows(sha256)
                lobby.session(sha256, pb.Hello())
                time.sleep(1e-4)  # noqa: ASYNC251 - lets the other thread count
        finally:
            done.set()
        await counting
        return counted

    assert set(asyncio.run(test())) == {0}
