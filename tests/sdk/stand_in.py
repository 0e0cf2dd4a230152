"""A real gRPC server whose referee is the test itself, bots for it, and a game's position as a referee keeps it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import grpc

from arena.v1 import referee_pb2 as pb
from arena.v1 import referee_pb2_grpc
from arena_engine import game as games

WAIT = 20
"""Seconds after which something expected is taken for missing."""


class Stream:
    """One ``Play`` call, seen from the arena."""

    def __init__(self, context: grpc.ServicerContext) -> None:
        self.metadata = dict(context.invocation_metadata())
        self.requests: SimpleQueue[pb.PlayRequest | None] = SimpleQueue()
        self.responses: SimpleQueue[pb.PlayResponse | grpc.StatusCode | None] = SimpleQueue()

    def receive(self, kind: str, timeout: float = WAIT) -> Any:
        """The next request, which must be of that kind."""
        request = self.requests.get(timeout=timeout)
        assert request is not None, f"the bot left instead of a {kind}"
        assert request.WhichOneof("message") == kind, request
        return getattr(request, kind)

    def closed(self) -> bool:
        """Waits for the end of the stream; whether nothing else was said before."""
        return self.requests.get(timeout=WAIT) is None

    def send(self, **message: Any) -> None:
        self.responses.put(pb.PlayResponse(**message))

    def welcome(self, **options: pb.Option) -> pb.Hello:
        hello: pb.Hello = self.receive("hello")
        self.send(welcome=pb.Welcome(protocol=1, options=options))
        return hello

    def fail(self, status: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE) -> None:
        self.responses.put(status)

    def goodbye(self, code: pb.GoodbyeCode.ValueType = pb.GOODBYE_CODE_DONE, **fields: Any) -> None:
        self.send(goodbye=pb.Goodbye(code=code, **fields))
        self.responses.put(None)


class Arena(referee_pb2_grpc.RefereeServicer):
    """Hands every call to the test."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.streams: SimpleQueue[Stream] = SimpleQueue()
        self.opened: list[Stream] = []

    def accept(self) -> Stream:
        """The next stream that a bot opens."""
        return self.streams.get(timeout=WAIT)

    def Play(self, request_iterator: Iterator[Any], context: grpc.ServicerContext) -> Iterator[pb.PlayResponse]:  # noqa: N802 - gRPC's name
        stream = Stream(context)
        context.add_callback(lambda: stream.responses.put(None))

        def read() -> None:
            try:
                for request in request_iterator:
                    stream.requests.put(request)
            except grpc.RpcError:
                pass  # the bot has left
            finally:
                stream.requests.put(None)

        reader = threading.Thread(target=read)
        reader.start()
        self.opened.append(stream)
        self.streams.put(stream)
        while response := stream.responses.get():
            if isinstance(response, grpc.StatusCode):
                context.abort(response, "said the test")
            yield response


@contextmanager
def serving(address: str, credentials: grpc.ServerCredentials | None = None) -> Iterator[Arena]:
    """An arena at a Unix socket, or at a free port: ``127.0.0.1:0``; over TLS where it has credentials."""
    server = grpc.server(ThreadPoolExecutor(8), options=[("grpc.so_reuseport", 0)])
    port = server.add_insecure_port(address) if credentials is None else server.add_secure_port(address, credentials)
    arena = Arena(address if address.startswith("unix:") else address.replace(":0", f":{port}"))
    referee_pb2_grpc.add_RefereeServicer_to_server(arena, server)
    server.start()
    try:
        yield arena
    finally:
        server.stop(0).wait()


class Match:
    """A game of Patchwork, or another one, as the referee sees it."""

    def __init__(self, handle: str = "h1", game: str = "patchwork", seats: int = 2) -> None:
        self.handle = handle
        self.game = games.find(game)
        self.deal = self.game.deal(self.game.options({}), seats, list)
        self.state = self.game.start(self.deal, seats)
        self.seats = games.SEATS[:seats]
        self.plies: list[str] = []

    def started(self, seat: str = "a", **fields: Any) -> pb.GameStarted:
        given: dict[str, Any] = {
            "time_control": pb.TimeControl(limit_us=5_000_000),
            "seed": 7,
            "rules": self.game.rules,
            **fields,
        }
        return pb.GameStarted(
            handle=self.handle,
            game=self.game.name,
            seat=seat,
            seats=[pb.Seat(seat=letter, bot=f"bot {letter}") for letter in self.seats],
            deal=self.deal,
            plies=self.plies,
            **given,
        )

    def play(self, ply: str) -> str:
        self.state = self.state.play(games.parse_ply(self.state, ply))
        self.plies.append(ply)
        return ply

    def play_first(self) -> str:
        """Plays each seat's first legal move."""
        return self.play(" ".join(f"{seat} {self.state.legal_moves(seat)[0]}" for seat in self.state.to_move))

    def request(self, *plies: str, seat: str = "a", **fields: Any) -> pb.MoveRequest:
        given: dict[str, Any] = {
            "clock": pb.Clock(left_us=5_000_000),
            "checksum": zlib.crc32(self.state.text.encode()),
            **fields,
        }
        return pb.MoveRequest(handle=self.handle, seat=seat, ply=len(self.plies), plies=plies, **given)

    def over(self, **fields: Any) -> pb.GameOver:
        given: dict[str, Any] = {
            "ending": pb.ENDING_NORMAL,
            "ranks": [1, 2],
            "scores": [12, -3],
            "game_id": "nightly/17",
            **fields,
        }
        return pb.GameOver(handle=self.handle, **given)


def begin(stream: Stream, match: Match) -> None:
    """Welcome, and a game up to Ready."""
    stream.welcome()
    stream.send(game_started=match.started())
    assert stream.receive("ready").handle == match.handle


class Process:
    """A bot's script in a process of its own."""

    def __init__(self, folder: Path, body: str, arena: Arena | None, **environment: str) -> None:
        self.file = folder / "bot.py"
        self.file.write_text(PROLOGUE + textwrap.dedent(body) + EPILOGUE)
        where = {"ARENA_ADDRESS": arena.address, "ARENA_TOKEN": "secret"} if arena else {}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        self.popen = subprocess.Popen(
            [sys.executable, str(self.file)],
            env=inherited | where | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def finish(self) -> tuple[int, str, str]:
        """Waits for its end: exit code, standard output and error."""
        out, err = self.popen.communicate(timeout=WAIT)
        return self.popen.returncode, out, err

    def stop(self) -> None:
        """Kills what is left of it."""
        if self.popen.poll() is None:
            self.popen.kill()
            print(*self.popen.communicate())  # noqa: T201 - pytest shows it where the test failed


PROLOGUE = """\
import asyncio, os, sys, time
from arena_sdk import Bot

class First(Bot):
    def choose(self, state, clock):
        return state.legal_moves()[0]

"""
EPILOGUE = """
if __name__ == "__main__":
    [*Bot.__subclasses__(), *First.__subclasses__()][-1].main()
"""
