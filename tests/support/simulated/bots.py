"""Simulated processes of bots and their streams, behind the real lobby and the real sessions."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.v1 import referee_pb2 as pb
from arena_engine.game import State, parse_ply
from arena_server.launching.processes import Exit, Output
from arena_server.model import ArenaError

if TYPE_CHECKING:
    from simulated.world import World

LONG_STALL = 2.2


class Network:
    """Stands for the gRPC server: streams reach the lobby."""

    folder = None

    def __init__(self, world: World, lobby: Any, _transport: str) -> None:
        self.world = world
        world.lobby = lobby

    async def start(self) -> str:
        return "simulated"

    async def stop(self) -> None:
        """Nothing to close."""


class Keeper:
    """Stands for the keeper: its processes are clients in this loop."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.lost: asyncio.Future[ArenaError] = world.loop.create_future()

    async def attach(self) -> None:
        """Nothing to attach."""

    async def close(self) -> None:
        """Every process has been stopped."""

    async def spawn(self, _argv: Sequence[str], _folder: Path, environment: Mapping[str, str]) -> Process:
        process = Process(self.world, environment["ARENA_BOT"], environment["ARENA_TOKEN"])
        self.world.later(0.01, 0.1, process.start)
        return process


class Process:
    """Stands for a bot's process."""

    pid = 0  # nothing to measure

    def __init__(self, world: World, bot: str, token: str) -> None:
        self.world = world
        self.bot = bot
        self.exited: asyncio.Future[Exit] = world.loop.create_future()
        self.client = Client(self, token)

    @property
    def alive(self) -> bool:
        return not self.exited.done()

    def start(self) -> None:
        if int(self.bot.removeprefix("bot")) in self.world.absent:
            self.exit(1)
        elif self.alive:
            self.client.connect()

    def exit(self, code: int) -> None:
        """Its stream breaks and its end is seen, whichever first."""
        if self.alive:
            stream = self.client.stream
            self.client.stream = None
            self.exited.set_result(Exit.of(code, output=Output(stderr="boom")))
            if stream is not None:
                self.world.later(0.0, 0.02, stream.reset)

    async def kill(self) -> bool:
        self.exit(-9)
        return True

    async def output(self) -> Output:
        return Output()


class Refused(ConnectionError):  # noqa: N818 - what happens, no error of ours
    """The arena does not want this stream."""


class Stream:
    """One bidirectional stream; what is sent on it arrives in order, after a while."""

    def __init__(self, client: Client, token: str) -> None:
        self.world = client.world
        self.client = client
        self.broken = False
        self.welcomed = False  # the arena knows of it
        self._token = token
        self._inbox: deque[pb.PlayRequest] = deque()
        self._reading: asyncio.Future[None] | None = None
        self._last = {"in": 0.0, "out": 0.0}

    def invocation_metadata(self) -> list[tuple[str, str]]:
        return [("authorization", f"Bearer {self._token}")]

    async def abort(self, code: object, reason: str) -> None:
        raise Refused(f"{code}: {reason}")

    async def send_initial_metadata(self, metadata: object) -> None:
        """Which says nothing here."""

    async def read(self) -> bytes:
        while not self._inbox:
            if self.broken:
                raise asyncio.InvalidStateError("reset")
            self._reading = self.world.loop.create_future()
            await self._reading
        return self._inbox.popleft().SerializeToString()

    async def write(self, data: bytes) -> None:
        if self.broken or self.world.loop.dead:
            raise asyncio.InvalidStateError("reset")
        message = pb.PlayResponse.FromString(data)
        self.welcomed = self.welcomed or message.HasField("welcome")
        self.client.sent(message)
        self._send("out", lambda: self.client.receive(self, message))

    def send(self, request: pb.PlayRequest, *, delay: float = 0.0, latency: float | None = None) -> None:
        """The bot says something, after a while."""
        self._send("in", lambda: self._arrived(request), delay, latency)

    def reset(self) -> None:
        self.broken = True
        self._wake()

    @property
    def on_its_way(self) -> float:
        """Seconds until all that the bot has said is there."""
        return max(0.0, self._last["in"] - self.world.loop.time())

    def _send(self, way: str, deliver: Any, delay: float = 0.0, latency: float | None = None) -> None:
        takes = self.world.dice.uniform(0.0005, 0.005) if latency is None else latency
        at = max(self._last[way], self.world.loop.time() + delay + takes)
        self._last[way] = at
        self.world.loop.arrive(at - self.world.loop.time(), deliver)

    def _arrived(self, request: pb.PlayRequest) -> None:
        if not self.broken:
            self.client.arrived(request)
            self._inbox.append(request)
            self._wake()

    def _wake(self) -> None:
        if self._reading is not None and not self._reading.done():
            self._reading.set_result(None)


class Playing:
    """A game as the bot sees it."""

    def __init__(self, number: int, attempt: int, seat: str, seed: int, state: State) -> None:
        self.number = number
        self.attempt = attempt
        self.seat = seat
        self.seed = seed
        self.state = state
        self.done: set[str] = set()  # deeds that are done once a game, however often the request comes

    def advance(self, plies: Sequence[str]) -> None:
        for ply in plies:
            self.state = self.state.play(parse_ply(self.state, ply))


class Client:
    """The bot's side of the protocol; does what its deeds say."""

    def __init__(self, process: Process, token: str) -> None:
        self.process = process
        self.world = process.world
        self.stream: Stream | None = None
        self.games: dict[str, Playing] = {}
        self.lost = 0.0  # when its connection last broke
        self._token = token
        self._dying = False
        self._unread: list[pb.PlayResponse] = []  # while it dies

    def connect(self) -> None:
        if not self.process.alive or self.world.loop.dead:
            return
        stream = self.stream = Stream(self, self._token)
        self.world.serve(stream)
        stream.send(pb.PlayRequest(hello=pb.Hello(protocol_min=1, protocol_max=1, bot=self.process.bot)))

    # Seen by whoever checks

    def sent(self, message: pb.PlayResponse) -> None:
        """The arena hands a message to the transport."""
        kind = message.WhichOneof("message")
        if kind == "move_request":
            self.world.asked(*self._where(message.move_request), message.move_request.ply, self.lost)
        elif kind == "game_over":
            self.world.heard(*self._where(message.game_over), message.game_over)

    def arrived(self, request: pb.PlayRequest) -> None:
        """The arena's side of the stream has it."""
        if request.WhichOneof("message") == "move" and request.move.handle in self.games:
            self.world.answered(*self._where(request.move), request.move.ply, request.move.move)

    def _where(self, message: Any) -> tuple[int, str]:
        playing = self.games.get(message.handle)
        return (playing.number, playing.seat) if playing is not None else (0, "")

    # The protocol

    def receive(self, stream: Stream, message: pb.PlayResponse) -> None:
        if stream is not self.stream or stream.broken:
            return
        if self._dying:
            self._unread.append(message)
            return
        match message.WhichOneof("message"):
            case "game_started":
                self._begin(message.game_started)
            case "move_request":
                self._answer(message.move_request)
            case "game_over":
                self.games.pop(message.game_over.handle, None)
            case "goodbye":
                self.world.later(0.0, 0.01, lambda: self.process.exit(0))

    def _begin(self, message: pb.GameStarted) -> None:
        number, seat = self.world.seats[message.seed]
        before = self.games.get(message.handle)
        state = self.world.game.start(dict(message.deal), len(message.seats))
        playing = Playing(number, self.world.attempt(number), seat, message.seed, state)
        playing.advance(message.plies)
        if before is not None:
            playing.done = before.done
        self.games[message.handle] = playing
        self._say(pb.PlayRequest(ready=pb.Ready(handle=message.handle)))

    def _answer(self, asked: pb.MoveRequest) -> None:
        playing = self.games[asked.handle]
        playing.advance(asked.plies)
        deeds = self.world.deeds.get((playing.number, playing.seat, asked.ply), ())
        kinds = [deed.kind for deed in deeds]
        for deed in deeds:
            if deed.kind == "hopeless":
                self.world.stall(LONG_STALL)
            if getattr(self, f"_do_{deed.kind.replace(' ', '_')}", _nothing)(asked, playing, deed):
                return
        move = random.Random(playing.seed + asked.ply).choice(playing.state.legal_moves(playing.seat))
        reply = pb.PlayRequest(move=pb.Move(handle=asked.handle, ply=asked.ply, move=str(move), own_us=1000))
        delay = next((deed.amount for deed in deeds if deed.kind in ("slow", "overrun")), None)
        if "brink" in kinds:
            self._say(reply, delay=self.world.brink(playing.number, playing.seat, asked.ply), latency=0.0)
        else:
            self._say(reply, delay=self.world.dice.uniform(0.001, 0.02) if delay is None else delay)
        if "duplicate" in kinds:
            self._say(reply)
        if "crash after" in kinds and self.stream is not None:
            self._dying = True
            way = self.stream.on_its_way
            self.world.later(way + 0.001, way + 0.03, lambda: self._crash(playing))
        if "reset waiting" in kinds and "reset waiting" not in playing.done:
            playing.done.add("reset waiting")
            self.world.later(0.03, 0.03, self._reset)

    def _say(self, request: pb.PlayRequest, *, delay: float = 0.0, latency: float | None = None) -> None:
        if self.stream is not None:
            self.stream.send(request, delay=delay, latency=latency)

    def _crash(self, playing: Playing) -> None:
        """Not for a game that has come to nothing: that would hit its next one, for which it has no deed."""
        if self.world.plays(playing.number, playing.attempt):
            self.process.exit(1)
        self._dying, unread, self._unread = False, self._unread, []
        for message in unread:
            if self.stream is not None:
                self.receive(self.stream, message)

    def _reset(self) -> None:
        """The connection breaks, and is opened again soon."""
        stream, self.stream = self.stream, None
        if stream is not None:
            self.lost = self.world.loop.time()
            self.world.later(0.0, 0.005, stream.reset)
            self.world.later(0.0, 0.01, self.connect)

    # Deeds; True: it does not answer as usual

    def _do_silence(self, *_: object) -> bool:
        return True

    def _do_gone(self, *_: object) -> bool:
        """Its connection breaks for good."""
        stream, self.stream = self.stream, None
        if stream is not None:
            stream.reset()
        return True

    def _do_crash(self, _asked: object, playing: Playing, _deed: object) -> bool:
        self.world.later(0.001, 0.02, lambda: self._crash(playing))
        return True

    def _do_failure(self, asked: pb.MoveRequest, *_: object) -> bool:
        failure = pb.Failure(handle=asked.handle, ply=asked.ply, traceback="Traceback\nValueError: no")
        self._say(pb.PlayRequest(failure=failure))
        return True

    def _do_resign(self, asked: pb.MoveRequest, *_: object) -> bool:
        self._say(pb.PlayRequest(resign=pb.Resign(handle=asked.handle)))
        return True

    def _do_malformed(self, _asked: object, playing: Playing, _deed: object) -> bool:
        def say() -> None:
            if self.world.plays(playing.number, playing.attempt):  # else it would spoil the beginning of the next one
                self._say(pb.PlayRequest(), latency=0.0)

        self.world.later(0.0005, 0.005, say)
        return True

    def _do_illegal(self, asked: pb.MoveRequest, *_: object) -> bool:
        self._say(pb.PlayRequest(move=pb.Move(handle=asked.handle, ply=asked.ply, move="never a move")))
        return True

    def _do_reset(self, _asked: object, playing: Playing, deed: Any) -> bool:
        if "reset" in playing.done:
            return False
        playing.done.add("reset")
        self.world.later(deed.amount, deed.amount, self._reset)
        return True

    def _do_stale(self, asked: pb.MoveRequest, *_: object) -> bool:
        return self._strange(asked.handle, asked.ply - 1)

    def _do_early(self, asked: pb.MoveRequest, *_: object) -> bool:
        return self._strange(asked.handle, asked.ply + 1)

    def _do_foreign(self, asked: pb.MoveRequest, *_: object) -> bool:
        return self._strange("0" * len(asked.handle), asked.ply)

    def _strange(self, handle: str, ply: int) -> bool:
        """A reply to what was not asked, before the usual one."""
        if ply >= 0:
            self._say(pb.PlayRequest(move=pb.Move(handle=handle, ply=ply, move="never a move")))
        return False


def _nothing(*_: object) -> bool:
    return False
