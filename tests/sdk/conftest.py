import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.sdk.running import Run, Running
from tests.sdk.stand_in import Arena, Process, serving

from arena_sdk import Bot

StartBot = Callable[..., Process]


@pytest.fixture
def socket() -> Iterator[str]:
    """The address of a socket, short enough for a socket's path."""
    with TemporaryDirectory(prefix="arena-") as folder:
        yield f"unix:{folder}/s"


@pytest.fixture
def arena(socket: str) -> Iterator[Arena]:
    with serving(socket) as arena:
        yield arena


@pytest.fixture
def start_bot(tmp_path: Path) -> Iterator[StartBot]:
    """Starts a bot's script: ``start_bot(body, arena, **environment)``; none is left when the test ends."""
    started: list[Process] = []

    def start(body: str, arena: Arena | None, **environment: str) -> Process:
        folder = tmp_path / str(len(started))
        folder.mkdir()
        started.append(Process(folder, body, arena, **environment))
        return started[-1]

    yield start
    for process in started:
        process.stop()


@pytest.fixture
def run(arena: Arena) -> Iterator[Run]:
    """Starts sessions with the arena; afterwards none of their threads is left."""
    before = set(threading.enumerate())
    started: list[Running] = []

    def start(bot_class: type[Bot], **options: Any) -> Running:
        started.append(Running(bot_class, arena, **options))
        return started[-1]

    yield start
    for stream in arena.opened:  # a test that failed has not said it
        stream.goodbye()
    for running in started:
        running.finish()
    deadline = time.monotonic() + 5
    while left := [thread for thread in set(threading.enumerate()) - before if "ThreadPool" not in thread.name]:
        assert time.monotonic() < deadline, left
        time.sleep(0.01)
