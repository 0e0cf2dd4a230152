"""What a bot process finds in its environment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena_server.launching.bots import resolve
from arena_server.launching.environment import EVENT_ENGINE_OFF, environment

# A whole server and client, so that gRPC reads all of its settings.
TALK = """
from concurrent import futures
import grpc
server = grpc.server(futures.ThreadPoolExecutor(1))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
    grpc.channel_ready_future(channel).result(20)
server.stop(0).wait()
"""


@pytest.fixture
def variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    (tmp_path / "bot.toml").write_text('name = "t"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames_at_once = 3\n')
    for name in ("VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "ARENA_DB", "AWS_SECRET", "LD_PRELOAD"):
        monkeypatch.setenv(name, "")
    for name in ("PATH", "HOME", "LC_TIME"):
        monkeypatch.setenv(name, f"/{name}")
    for name in ("LANG", "TMPDIR", "LC_ALL"):
        monkeypatch.delenv(name, raising=False)
    return environment(resolve(str(tmp_path)), "unix:/run/arena.sock", "secret")


def test_a_bot_finds_what_it_needs_and_nothing_of_ours(variables: dict[str, str]) -> None:
    expected = {
        "PATH": "/PATH",
        "HOME": "/HOME",
        "LC_TIME": "/LC_TIME",
        "ARENA_ADDRESS": "unix:/run/arena.sock",
        "ARENA_TOKEN": "secret",
        "ARENA_BOT": "t",
        "ARENA_VERSION": "1",
        "ARENA_GAMES_AT_ONCE": "3",
        "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0",
        "GRPC_ENABLE_FORK_SUPPORT": "0",
        "GRPC_EXPERIMENTS": EVENT_ENGINE_OFF,
    }
    threads = {name for name in variables if name.endswith("_THREADS")}
    assert threads >= {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}
    found = {name: value for name, value in variables.items() if name not in threads and not name.startswith("LC_")}
    assert found | {"LC_TIME": variables["LC_TIME"]} == expected
    assert {variables[name] for name in threads} == {"1"}


def test_grpc_knows_the_settings_that_we_give_it(variables: dict[str, str]) -> None:
    argv = [sys.executable, "-c", TALK]
    done = subprocess.run(argv, env=variables, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
