"""What the referee costs: CPU a move beside the bare stream that carries the same messages, games a second.

The floor is a grpc.aio server on uvloop that writes the very requests of recorded games and reads the very replies,
with no rules, clocks, records or ratings; the other end is the same synchronous client that the SDK uses.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from arena_server.coordinator.event import Event, prepare_grpc
from arena_server.coordinator.spec_file import Settings
from arena_server.coordinator.watching import Snapshot
from arena_server.launching.environment import EVENT_ENGINE_OFF
from arena_server.model import Result
from arena_server.store import Store

INSTANT = """
from arena_sdk import Bot

class {name}(Bot):
    def choose(self, state, clock):
        return state.legal_moves()[{index}]

if __name__ == "__main__":
    {name}.main()
"""

ECHO = """
import queue
import sys
import grpc
from arena.v1 import referee_pb2 as pb, referee_pb2_grpc

replies = queue.SimpleQueue()
moves = open(sys.argv[2]).read().splitlines()
with grpc.insecure_channel(sys.argv[1]) as channel:
    for response in referee_pb2_grpc.RefereeStub(channel).Play(iter(replies.get, None)):
        ask = response.move_request
        if not ask.handle:
            break
        replies.put(pb.PlayRequest(move=pb.Move(handle=ask.handle, ply=ask.ply, move=moves[ask.ply], own_us=900)))
    replies.put(None)
"""


def cpu() -> float:
    """Seconds of CPU that this process has used, its children not counted."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@dataclass
class Quiet:
    """A watcher that keeps the results."""

    results: list[Result]

    def stands(self, snapshot: Snapshot) -> None:
        pass

    def ended(self, result: Result) -> None:
        self.results.append(result)

    def notes(self, line: str) -> None:
        print(line, file=sys.stderr)


def tournament(
    bots: tuple[str, ...], games: int, concurrency: int, time_control: str
) -> tuple[list[Result], float, float]:
    """Plays a match on SQLite in this process: its results, seconds and our CPU seconds."""
    event = Event.of(Settings(bots=bots, games=games, seed="bench", time=time_control, concurrency=concurrency))
    with tempfile.TemporaryDirectory() as folder, Store.open(f"{folder}/bench.db") as store:
        watcher = Quiet([])
        with store.lock(store.enter(event.spec).tournament) as lock:
            began, used = time.perf_counter(), cpu()
            event.play(store, lock.tournament, watcher)
            return watcher.results, time.perf_counter() - began, cpu() - used


def requests_of(result: Result) -> Iterator[bytes]:
    """The requests of a recorded game as the referee sends them."""
    from arena.v1 import referee_pb2 as pb  # noqa: PLC0415 - after the keeper has started

    for played in result.moves:
        plies = [f"{move.seat} {move.move}" for move in result.moves[max(0, played.ply - 1) : played.ply]]
        message = pb.MoveRequest(
            handle="0123456789abcdef",
            seat=played.seat,
            ply=played.ply,
            plies=plies,
            clock=pb.Clock(left_us=100_000),
            checksum=played.ply,
        )
        yield pb.PlayResponse(move_request=message).SerializeToString()


def stream_floor(results: list[Result]) -> float:
    """CPU seconds a round trip of the bare stream."""
    import uvloop  # noqa: PLC0415 - as the referee does

    longest = max(results, key=lambda result: len(result.moves))
    with tempfile.TemporaryDirectory() as folder:
        script, moves = Path(folder, "echo.py"), Path(folder, "moves")
        script.write_text(ECHO)
        moves.write_text("\n".join(move.move for move in longest.moves))
        client = [sys.executable, str(script), f"unix:{folder}/s", str(moves)]
        return uvloop.run(echo([list(requests_of(result)) for result in results], client))


async def echo(games: list[list[bytes]], client: list[str]) -> float:
    """Serves one client that answers every request; CPU seconds a round trip."""
    import grpc  # noqa: PLC0415 - after the keeper has started

    from arena.v1 import referee_pb2 as pb  # noqa: PLC0415

    used = 0.0

    async def play(_requests: object, context: grpc.aio.ServicerContext[pb.PlayRequest, bytes]) -> None:
        nonlocal used
        before = cpu()
        for request in itertools.chain(*games):
            await context.write(request)
            await context.read()
        used = cpu() - before
        await context.write(pb.PlayResponse(move_request=pb.MoveRequest()).SerializeToString())

    server = grpc.aio.server()
    handler = grpc.stream_stream_rpc_method_handler(play, request_deserializer=pb.PlayRequest.FromString)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("arena.v1.Referee", {"Play": handler})])
    server.add_insecure_port(client[2])
    await server.start()
    env = {**os.environ, "GRPC_EXPERIMENTS": EVENT_ENGINE_OFF}
    await asyncio.to_thread(subprocess.run, client, env=env, check=True)
    await server.stop(0)
    return used / sum(map(len, games))


def measure(games: int) -> dict[str, float]:
    """All figures of the referee."""
    prepare_grpc()
    with tempfile.TemporaryDirectory() as folder:
        instant = []
        for name, index in (("First", 0), ("Last", -1)):
            path = Path(folder, f"{name.lower()}.py")
            path.write_text(INSTANT.format(name=name, index=index))
            instant.append(str(path))
        results, seconds, used = tournament(("random", "greedy"), games, 2, "1s")
        moves = sum(len(result.moves) for result in results)
        quick, quick_seconds, _ = tournament(tuple(instant), games, 4, "1s")
    floor = stream_floor(results[:100])
    return {
        "referee_cpu_us_per_move": used / moves * 1e6,
        "stream_floor_cpu_us_per_move": floor * 1e6,
        "referee_over_floor": used / moves / floor,
        "games_per_s_random_greedy": len(results) / seconds,
        "games_per_s_instant_bots": len(quick) / quick_seconds,
    }
