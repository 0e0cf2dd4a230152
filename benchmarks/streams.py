"""The floor: a bare grpc.aio stream that carries the messages of recorded games between the same processes.

A game here is two clients, each the synchronous client that the SDK uses; the server reads a recorded reply from one,
writes the next recorded request to the other: no rules, clocks, records or ratings. *Paced* clients keep their core
busy for as long as the bot thought, *idle* ones answer at once. Pace matters: with the cores busy the same stream
costs twice the CPU, for its caches are cold and its core is shared.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

from arena_server.launching.environment import EVENT_ENGINE_OFF
from arena_server.model import Result

WARM_UP_SHARE = 10
"""One move in so many is carried before counting begins, as the referee's first games are not counted."""

CLIENT = """
import json
import queue
import sys
import time
import grpc
from arena.v1 import referee_pb2 as pb, referee_pb2_grpc

replies = queue.SimpleQueue()
moves = json.load(open(sys.argv[2]))
replies.put(pb.PlayRequest(ready=pb.Ready(handle=sys.argv[3])))
with grpc.insecure_channel(sys.argv[1]) as channel:
    for response in referee_pb2_grpc.RefereeStub(channel).Play(iter(replies.get, None)):
        if response.HasField("goodbye"):
            break
        ask = response.move_request
        move, seconds = moves[ask.ply]
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            pass
        replies.put(pb.PlayRequest(move=pb.Move(handle=ask.handle, ply=ask.ply, move=move, own_us=900)))
    replies.put(None)
"""


def cpu() -> float:
    """Seconds of CPU that this process has used, its children not counted."""
    usage = getrusage(RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def floor(results: Sequence[Result], at_once: int, *, paced: bool) -> float:
    """CPU seconds a move when that many games run at once."""
    import uvloop  # noqa: PLC0415 - as the referee does

    with tempfile.TemporaryDirectory() as folder:
        return uvloop.run(_Relay(results, at_once, Path(folder)).measure(paced=paced))


class _Relay:
    """A server that only carries messages from one client of a game to the other."""

    def __init__(self, results: Sequence[Result], at_once: int, folder: Path) -> None:
        self._requests = _requests(results)
        self._moves = [(played.move, played.own_us / 1e6) for result in results for played in result.moves]
        self._folder = folder
        self._streams: dict[str, Any] = {}
        self._sent = dict.fromkeys(range(at_once), 0)
        self._everyone = asyncio.Event()
        self._done = asyncio.Event()
        self._carried = 0
        self._uncounted = len(self._sent) * len(self._requests) // WARM_UP_SHARE
        self._began = 0.0

    async def measure(self, *, paced: bool) -> float:
        import grpc  # noqa: PLC0415 - after the keeper has started

        from arena.v1 import referee_pb2 as pb  # noqa: PLC0415

        server = grpc.aio.server()
        play: Any = grpc.stream_stream_rpc_method_handler(self._play, request_deserializer=pb.PlayRequest.FromString)
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("arena.v1.Referee", {"Play": play})])
        server.add_insecure_port(f"unix:{self._folder}/s")
        await server.start()
        names = [f"{game}{seat}" for game in self._sent for seat in "ab"]
        clients = [self._client(name, paced=paced) for name in names]
        await self._done.wait()
        used = cpu() - self._began
        for client in clients:
            await asyncio.to_thread(client.wait)
        await server.stop(0)
        return used / (self._carried - self._uncounted)

    def _client(self, name: str, *, paced: bool) -> subprocess.Popen[bytes]:
        script, moves = self._folder / "client.py", self._folder / "moves.json"
        script.write_text(CLIENT)
        moves.write_text(json.dumps([(move, seconds if paced else 0.0) for move, seconds in self._moves]))
        env = {**os.environ, "GRPC_EXPERIMENTS": EVENT_ENGINE_OFF}
        return subprocess.Popen([sys.executable, script, f"unix:{self._folder}/s", moves, name], env=env)

    async def _play(self, _requests: object, stream: Any) -> None:
        from arena.v1 import referee_pb2 as pb  # noqa: PLC0415 - after the keeper has started

        name = (await stream.read()).ready.handle
        self._streams[name] = stream
        if len(self._streams) == 2 * len(self._sent):
            self._everyone.set()
        await self._everyone.wait()
        if name.endswith("a"):
            await stream.write(self._requests[0])
        relay = asyncio.create_task(self._relay(int(name[:-1]), stream, self._streams[name[:-1] + _other(name[-1])]))
        await self._done.wait()
        relay.cancel()
        await stream.write(pb.PlayResponse(goodbye=pb.Goodbye()).SerializeToString())

    async def _relay(self, game: int, source: Any, sink: Any) -> None:
        while True:
            await source.read()
            self._sent[game] += 1
            self._carried += 1
            if self._carried == self._uncounted:
                self._began = cpu()
            if self._sent[game] < len(self._requests):
                await sink.write(self._requests[self._sent[game]])
            elif all(sent >= len(self._requests) for sent in self._sent.values()):
                self._done.set()


def _other(seat: str) -> str:
    return "b" if seat == "a" else "a"


def _requests(results: Sequence[Result]) -> list[bytes]:
    """The requests of recorded games as the referee sends them, their plies numbered through."""
    from arena.v1 import referee_pb2 as pb  # noqa: PLC0415 - after the keeper has started

    played = [move for result in results for move in result.moves]
    requests = []
    for ply, move in enumerate(played):
        last = played[max(0, ply - 1)]
        message = pb.MoveRequest(
            handle="0123456789abcdef",
            seat=move.seat,
            ply=ply,
            plies=[f"{last.seat} {last.move}"],
            clock=pb.Clock(left_us=100_000),
            checksum=ply,
        )
        requests.append(pb.PlayResponse(move_request=message).SerializeToString())
    return requests
