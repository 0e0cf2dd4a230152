"""Commands that are struck at any call that changes a file: killed, or told that the disk is full or broken.

A `Striker` holds a process that has imported what commands need, forks for every run, and has `shim.c` preloaded: so a
run costs a fraction of a command's start, and every step can be struck.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from command import environment
from requirements import require

COMMAND = "arena_server.cli"
_LAZY = (
    "arena_server.cli.leaderboard",
    "arena_server.cli.live",
    "arena_server.cli.run_tournament",
    "arena_server.cli.verify",
    "arena_server.coordinator.event",
    "arena_server.store.verify",
)
"""What the command imports when it needs it; not grpc, which must come after the keeper."""
SHIM = Path(__file__).with_name("shim.c")


@dataclass(frozen=True)
class Strike:
    """What happens at a call that changes a file.

    Attributes:
        at: the call's number, from 1; 0 is never.
        error: the errno that it gets; 0 kills the process.
        lasting: whether every later call fails as well.
        after: seconds after which the process is killed whatever it does; 0 is never.
    """

    at: int = 0
    error: int = 0
    lasting: bool = False
    after: float = 0.0


UNSTRUCK = Strike()


@dataclass(frozen=True)
class Ran:
    """How a run ended.

    Attributes:
        code: its exit code; minus the signal that killed it.
        calls: how many calls changed files.
    """

    code: int
    calls: int
    out: str
    err: str


class Striker:
    """Runs commands in forks of one process; a context manager."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="shim")
        self.library = build(Path(self._folder.name))
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env=environment(LD_PRELOAD=str(self.library)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: str, cwd: Path, strike: Strike = UNSTRUCK, program: str = COMMAND) -> Ran:
        """Runs the `main` of a module with these arguments to its end."""
        task = {
            "arguments": arguments,
            "cwd": str(cwd),
            "program": program,
            "strike": vars(strike),
            "TMPDIR": tempfile.gettempdir(),
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the process that runs commands is gone"
        return Ran(**json.loads(answer))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate(timeout=30)
        self._folder.cleanup()


def build(folder: Path) -> Path:
    """The compiled shim."""
    library = folder / "shim.so"
    subprocess.run([require("cc"), "-O1", "-shared", "-fPIC", "-o", library, SHIM, "-ldl"], check=True)
    return library


def _serve() -> None:
    """Forks for each task that comes on standard input."""
    for module in ("alembic.command", "sqlalchemy.dialects.sqlite", "paper_tournament", *_LAZY):
        import_module(module)
    for line in sys.stdin:
        task = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            pid = os.fork()
            if pid == 0:
                _run(task, out.fileno(), err.fileno())
            if task["strike"]["after"]:
                time.sleep(task["strike"]["after"])
                os.kill(pid, signal.SIGKILL)  # a zombie at worst: nobody has waited for it
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            answer = {"code": code, "calls": ctypes.CDLL(None).shim_calls(), "out": _text(out), "err": _text(err)}
        print(json.dumps(answer), flush=True)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _run(task: dict[str, Any], out: int, err: int) -> None:
    """In the child: becomes the command; never returns."""
    code = 70
    try:
        os.setsid()
        os.chdir(task["cwd"])
        tempfile.tempdir = os.environ["TMPDIR"] = task["TMPDIR"]
        del os.environ["LD_PRELOAD"]  # nothing that it starts is struck
        for fd, of in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
            os.dup2(fd, of)
        main = import_module(task["program"]).main
        strike = task["strike"]
        ctypes.CDLL(None).shim_arm(ctypes.c_long(strike["at"]), strike["error"], int(strike["lasting"]))
        main(task["arguments"])
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:  # noqa: BLE001 - told by its traceback
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
