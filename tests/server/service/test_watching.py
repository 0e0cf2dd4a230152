"""Games while they are played, from a stand-in for an executor: what it plays is what a test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from serving import GENEROUS_S
from tournaments import Playing, begin, patchwork_spec

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc
from arena_server.executors import Running
from arena_server.model import Result
from arena_server.service import leaderboard, watching
from arena_server.service.leaderboard import Leaderboard
from arena_server.service.visibility import FairPlay
from arena_server.store import Store


@dataclass
class Stage:
    """Plays what it is told."""

    games: list[Running] = field(default_factory=list)
    looks: int = 0

    def running(self) -> list[Running]:
        self.looks += 1
        return list(self.games)

    def play(self, result: Result, plies: int) -> None:
        self.end(result)
        moves = tuple(move.move for move in result.moves[:plies])
        self.games.append(Running(result.assignment, plies, "a", 0.1, moves))

    def end(self, result: Result) -> None:
        self.games = [game for game in self.games if game.assignment.game_id != result.assignment.game_id]


@dataclass
class Hall:
    """A tournament, its stage, and the server beside them."""

    playing: Playing
    stage: Stage
    channel: grpc.aio.Channel
    service: Leaderboard

    def watch(self, tournament: str = "") -> Any:
        stub = leaderboard_pb2_grpc.LeaderboardStub(self.channel)
        return stub.WatchGames(pb.WatchGamesRequest(tournament=tournament))

    async def looked(self) -> None:
        """Waits until what is on the stage now was seen."""
        looks = self.stage.looks
        while self.stage.looks < looks + 2:
            await asyncio.sleep(0.01)

    @property
    def readers(self) -> int:
        return len(self.service._spectators._readers)


Test = Callable[[Hall], Awaitable[None]]


@asynccontextmanager
async def hall(tmp_path: Path, **options: Any) -> AsyncIterator[Hall]:
    with Store.open(str(tmp_path / "arena.db")) as store:
        playing, stage, server = begin(store, patchwork_spec(3, 4), name="nightly"), Stage(), grpc.aio.server()
        service = Leaderboard(store, **{"live": stage, "statement_s": GENEROUS_S, **options})
        leaderboard_pb2_grpc.add_LeaderboardServicer_to_server(service, server)
        address = f"unix:{tmp_path / 'socket'}"
        server.add_insecure_port(address)
        await server.start()
        try:
            async with asyncio.timeout(100), grpc.aio.insecure_channel(address) as channel:
                yield Hall(playing, stage, channel, service)
        finally:
            await server.stop(None)
            service.close()


def run(tmp_path: Path, test: Test, **options: Any) -> None:
    async def inside() -> None:
        async with hall(tmp_path, **options) as opened:
            await test(opened)

    asyncio.run(inside())


def test_a_game_that_only_tests_a_bot_is_nobodys_business(tmp_path: Path) -> None:
    async def test(hall: Hall) -> None:
        tried, rated, *_ = hall.playing.results()
        hall.stage.play(replace(tried, assignment=replace(tried.assignment, trial=True)), 2)
        hall.stage.play(rated, 2)
        call = hall.watch()
        assert (await call.read()).began.id == rated.assignment.game_id
        hall.stage.end(tried)
        hall.stage.play(rated, 3)
        assert (await call.read()).played.id == rated.assignment.game_id

    run(tmp_path, test)


def test_a_game_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    async def test(hall: Hall) -> None:
        first, second, *_ = hall.playing.results()
        hall.stage.play(first, 2)
        calls = hall.watch(), hall.watch("NIGHTLY")
        for call in calls:
            began = (await call.read()).began
            assert (began.id, list(began.plies)) == ("nightly/1", [move.move for move in first.moves[:2]])
            assert dict(began.deal) == dict(first.assignment.planned.deal)
        hall.stage.play(first, 5)
        for call in calls:
            played = (await call.read()).played
            assert (played.id, played.ply, len(played.plies)) == ("nightly/1", 2, 3)
        await asyncio.to_thread(hall.playing.store.record, [first])
        hall.stage.end(first)
        hall.stage.play(second, 0)
        for call in calls:
            events = [await call.read(), await call.read()]
            assert {event.WhichOneof("event") for event in events} == {"began", "ended"}
            ended = next(event.ended for event in events if event.WhichOneof("event") == "ended")
            assert (ended.id, ended.status, len(ended.ranks)) == ("nightly/1", "finished", 2)

    run(tmp_path, test)


def test_an_attempt_that_comes_to_nothing(tmp_path: Path) -> None:
    async def test(hall: Hall) -> None:
        first = hall.playing.results()[0]
        hall.stage.play(first, 3)
        call = hall.watch()
        assert (await call.read()).WhichOneof("event") == "began"
        token = replace(first.assignment.token, attempt=2)
        hall.stage.play(replace(first, assignment=replace(first.assignment, token=token)), 0)
        assert (await call.read()).void.id == "nightly/1"
        assert (await call.read()).began.id == "nightly/1"

    run(tmp_path, test)


def test_what_is_hidden_is_told_when_it_is_over(tmp_path: Path) -> None:
    policy = FairPlay({"nightly"})

    async def test(hall: Hall) -> None:
        first = hall.playing.results()[0]
        hall.stage.play(first, 2)
        call = hall.watch()
        await asyncio.to_thread(hall.playing.store.record, [first])
        await hall.looked()
        hall.stage.end(first)
        await hall.looked()
        second = hall.playing.results()[0]  # with the same deal and bots
        hall.stage.play(second, 2)
        await hall.looked()
        await asyncio.to_thread(hall.playing.store.record, [second])
        hall.stage.end(second)
        assert {(await call.read()).ended.id for _ in range(2)} == {"nightly/1", "nightly/2"}  # and nothing before

    run(tmp_path, test, visibility=policy)


def test_owners_who_allow_it_halfway(tmp_path: Path) -> None:
    policy = FairPlay({"nightly"})

    async def test(hall: Hall) -> None:
        first = hall.playing.results()[0]
        hall.stage.play(first, 2)
        call = hall.watch()
        await hall.looked()
        policy.open = {"bot0", "bot1", "bot2"}
        hall.stage.play(first, 3)
        assert (await call.read()).played.plies == [first.moves[2].move]
        await asyncio.to_thread(hall.playing.store.record, [first])
        hall.stage.end(first)
        assert (await call.read()).ended.id == "nightly/1"  # though the second game of its pairing is to come

    run(tmp_path, test, visibility=policy)


def test_nobody_looks_where_nobody_watches(tmp_path: Path) -> None:
    async def test(hall: Hall) -> None:
        call = hall.watch()
        while not hall.stage.looks:
            await asyncio.sleep(0.01)
        call.cancel()
        while hall.service._spectators._looking is not None:
            await asyncio.sleep(0.01)
        looks = hall.stage.looks
        await asyncio.sleep(3 * watching.PERIOD_S)
        assert (hall.stage.looks, hall.readers) == (looks, 0)

    run(tmp_path, test)


def test_a_reader_that_reads_nothing_is_cut_and_others_hear_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "PERIOD_S", 0.001)
    monkeypatch.setattr(leaderboard, "SEND_S", 2.0)

    async def test(hall: Hall) -> None:
        first = hall.playing.results()[0]
        big = replace(first, moves=tuple(move._replace(move="x" * 2000) for move in first.moves * 4))
        hall.stage.play(big, 0)
        slow, quick = hall.watch(), hall.watch()
        assert (await slow.read()).began.id == (await quick.read()).began.id == "nightly/1"
        heard = 0
        while hall.readers != 1:
            token = replace(big.assignment.token, attempt=heard + 2)
            hall.stage.play(replace(big, assignment=replace(big.assignment, token=token)), 100)
            while (await quick.read()).WhichOneof("event") != "began":
                pass
            heard += 1
        assert heard > 0
        with pytest.raises(grpc.aio.AioRpcError) as cut:
            await to_the_end(slow)
        assert "this reader is too slow" in (cut.value.details() or "")
        quick.cancel()

    run(tmp_path, test)


async def to_the_end(call: Any) -> None:
    while await call.read() is not grpc.aio.EOF:
        pass


def test_where_nothing_is_played(tmp_path: Path) -> None:
    async def test(hall: Hall) -> None:
        for call, told in ((hall.watch(), "no games are played here"), (hall.watch("x"), "no such tournament")):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call.read()
            assert told in (refused.value.details() or "")

    run(tmp_path, test, live=None)
