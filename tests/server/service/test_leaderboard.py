"""The Leaderboard service over a real socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from tournaments import begin, patchwork_spec

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc, referee_pb2
from arena_server.service import Leaderboard
from arena_server.store import Store

Stub = Any
"""LeaderboardAsyncStub: a type of the stubs alone."""
Test = Callable[[Stub], Awaitable[None]]
Serve = Callable[[Test], None]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "arena.db")) as opened:
        yield opened


@pytest.fixture
def served(store: Store, tmp_path: Path) -> Serve:
    """Runs a test against a server with one tournament, `nightly`: 12 games, the last one still to play."""
    with (playing := begin(store, patchwork_spec(3, 4), name="nightly")).lock:
        store.record(playing.results()[:-1])
    return lambda test: asyncio.run(_serve(store, tmp_path / "socket", test))


def test_the_standings(served: Serve) -> None:
    async def test(stub: Stub) -> None:
        board = await stub.GetLeaderboard(pb.GetLeaderboardRequest())
        assert board == await stub.GetLeaderboard(pb.GetLeaderboardRequest(tournament="NIGHTLY"))
        assert (board.tournament, board.games_planned, board.games_rated) == ("nightly", 12, 11)
        assert [row.rank for row in board.standings] == [1, 2, 3]
        assert sum(row.wins for row in board.standings) == 11
        assert sum(row.failures["timeout"] for row in board.standings) == 1
        assert board.standings[0].HasField("margin")
        assert board.standings[0].bot.options["c"].number == 1.5

    served(test)


def test_who_was_taken_out(store: Store, tmp_path: Path) -> None:
    with begin(store, patchwork_spec(3, 4)).lock as lock:
        store.withdraw(lock.tournament, 1)

    async def test(stub: Stub) -> None:
        board = await stub.GetLeaderboard(pb.GetLeaderboardRequest())
        assert [row.bot.name for row in board.standings if row.withdrawn] == ["bot1"]

    asyncio.run(_serve(store, tmp_path / "socket", test))


def test_no_margin_before_the_first_game(store: Store, tmp_path: Path) -> None:
    store.enter(patchwork_spec(3, 4), name="empty")

    async def test(stub: Stub) -> None:
        board = await stub.GetLeaderboard(pb.GetLeaderboardRequest())
        assert not any(row.HasField("margin") for row in board.standings)
        assert await stub.ListGames(pb.ListGamesRequest()) == pb.ListGamesResponse()

    asyncio.run(_serve(store, tmp_path / "socket", test))


def test_the_bots(served: Serve) -> None:
    async def test(stub: Stub) -> None:
        response = await stub.ListBots(pb.ListBotsRequest())
        assert [bot.name for bot in response.bots] == ["bot0", "bot1", "bot2"]
        assert response.bots[1].digest == f"{1:064x}"

    served(test)


def test_games_in_pages(served: Serve) -> None:
    async def test(stub: Stub) -> None:
        numbers, after = [], 0
        while True:
            page = await stub.ListGames(pb.ListGamesRequest(page_size=5, after=after))
            numbers += [int(game.id.removeprefix("nightly/")) for game in page.games]
            after = page.next_after
            if not after:
                break
        assert numbers == list(range(1, 13))

    served(test)


def test_a_full_last_page_has_no_next(served: Serve) -> None:
    async def test(stub: Stub) -> None:
        assert (await stub.ListGames(pb.ListGamesRequest(page_size=12))).next_after == 0
        assert (await stub.ListGames(pb.ListGamesRequest(page_size=11))).next_after == 11
        assert len((await stub.ListGames(pb.ListGamesRequest(page_size=4_000_000_000))).games) == 12
        assert not (await stub.ListGames(pb.ListGamesRequest(after=4_000_000_000))).games

    served(test)


def test_what_a_list_tells(served: Serve) -> None:
    async def test(stub: Stub) -> None:
        page = await stub.ListGames(pb.ListGamesRequest(bot="bot1 1.0"))
        assert len(page.games) == 8
        assert all("bot1 1.0" in game.seats for game in page.games)
        games = {game.id: game for game in (await stub.ListGames(pb.ListGamesRequest())).games}
        assert games["nightly/8"].ending == referee_pb2.ENDING_TIMEOUT
        assert list(games["nightly/8"].ranks) == [2, 1]
        assert games["nightly/12"].ending == referee_pb2.ENDING_UNSPECIFIED

    served(test)


def test_a_record(served: Serve) -> None:
    async def test(stub: Stub) -> None:
        record = json.loads((await stub.GetGame(pb.GetGameRequest(id="nightly/3"))).record_json)
        assert (record["id"], record["termination"]) == ("nightly/3", "normal")
        assert len(record["moves"]) == len(record["times"])

    served(test)


NOT_FOUND, INVALID = grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("method", "request_", "code", "told"),
    [
        ("GetLeaderboard", pb.GetLeaderboardRequest(tournament="nigthly"), NOT_FOUND, "did you mean nightly?"),
        ("ListBots", pb.ListBotsRequest(tournament="x"), NOT_FOUND, "no such tournament: 'x'"),
        ("ListGames", pb.ListGamesRequest(bot="bot9"), NOT_FOUND, "no such bot in nightly: 'bot9'"),
        ("GetGame", pb.GetGameRequest(id="nightly/13"), NOT_FOUND, "nightly has games 1 to 12"),
        ("GetGame", pb.GetGameRequest(id="nightly/12"), NOT_FOUND, "no record of this game"),
        ("GetGame", pb.GetGameRequest(id="nonsense"), INVALID, "not a game: 'nonsense'"),
        ("GetGame", pb.GetGameRequest(), INVALID, "not a game: ''"),
        ("ListBots", pb.ListBotsRequest(tournament="x" * 60_000), NOT_FOUND, "no such tournament: 'xxx"),
    ],
)
def test_errors_have_a_status_and_say_what_to_do(
    served: Serve, method: str, request_: object, code: grpc.StatusCode, told: str
) -> None:
    async def test(stub: Stub) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await getattr(stub, method)(request_)
        assert refused.value.code() is code
        assert told in (refused.value.details() or "")

    served(test)


async def _serve(store: Store, socket: Path, test: Test) -> None:
    server = grpc.aio.server()
    leaderboard_pb2_grpc.add_LeaderboardServicer_to_server(Leaderboard(store), server)
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    try:
        async with asyncio.timeout(30), grpc.aio.insecure_channel(f"unix:{socket}") as channel:
            await test(leaderboard_pb2_grpc.LeaderboardStub(channel))
    finally:
        await server.stop(None)
