"""Who comes from elsewhere."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from arena.v1 import referee_pb2 as pb
from arena_engine.patchwork import GAME
from arena_server.model import ArenaError, Identity
from arena_server.referee import guests
from arena_server.referee.guests import Guests


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
        await lobby.check({b"ada": ada})
        await flood(lobby)
        assert len(looked_up) == guests.MAX_STRANGE
        assert await lobby.knows(b"ada")
        with pytest.raises(ArenaError, match="come again in a second"):
            await lobby.knows(b"new")
        await lobby.check({b"ada": ada, b"new": ada})
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
        await lobby.check(bots)
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
