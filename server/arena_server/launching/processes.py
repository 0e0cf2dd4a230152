"""Bot processes, seen from the command: the keeper starts, watches and kills them (design, decision 10).

::

    keeper = Keeper.start()                  # before grpc is imported
    await keeper.attach()                    # on the running loop
    process = await keeper.spawn(bot.argv(), bot.folder, environment(bot, address, token))
    exit = await process.exited
    await process.kill()                     # the whole tree, also after the bot's own exit
    await keeper.close()
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import secrets
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from arena_server.launching import trees
from arena_server.model import ArenaError, BreakdownError, UserError

ANSWER_S = 10.0
"""How long the keeper may take to answer; it needs milliseconds."""
KILL_S = 5.0
"""How long a kill may take here; the keeper gives up after 2 s."""

_LINE_LIMIT = 1 << 20
_SOURCE_ROOT = str(Path(__file__).parents[2])
_BOOT = "import sys; sys.path.append(sys.argv[1]); from arena_server.launching.keeper import main; main(sys.argv[2])"


class SpawnError(UserError):
    """A command that cannot be started."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a process printed.

    Attributes:
        stdout: the last 16 KiB.
        stderr: likewise.
        stdout_bytes: how much it was in all.
        stderr_bytes: likewise.
    """

    stdout: str = ""
    stderr: str = ""
    stdout_bytes: int = 0
    stderr_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended; neither code nor signal where that was not seen.

    Attributes:
        cpu_us: of the process and the children it waited for.
        max_rss_kb: its largest resident size.
    """

    code: int | None = None
    signal: int | None = None
    cpu_us: int = 0
    max_rss_kb: int = 0
    output: Output = Output()

    @classmethod
    def of(cls, status: int, **figures: Any) -> Self:
        """From a status as subprocess gives it: negative for a signal."""
        return cls(status, None, **figures) if status >= 0 else cls(None, -status, **figures)

    def describe(self) -> str:
        """In words: ``exit status 1``, ``killed by SIGSEGV``."""
        if self.signal is not None:
            try:
                return f"killed by {signal.Signals(self.signal).name}"
            except ValueError:
                return f"killed by signal {self.signal}"
        return "end not seen" if self.code is None else f"exit status {self.code}"


class Process:
    """A started bot.

    Attributes:
        exited: resolves when the process itself has ended, with all its output; never fails. It is shared: wait for it
            with ``asyncio.wait`` or ``asyncio.shield`` where the wait may be given up.
    """

    def __init__(self, keeper: Keeper, number: int) -> None:
        loop = asyncio.get_running_loop()
        self.id = number
        self.pid = 0  # until it is started
        self.exited: asyncio.Future[Exit] = loop.create_future()
        self._gone: asyncio.Future[bool] = loop.create_future()
        self._keeper = keeper

    async def kill(self) -> bool:
        """Kills the whole tree and waits until it is gone; returns False if something outlived 5 s of that."""
        self._keeper.send({"do": "kill", "id": self.id})
        done, _ = await asyncio.wait([self._gone], timeout=KILL_S)
        return bool(done) and self._gone.result()

    async def output(self) -> Output:
        """What it printed so far."""
        if not self.exited.done():
            answer = await self._keeper.ask({"do": "output", "id": self.id})
            if answer["output"] is not None:
                return Output(**answer["output"])
        return (await self.exited).output

    def _ended(self, how: Exit) -> None:
        if not self.exited.done():
            self.exited.set_result(how)

    def _vanished(self, *, whole: bool) -> None:
        self._ended(Exit())
        if not self._gone.done():
            self._gone.set_result(whole)


class Keeper:
    """The child that starts and kills bots, and outlives a kill -9 of this process for long enough to clean up.

    Attributes:
        lost: resolves with the reason when the keeper dies unasked; all processes have then exited. Set by attach.
    """

    lost: asyncio.Future[ArenaError]
    _reader: asyncio.StreamReader
    _writer: asyncio.StreamWriter

    def __init__(self, child: subprocess.Popen[bytes], end: socket.socket, token: str) -> None:
        self._child = child
        self._end = end
        self._token = token
        self._numbers = itertools.count(1)
        self._processes: dict[int, Process] = {}
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._closing = False

    @classmethod
    def start(cls) -> Self:
        """Starts the keeper; call it before grpc is imported, whose threads and forks do not mix.

        Raises:
            ArenaError: not on Linux, or the machine refuses another process.
        """
        if sys.platform != "linux":
            raise ArenaError("this system cannot keep bot processes", sys.platform, "organisers need Linux")
        ours, theirs = socket.socketpair()
        token = secrets.token_hex(8)
        argv = [sys.executable, "-I", "-S", "-c", _BOOT, _SOURCE_ROOT, token]
        try:
            # Its own session: neither Ctrl-C, Ctrl-Z nor a kill of our group reaches it.
            child = subprocess.Popen(  # noqa: S603 - our own code
                argv, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, start_new_session=True
            )
        except OSError as error:
            ours.close()
            raise ArenaError("cannot start the keeper", error.strerror or error, "free some processes") from None
        finally:
            theirs.close()
        return cls(child, ours, token)

    @property
    def pid(self) -> int:
        """Of the keeper itself."""
        return self._child.pid

    async def attach(self) -> None:
        """Begins to read what the keeper reports, on the running loop; raises ArenaError if it does not answer."""
        self.lost = asyncio.get_running_loop().create_future()
        self._reader, self._writer = await asyncio.open_unix_connection(sock=self._end, limit=_LINE_LIMIT)
        self._listening = asyncio.create_task(self._listen(), name="keeper")
        await self.ask({"do": "greet"})

    async def spawn(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> Process:
        """Starts a process with its own session, exactly this environment and ``ARENA_TREE``, and no input.

        Raises:
            SpawnError: there is no such command or folder, or it cannot be run.
            ArenaError: the machine refuses, or the keeper is lost.
        """
        number = next(self._numbers)
        process = self._processes[number] = Process(self, number)  # before any news of it
        request = {"do": "spawn", "id": number, "argv": list(argv), "cwd": str(cwd), "env": dict(env)}
        try:
            answer = await self.ask(request)
        except BaseException:
            self.send({"do": "kill", "id": number})
            raise
        if "error" in answer:
            raise _refusal(answer, argv, cwd)
        process.pid = answer["pid"]
        return process

    def tidy(self, folder: Path) -> None:
        """Has the keeper remove a folder of files when it ends, also after kill -9 of this process."""
        self.send({"do": "tidy", "folder": str(folder)})

    async def close(self) -> None:
        """Kills all trees, waits until they are gone, at most 5 s, and ends the keeper."""
        self._closing = True
        if self._listening is not None:
            if not self._listening.done():
                await self._dismiss(self._listening)
            self._writer.close()
            with contextlib.suppress(OSError):
                await self._writer.wait_closed()
        self._end.close()
        self._reap()

    async def _dismiss(self, listening: asyncio.Task[None]) -> None:
        self._writer.write_eof()
        await asyncio.wait([listening], timeout=KILL_S)
        if not listening.done():  # it is stuck, or stopped
            self._child.kill()
            await listening

    def send(self, message: dict[str, Any]) -> None:
        """Tells the keeper something; nothing happens when it is lost."""
        if self._listening is not None and not self._listening.done():
            self._writer.write(json.dumps(message).encode() + b"\n")

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Tells the keeper something and returns its answer; raises ArenaError when it is lost."""
        if self._listening is None or self._listening.done():
            raise self._loss()
        number = next(self._numbers)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            self.send({**message, "ask": number})
            async with asyncio.timeout(ANSWER_S):
                return await answer
        except TimeoutError:
            what = "the keeper of the bot processes does not answer"
            raise ArenaError(what, f"{ANSWER_S:g} s", "is the machine overloaded?") from None
        finally:
            del self._answers[number]

    async def _listen(self) -> None:
        try:
            with contextlib.suppress(OSError):
                while line := await self._reader.readline():
                    self._heard(json.loads(line))
        finally:
            self._ended()

    def _heard(self, message: dict[str, Any]) -> None:
        answer = self._answers.get(message.get("ask", 0))
        if answer is not None and not answer.done():
            answer.set_result(message)
        if "error" in message:
            self._processes.pop(message["id"], None)
        process = self._processes.get(message.get("id", 0))
        if process is not None and message.get("event") == "exit":
            process._ended(_exit(message))  # noqa: SLF001 - the two classes are one thing
        elif process is not None and message.get("event") == "gone":
            del self._processes[process.id]
            process._vanished(whole=message["whole"])  # noqa: SLF001 - likewise

    def _ended(self) -> None:
        """The keeper is gone and its bots with it; what they left behind is killed from here."""
        self._reap()
        whole = trees.sweep(self._token)
        for process in self._processes.values():
            process._vanished(whole=whole)  # noqa: SLF001 - likewise
        self._processes.clear()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(self._loss())
        if not self._closing:
            self.lost.set_result(self._loss())

    def _loss(self) -> BreakdownError:
        status = self._child.poll()
        how = "" if status is None else Exit.of(status).describe()
        fix = "its bots are dead; run the command again"
        return BreakdownError("the keeper of the bot processes is gone", how, fix)

    def _reap(self) -> None:
        """Its end of the socket is closed, so it exits by itself at once; else it is stuck."""
        try:
            self._child.wait(1)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait(1)


def _exit(message: dict[str, Any]) -> Exit:
    figures = {"cpu_us": message["cpu_us"], "max_rss_kb": message["max_rss_kb"], "output": Output(**message["output"])}
    return Exit.of(os.waitstatus_to_exitcode(message["status"]), **figures)


def _refusal(answer: dict[str, Any], argv: Sequence[str], cwd: Path) -> ArenaError:
    command = shlex.join(argv)
    if answer["stage"] == "folder":
        return SpawnError(f"cannot enter the bot's folder: {answer['error']}", cwd, "check the folder")
    if answer["stage"] == "command":
        return SpawnError(f"cannot run the bot's command in {cwd}: {answer['error']}", command, "mend its command")
    return ArenaError(f"cannot start a process: {answer['error']}", command, "the machine is short of something")
