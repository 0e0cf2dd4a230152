"""The server that bots dial: real streams over real sockets."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest

from arena.v1 import referee_pb2 as pb
from arena.v1 import referee_pb2_grpc
from arena_engine.patchwork import GAME
from arena_server.model import ArenaError, Identity
from arena_server.referee.guests import Guests
from arena_server.wire.lobby import Lobby
from arena_server.wire.options import MAX_MESSAGE, MAX_METADATA, SERVER_OPTIONS
from arena_server.wire.server import Server
from arena_server.wire.session import GameMessage

HELLO = pb.PlayRequest(hello=pb.Hello(protocol_min=1, protocol_max=1, games_at_once=1, rules={"patchwork": "1"}))


class Listener:
    """Notes what a session tells it."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def received(self, message: GameMessage, at: float) -> None:  # noqa: ARG002 - the protocol's
        self.heard.append(message)

    def malformed(self, reason: str) -> None:
        self.heard.append(reason)

    def lost(self) -> None:
        self.heard.append("lost")

    def returned(self) -> None:
        self.heard.append("returned")


def play(
    test: Callable[[Lobby, str], Coroutine[Any, Any, None]],
    transport: str = "unix",
    *,
    lobby: Callable[[], Lobby] = lambda: Lobby(GAME),
) -> None:
    """Runs a test against a running server."""

    async def main() -> None:
        known = lobby()
        server = Server(known, transport)
        address = await server.start()
        try:
            async with asyncio.timeout(30):
                await test(known, address)
        finally:
            await server.stop()

    asyncio.run(main())


@asynccontextmanager
async def stream(address: str, token: str, **metadata: str) -> AsyncIterator[Any]:
    async with grpc.aio.insecure_channel(address) as channel:
        stub = referee_pb2_grpc.RefereeStub(channel)
        yield stub.Play(metadata=(("authorization", f"Bearer {token}"), *metadata.items()))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


async def status(call: Any) -> grpc.StatusCode:
    code: Awaitable[grpc.StatusCode] = call.code()
    return await code


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_a_bot_with_a_token_is_welcomed_with_its_options(transport: str) -> None:
    async def test(lobby: Lobby, address: str) -> None:
        token, session = lobby.admit("mcts", (("c", 1.4), ("deep", True), ("n", 3), ("name", "x")), "0.3")
        async with stream(address, token) as call:
            await call.write(HELLO)
            welcome = (await call.read()).welcome
            assert (welcome.protocol, welcome.bot, welcome.version, welcome.tournament) == (1, "mcts", "0.3", "")
            assert welcome.options["c"].number == 1.4
            assert welcome.options["deep"].flag is True
            assert welcome.options["n"].integer == 3
            assert welcome.options["name"].text == "x"
            assert session.connected
            assert await session.arrived == ""
        await until(lambda: not session.connected)

    play(test, transport)


@pytest.mark.parametrize("token", ["", "wrong", "wrong" * 100])
def test_a_wrong_token_is_refused(token: str) -> None:
    async def test(_lobby: Lobby, address: str) -> None:
        async with stream(address, token) as call:
            assert await status(call) is grpc.StatusCode.UNAUTHENTICATED

    play(test)


def test_a_dismissed_bot_cannot_come_back() -> None:
    async def test(lobby: Lobby, address: str) -> None:
        token, session = lobby.admit("bot", ())
        lobby.dismiss(session)
        async with stream(address, token) as call:
            assert await status(call) is grpc.StatusCode.UNAUTHENTICATED

    play(test)


@pytest.mark.parametrize(
    ("hello", "code", "words"),
    [
        (pb.Hello(protocol_min=2, protocol_max=3), pb.GOODBYE_CODE_VERSION, "speaks protocol 1, the bot 2 to 3"),
        (pb.Hello(protocol_min=1, protocol_max=1, rules={"patchwork": "9"}), pb.GOODBYE_CODE_RULES, "rules 9"),
        (pb.Hello(protocol_min=1, protocol_max=1, rules={"chess": "1"}), pb.GOODBYE_CODE_RULES, "no such game"),
    ],
)
def test_a_bot_that_does_not_fit_is_told_why(hello: pb.Hello, code: int, words: str) -> None:
    async def test(lobby: Lobby, address: str) -> None:
        token, session = lobby.admit("bot", ())
        async with stream(address, token) as call:
            await call.write(pb.PlayRequest(hello=hello))
            goodbye = (await call.read()).goodbye
            assert goodbye.code == code
            assert words in goodbye.text
            assert words in await session.arrived

    play(test)


def test_a_stream_begins_with_hello() -> None:
    async def test(lobby: Lobby, address: str) -> None:
        token, _ = lobby.admit("bot", ())
        async with stream(address, token) as call:
            await call.write(pb.PlayRequest(ready=pb.Ready(handle="x")))
            assert await status(call) is grpc.StatusCode.INVALID_ARGUMENT

    play(test)


def test_messages_reach_the_game_they_name_and_no_other() -> None:
    async def test(lobby: Lobby, address: str) -> None:
        token, session = lobby.admit("bot", ())
        one, two = Listener(), Listener()
        session.games = {"one": one, "two": two}
        async with stream(address, token) as call:
            await call.write(HELLO)
            await call.read()
            for handle in ("one", "elsewhere", "two"):
                await call.write(pb.PlayRequest(move=pb.Move(handle=handle, ply=3, move=">")))
            await call.write(pb.PlayRequest())
            await call.write(HELLO)
            await until(lambda: len(two.heard) == 4)
            assert [getattr(heard, "handle", heard) for heard in one.heard] == [
                "returned",
                "one",
                "an empty message",
                "a second Hello",
            ]
            assert two.heard[1] == pb.Move(handle="two", ply=3, move=">")
        await until(lambda: one.heard[-1] == "lost")

    play(test)


def test_garbage_within_a_stream_is_told_to_the_games_and_ends_none() -> None:
    async def test(lobby: Lobby, address: str) -> None:
        token, session = lobby.admit("bot", ())
        session.games["game"] = listener = Listener()
        async with grpc.aio.insecure_channel(address) as channel:
            metadata = grpc.aio.Metadata(("authorization", f"Bearer {token}"))
            call: Any = channel.stream_stream("/arena.v1.Referee/Play")(metadata=metadata)
            move = pb.PlayRequest(move=pb.Move(handle="game", ply=1, move=">"))
            for data in (HELLO.SerializeToString(), b"\xff", move.SerializeToString()):
                await call.write(data)
            await until(lambda: len(listener.heard) == 3)
            assert listener.heard == ["returned", "bytes that are no PlayRequest", move.move]

    play(test)


class Registry:
    """Answers as it is told to."""

    answer: Identity | ArenaError

    async def identify(self, _sha256: bytes) -> Identity | None:
        if isinstance(self.answer, ArenaError):
            raise self.answer
        return self.answer


def test_a_guest_hears_whom_it_is_taken_for() -> None:
    registry = Registry()
    registry.answer = Identity("Ada", 1, ("1", "2"))

    async def test(_lobby: Lobby, address: str) -> None:
        for said, version in (("", "2"), ("1", "1")):
            async with stream(address, "token") as call:
                await call.write(pb.PlayRequest(hello=pb.Hello(protocol_min=1, protocol_max=1, version=said)))
                welcome = (await call.read()).welcome
                assert (welcome.bot, welcome.version, welcome.tournament) == ("Ada", version, "2027")

    def guests() -> Guests:
        made = Guests(GAME, registry.identify)
        made.season = "2027"
        return made

    play(test, lobby=guests)


def test_guests_come_again_when_the_registry_cannot_answer() -> None:
    registry = Registry()

    async def test(_lobby: Lobby, address: str) -> None:
        for answer, code in (
            (ArenaError("the disk is full", "/secret/path"), grpc.StatusCode.UNAVAILABLE),
            (Identity("ada", 1, ()), grpc.StatusCode.PERMISSION_DENIED),
        ):
            registry.answer = answer
            async with stream(address, "token") as call:
                with suppress(grpc.RpcError):
                    await call.write(HELLO)
                assert await status(call) is code
                assert "secret" not in await call.details()

    play(test, lobby=lambda: Guests(GAME, registry.identify))


@pytest.mark.parametrize(
    ("hello", "told"),
    [
        (pb.Hello(protocol_min=2, protocol_max=3), "ada is refused: the arena speaks protocol 1, the bot 2 to 3: "),
        (pb.Hello(protocol_min=1, protocol_max=1, version="9"), "ada is refused: ada has no version 9 that plays, "),
        (pb.Hello(protocol_min=1, protocol_max=1, bot="b" * 9999), "ada is refused: this token is ada's, "),
    ],
)
def test_the_organiser_hears_why_a_guest_is_refused(hello: pb.Hello, told: str) -> None:
    registry, notes = Registry(), list[str]()
    registry.answer = Identity("ada", 1, ("1",))

    async def test(_lobby: Lobby, address: str) -> None:
        async with stream(address, "token") as call:
            with suppress(grpc.RpcError):
                await call.write(pb.PlayRequest(hello=hello))
            await until(lambda: bool(notes))
            [line] = notes
            assert line.startswith(told)
            assert len(line) < 200

    def guests() -> Guests:
        made = Guests(GAME, registry.identify)
        made.notes = notes.append
        return made

    play(test, lobby=guests)


def test_a_new_stream_takes_the_place_of_the_old_one() -> None:
    async def test(lobby: Lobby, address: str) -> None:
        token, session = lobby.admit("bot", ())
        async with stream(address, token) as first:
            await first.write(HELLO)
            await first.read()
            await session.arrived  # the client may read Welcome before the server goes on
            listener = Listener()
            session.games["game"] = listener
            async with stream(address, token) as second:
                await second.write(HELLO)
                assert (await second.read()).HasField("welcome")
                await until(lambda: listener.heard == ["lost", "returned"])
                assert await session.send(pb.PlayResponse(goodbye=pb.Goodbye(text="bye")).SerializeToString())
                assert (await second.read()).goodbye.text == "bye"
                assert (await first.read()).goodbye.code == pb.GOODBYE_CODE_REPLACED
                assert await first.read() is grpc.aio.EOF
                await second.write(pb.PlayRequest(move=pb.Move(handle="game", ply=1, move=">")))
                await until(lambda: len(listener.heard) > 2)
                assert listener.heard[2].ply == 1

    play(test)


def goodbye(text: str) -> bytes:
    return pb.PlayResponse(goodbye=pb.Goodbye(text=text)).SerializeToString()


def test_what_is_posted_leaves_once_in_order_with_a_stream_and_without() -> None:
    async def test(lobby: Lobby, address: str) -> None:
        token, session = lobby.admit("bot", ())
        left: list[str] = []
        session.post(goodbye("too early"), lambda: left.append("too early"))
        assert left == ["too early"]
        async with stream(address, token) as call:
            await call.write(HELLO)
            await call.read()
            await session.arrived
            session.post(goodbye("one"), lambda: left.append("one"))
            assert left == ["too early"]
            assert await session.send(goodbye("two"))
            assert left == ["too early", "one"]
            assert [(await call.read()).goodbye.text for _ in range(2)] == ["one", "two"]
        await until(lambda: not session.connected)
        session.post(goodbye("too late"), lambda: left.append("too late"))
        assert left == ["too early", "one", "too late"]

    play(test)


def test_a_bot_that_does_not_read_holds_nobody_up() -> None:
    async def test(lobby: Lobby, address: str) -> None:
        token, session = lobby.admit("bot", ())
        left: list[int] = []
        async with stream(address, token) as call:
            await call.write(HELLO)
            await session.arrived
            for number in range(100):
                session.post(goodbye("x" * MAX_MESSAGE), partial(left.append, number))
            last = asyncio.ensure_future(session.send(goodbye("")))
            await until(lambda: bool(left))
            assert session.connected
            assert not last.done()
        assert not await last
        assert left == list(range(100))

    play(test)


def test_nothing_is_sent_without_a_stream() -> None:
    async def test(lobby: Lobby, _address: str) -> None:
        _, session = lobby.admit("bot", ())
        assert not await session.send(b"")

    play(test)


def test_a_message_over_the_limit_ends_its_stream() -> None:
    async def test(lobby: Lobby, address: str) -> None:
        token, _ = lobby.admit("bot", ())
        async with stream(address, token) as call:
            await call.write(HELLO)
            await call.read()
            await call.write(pb.PlayRequest(failure=pb.Failure(handle="x", traceback="x" * MAX_MESSAGE)))
            assert await status(call) is grpc.StatusCode.RESOURCE_EXHAUSTED

    play(test)


@pytest.mark.parametrize(
    ("method", "code"), [("Play", grpc.StatusCode.INVALID_ARGUMENT), ("Plan", grpc.StatusCode.UNIMPLEMENTED)]
)
def test_bytes_that_are_no_message_and_methods_that_are_none_end_the_call(method: str, code: grpc.StatusCode) -> None:
    async def test(lobby: Lobby, address: str) -> None:
        token, session = lobby.admit("bot", ())
        async with grpc.aio.insecure_channel(address) as channel:
            metadata = grpc.aio.Metadata(("authorization", f"Bearer {token}"))
            call: Any = channel.stream_stream(f"/arena.v1.Referee/{method}")(metadata=metadata)
            with suppress(grpc.RpcError):  # it may be over by now
                await call.write(b"\xff")
            assert await status(call) is code
        assert not session.connected

    play(test)


def test_too_much_metadata_is_refused() -> None:
    async def test(lobby: Lobby, address: str) -> None:
        token, _ = lobby.admit("bot", ())
        async with stream(address, token, junk="x" * MAX_METADATA) as call:
            assert await status(call) is grpc.StatusCode.RESOURCE_EXHAUSTED

    play(test)


def test_a_second_server_on_the_port_fails() -> None:
    async def test(_lobby: Lobby, address: str) -> None:
        options = [(option.name, option.value) for option in SERVER_OPTIONS]
        with pytest.raises(RuntimeError):
            grpc.aio.server(options=options).add_insecure_port(address)

    play(test, "tcp")


def test_the_socket_is_private_and_gone_afterwards() -> None:
    folders: list[Path] = []

    async def test(_lobby: Lobby, address: str) -> None:
        folder = Path(address.removeprefix("unix:")).parent
        folders.append(folder)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    play(test)
    assert not folders[0].exists()


def test_a_long_temporary_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))

    async def start() -> None:
        await Server(Lobby(GAME)).start()

    with pytest.raises(ArenaError, match="set TMPDIR"):
        asyncio.run(start())
    assert not list(deep.iterdir())
