"""What a server bounds beside its bots' sessions: real servers, and clients that speak HTTP/2 as they like."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from itertools import takewhile
from typing import Any

import grpc
import pytest
from http2 import NO_WINDOW, Peer, block, continuation, crowd, data, headers, message, messages, window
from hyperframe.frame import GoAwayFrame, HeadersFrame, RstStreamFrame

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc, referee_pb2
from arena_engine.patchwork import GAME
from arena_server.wire import door, lobby, options, server, session
from arena_server.wire.lobby import Lobby
from arena_server.wire.options import MAX_METADATA

BOARD = "/arena.v1.Leaderboard/GetLeaderboard"
PLAY = "/arena.v1.Referee/Play"
SOON = 20.0
"""Seconds within which anything happens on a slow machine."""


class Board:
    """Answers one kind of question, once it may.

    Attributes:
        asked: how many questions have come.
    """

    def __init__(self) -> None:
        self.asked = 0
        self.may = asyncio.Event()

    async def answer(self, request: pb.GetLeaderboardRequest, _: object) -> pb.GetLeaderboardResponse:
        self.asked += 1
        await self.may.wait()
        return pb.GetLeaderboardResponse(tournament=request.tournament, next_page="x" * 100_000)

    @property
    def handler(self) -> Any:
        answers = grpc.unary_unary_rpc_method_handler(
            self.answer,
            request_deserializer=pb.GetLeaderboardRequest.FromString,
            response_serializer=pb.GetLeaderboardResponse.SerializeToString,
        )
        return grpc.method_handlers_generic_handler("arena.v1.Leaderboard", {"GetLeaderboard": answers})


Test = Callable[[str, Lobby, Board], Awaitable[None]]


CANCELLED = re.compile(
    r'Traceback \(most recent call last\):\n  File "[^"]*server\.pyx\.pxi", line \d+, in '
    r"grpc\._cython\.cygrpc\._schedule_rpc_coro\nasyncio\.exceptions\.CancelledError\n"
)
"""What gRPC itself prints now and then of a call whose client vanishes while its status waits to be sent."""


def serve(test: Test) -> None:
    async def main() -> None:
        bots, board = Lobby(GAME), Board()
        serving = server.serving(bots)
        serving.add_generic_rpc_handlers([board.handler])
        port = serving.add_insecure_port("127.0.0.1:0")
        await serving.start()
        try:
            async with asyncio.timeout(60):
                await test(f"127.0.0.1:{port}", bots, board)
        finally:
            board.may.set()
            await serving.stop(0)

    asyncio.run(main())


def changed(monkeypatch: pytest.MonkeyPatch, **values: int) -> None:
    """Gives options of the server other values."""
    given = [(name, values.get(name.rpartition(".")[2], value)) for name, value in options.channel_arguments()]
    assert values.keys() <= {name.rpartition(".")[2] for name, _ in given}
    monkeypatch.setattr(server, "channel_arguments", lambda: given)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON):
        while not condition():
            await asyncio.sleep(0.01)


def answer(peer: Peer) -> bytes | int:
    """What the server says to the first call: its headers as they are, or the code of a reset."""
    for one in peer.polite(SOON):
        if isinstance(one, HeadersFrame):
            return bytes(one.data)
        if isinstance(one, RstStreamFrame):
            return one.error_code
        assert not isinstance(one, GoAwayFrame), one
    return b""


@pytest.mark.parametrize(
    "more",
    [[("x-long", "y" * MAX_METADATA)], [(f"x-{number}", "") for number in range(MAX_METADATA // 32)]],
    ids=["long", "many"],
)
def test_too_much_metadata_is_refused_before_the_client_has_seen_settings(more: list[tuple[str, str]]) -> None:
    async def test(address: str, _: Lobby, board: Board) -> None:
        def ask() -> bytes | int:
            with Peer(address) as peer:  # it never says that it has seen them
                content = block(BOARD, more)
                pieces = [content[at : at + 16_000] for at in range(0, len(content), 16_000)]
                peer.send(headers(1, pieces[0], "END_STREAM"), *[continuation(1, piece) for piece in pieces[1:]])
                peer.send(continuation(1, b"", "END_HEADERS"))
                return answer(peer)

        told = await asyncio.to_thread(ask)
        assert isinstance(told, bytes)
        assert b"bytes of metadata" in told
        assert not board.asked

    serve(test)


def test_who_does_not_take_answers_keeps_others_from_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(door, "MAX_OF_HOST", 3)
    monkeypatch.setattr(door, "host", lambda peer: peer)  # here each connection is a host

    async def test(address: str, _: Lobby, board: Board) -> None:
        board.may.set()

        def ask() -> list[bytes]:
            with Peer(address, NO_WINDOW) as peer:
                calls = range(1, 13, 2)
                for call in calls:
                    peer.send(headers(call, block(BOARD)), data(call, message(b"")))
                told = [one for one in peer.polite(SOON / 10) if isinstance(one, HeadersFrame)]
                return [bytes(one.data) for one in told if b"too many calls" in one.data]

        assert len(await asyncio.to_thread(ask)) == 3
        assert board.asked == 3
        async with grpc.aio.insecure_channel(address) as channel:
            stub: Any = leaderboard_pb2_grpc.LeaderboardStub(channel)
            assert (await stub.GetLeaderboard(pb.GetLeaderboardRequest(tournament="t"))).tournament == "t"

    serve(test)
    assert "Traceback" not in CANCELLED.sub("", capfd.readouterr().err)


def test_a_request_that_does_not_arrive_keeps_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "ARRIVAL_S", 0.3)
    monkeypatch.setattr(door, "MAX_CALLS", 1)

    async def test(address: str, _: Lobby, board: Board) -> None:
        board.may.set()
        with Peer(address) as peer:
            claim = data(1, message(b"", claimed=100), last=False)
            await asyncio.to_thread(peer.send, headers(1, block(BOARD)), claim)
            async with grpc.aio.insecure_channel(address) as channel:
                stub: Any = leaderboard_pb2_grpc.LeaderboardStub(channel)
                seen = set[grpc.StatusCode]()
                async with asyncio.timeout(SOON):
                    while grpc.StatusCode.RESOURCE_EXHAUSTED not in seen or grpc.StatusCode.OK not in seen:
                        seen.add(await stub.GetLeaderboard(pb.GetLeaderboardRequest()).code())
        assert board.asked

    serve(test)


@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        ("ipv4:10.0.0.1:5400", "10.0.0.1"),
        ("ipv6:%5B2001:db8::1%5D:5400", "2001:0db8:0000:0000"),
        ("ipv6:[fe80::1%25eth0]:5400", "fe80:0000:0000:0000"),
        ("unix:", "unix"),
        ("unix:/run/arena/socket", "unix"),
    ],
)
def test_a_host_is_an_address_or_a_network(peer: str, expected: str) -> None:
    assert door.host(peer) == expected


def test_calls_of_one_method_at_once_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MAX_CALLS", 3)

    async def test(address: str, _: Lobby, board: Board) -> None:
        async with grpc.aio.insecure_channel(address) as channel:
            stub: Any = leaderboard_pb2_grpc.LeaderboardStub(channel)
            open_ones = [stub.GetLeaderboard(pb.GetLeaderboardRequest()) for _ in range(3)]
            await until(lambda: board.asked == 3)
            with pytest.raises(grpc.aio.AioRpcError, match="too many calls at once"):
                await stub.GetLeaderboard(pb.GetLeaderboardRequest())
            with pytest.raises(grpc.aio.AioRpcError) as other:  # another method is not full
                await stub.GetChain(pb.GetChainRequest())
            assert other.value.code() is grpc.StatusCode.UNIMPLEMENTED
            board.may.set()
            await asyncio.gather(*open_ones)
            assert (await stub.GetLeaderboard(pb.GetLeaderboardRequest(tournament="t"))).tournament == "t"

    serve(test)


def test_a_request_that_is_no_message_is_the_caller_s_mistake(capfd: pytest.CaptureFixture[str]) -> None:
    async def test(address: str, _: Lobby, board: Board) -> None:
        async with grpc.aio.insecure_channel(address) as channel:
            call: Any = channel.unary_unary(BOARD)
            for content in (b"\xff" * 9, b"\x0a\x02\xed\xa0", b"\x0a\xff\xff\xff\xff\x0f"):
                with pytest.raises(grpc.aio.AioRpcError) as refused:
                    await call(content)
                assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
                assert refused.value.details() == "the request is no message of this method"
        assert not board.asked

    serve(test)
    assert "Traceback" not in CANCELLED.sub("", capfd.readouterr().err)


def test_connections_are_bounded_and_idle_ones_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    changed(monkeypatch, max_allowed_incoming_connections=5, max_connection_idle_ms=1_000)

    async def test(address: str, _: Lobby, board: Board) -> None:
        board.may.set()

        def flood() -> tuple[int, int]:
            with crowd(address, 12) as peers:
                refused = sum(peer.is_closed_within(0.05) for peer in peers)
                return refused, sum(peer.is_closed_within(SOON) for peer in peers if not peer.ended)

        assert await asyncio.to_thread(flood) == (7, 5)
        async with grpc.aio.insecure_channel(address) as channel:
            stub: Any = leaderboard_pb2_grpc.LeaderboardStub(channel)
            assert (await stub.GetLeaderboard(pb.GetLeaderboardRequest(tournament="t"))).tournament == "t"

    serve(test)


def hello() -> bytes:
    return referee_pb2.PlayRequest(
        hello=referee_pb2.Hello(protocol_min=1, protocol_max=1, rules={"patchwork": "1"})
    ).SerializeToString()


def test_a_bot_that_takes_nothing_is_lost_and_may_come_again(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session, "SEND_S", 0.3)

    async def test(address: str, bots: Lobby, _: Board) -> None:
        token, known = bots.admit("bot", ())
        with Peer(address, NO_WINDOW) as peer:
            dialled = headers(1, block(PLAY, token=token)), data(1, message(hello()), last=False)
            await asyncio.to_thread(peer.send, *dialled)
            await until(lambda: known.connected)
            await until(lambda: not known.connected)
            assert not known.arrived.done()
            async with grpc.aio.insecure_channel(address) as channel:
                call: Any = channel.stream_stream(PLAY)(metadata=(("authorization", f"Bearer {token}"),))
                await call.write(hello())
                assert referee_pb2.PlayResponse.FromString(await call.read()).HasField("welcome")
                await until(known.arrived.done)
                assert known.connected

    serve(test)
    assert "Traceback" not in CANCELLED.sub("", capfd.readouterr().err)


def test_one_that_took_nothing_does_not_delay_the_next_stream_of_its_token() -> None:
    async def test(address: str, bots: Lobby, _: Board) -> None:
        token, known = bots.admit("bot", ())
        stuck = Peer(address, NO_WINDOW)
        with stuck:
            await asyncio.to_thread(
                stuck.send, headers(1, block(PLAY, token=token)), data(1, message(hello()), last=False)
            )
            await until(lambda: known.connected)
            async with grpc.aio.insecure_channel(address) as channel, asyncio.timeout(session.SEND_S - 1):
                call: Any = channel.stream_stream(PLAY)(metadata=(("authorization", f"Bearer {token}"),))
                await call.write(hello())
                assert referee_pb2.PlayResponse.FromString(await call.read()).HasField("welcome")
                await until(known.arrived.done)

    serve(test)


def test_who_is_said_goodbye_is_gone_at_once_and_hears_it_behind_welcome() -> None:
    goodbye = referee_pb2.PlayResponse(goodbye=referee_pb2.Goodbye(text="bye"))

    async def test(address: str, bots: Lobby, _: Board) -> None:
        token, known = bots.admit("bot", ())
        with Peer(address, NO_WINDOW) as peer:
            dialled = headers(1, block(PLAY, token=token)), data(1, message(hello()), last=False)
            await asyncio.to_thread(peer.send, *dialled)
            await until(lambda: known.connected)
            known.end(goodbye.SerializeToString())
            assert not known.connected
            assert not await known.send(b"")

            def take() -> list[bytes]:
                peer.send(window(1, 1 << 16))
                return list(messages(takewhile(lambda one: "END_STREAM" not in one.flags, peer.polite(SOON))))

            told = [referee_pb2.PlayResponse.FromString(data) for data in await asyncio.to_thread(take)]
            assert [one.WhichOneof("message") for one in told] == ["welcome", "goodbye"]

    serve(test)


def test_streams_that_have_not_said_hello_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lobby, "MAX_STRANGERS", 6)

    async def test(address: str, bots: Lobby, _: Board) -> None:
        tokens = [bots.admit(f"bot{number}", ())[0] for number in range(3)]
        channels = [grpc.aio.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)]) for _ in range(2)]

        def dial(token: str, number: int = 0) -> Any:
            metadata = (("authorization", f"Bearer {token}"),)
            return channels[number].stream_stream(PLAY)(metadata=metadata)

        async def waiting(number: int) -> None:
            await until(lambda: bots._strangers.total() == number)

        silent = [dial(tokens[0]) for _ in range(lobby.MAX_OF_ONE)]
        await waiting(lobby.MAX_OF_ONE)
        assert await dial(tokens[0]).code() is grpc.StatusCode.RESOURCE_EXHAUSTED  # too many of this one
        others = [dial(tokens[1], 1) for _ in range(2)]
        await waiting(6)
        assert await dial(tokens[2], 1).code() is grpc.StatusCode.RESOURCE_EXHAUSTED  # too many in all
        for call in (*silent, *others):
            call.cancel()
        await waiting(0)
        welcome = dial(tokens[2])
        await welcome.write(hello())
        assert referee_pb2.PlayResponse.FromString(await welcome.read()).HasField("welcome")
        for channel in channels:
            await channel.close()

    serve(test)


def test_a_stream_without_hello_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lobby, "HELLO_LIMIT", 0.3)

    async def test(address: str, bots: Lobby, _: Board) -> None:
        token, _session = bots.admit("bot", ())
        async with grpc.aio.insecure_channel(address) as channel:
            call: Any = channel.stream_stream(PLAY)(metadata=(("authorization", f"Bearer {token}"),))
            assert await call.code() is grpc.StatusCode.INVALID_ARGUMENT

    serve(test)


def test_what_a_bot_says_of_itself_is_told_escaped_and_cut() -> None:
    async def test(address: str, bots: Lobby, _: Board) -> None:
        token, _session = bots.admit("bot", ())
        async with grpc.aio.insecure_channel(address) as channel:
            call: Any = channel.stream_stream(PLAY)(metadata=(("authorization", f"Bearer {token}"),))
            evil = referee_pb2.Hello(protocol_min=1, protocol_max=1, rules={"patchwork": "\x1b[2J" + "x" * 60_000})
            await call.write(referee_pb2.PlayRequest(hello=evil).SerializeToString())
            text = referee_pb2.PlayResponse.FromString(await call.read()).goodbye.text
            assert "\\x1b[2J" in text
            assert "\x1b" not in text
            assert len(text) < 400

    serve(test)
