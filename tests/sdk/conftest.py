from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.sdk.stand_in import Arena, Process, serving

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
