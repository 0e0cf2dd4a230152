"""The keeper: a small child of the command that starts bots and kills their trees (design, decision 10).

Standard library only, one thread, started before grpc is imported. It talks JSON lines over the socket on its standard
input and ends with that socket: then everything it ever started is killed, also after kill -9 of the command.

    asked     {"ask": n, "do": "greet"} | {..., "do": "spawn", "id", "argv", "cwd", "env"} | {..., "do": "output", "id"}
    told      {"do": "kill", "id"} | {"do": "tidy", "folder"}
    answers   {"ask": n} | {..., "id", "pid"} | {..., "id", "stage", "error"} | {..., "output": {...} or null}
    reports   {"event": "exit", "id", "status", "cpu_us", "max_rss_kb", "output"} | {"event": "gone", "id", "whole"}
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from functools import partial

from arena_server.launching import trees
from arena_server.launching.child import Child, SpawnFailure, Tail, become_subreaper, spawn

TYPE_CHECKING = False  # importing typing would cost a third of the start
if TYPE_CHECKING:
    from typing import Any

KILL_S = 2.0
"""After which a tree that does not die is given up."""


class Keeper:
    """The loop over the socket, the pipes of the bots, and the deaths of children."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._socket = _take_stdin()
        self._children: dict[int, Child] = {}
        self._dying: dict[int, float] = {}  # deadlines
        self._next_pass = 0.0
        self._closing = False
        self._folders: list[str] = []
        self._inbox = b""
        self._outbox = b""
        self._poll = select.poll()
        self._readers: dict[int, Callable[[], None]] = {}

    def run(self) -> None:
        """Works until the socket ends and all trees are gone."""
        deaths = _pipe_of_deaths()
        self._listen(deaths, lambda: self._reap(deaths))
        self._listen(self._socket, self._receive)
        while self._children or not self._closing:
            self._wait()
            if self._dying and time.monotonic() >= self._next_pass:
                self._kill_pass()
        self._finish()

    def _wait(self) -> None:
        if not self._closing:
            self._poll.modify(self._socket, select.POLLIN | (select.POLLOUT if self._outbox else 0))
        pause = max(0.0, self._next_pass - time.monotonic()) * 1000 if self._dying else None
        for fd, happened in self._poll.poll(pause):
            if happened & select.POLLOUT:
                self._flush()
            if happened & ~select.POLLOUT and fd in self._readers:
                self._readers[fd]()

    def _finish(self) -> None:
        """Kills what no tree accounts for, removes what the command may have left, and sends what was not sent."""
        deadline = time.monotonic() + KILL_S
        while (left := trees.members({}, self._token).get(0)) and time.monotonic() < deadline:
            trees.kill(left)
            time.sleep(trees.PASS_S)
        for folder in self._folders:
            _remove(folder)
        os.set_blocking(self._socket, True)
        self._flush()

    def _listen(self, fd: int, reader: Callable[[], None]) -> None:
        self._readers[fd] = reader
        self._poll.register(fd, select.POLLIN)

    def _forget(self, fd: int) -> None:
        if self._readers.pop(fd, None):
            self._poll.unregister(fd)

    def _receive(self) -> None:
        try:
            data = os.read(self._socket, 1 << 16)
        except OSError:
            data = b""
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))
        if not data:
            self._closing = True
            self._forget(self._socket)
            self._condemn(*self._children)

    def _obey(self, message: dict[str, Any]) -> None:
        do, number = message["do"], message.get("id", 0)
        if do == "kill":
            self._condemn(number)
            return
        if do == "tidy":
            self._folders.append(message["folder"])
            return
        answer = {"ask": message["ask"]}
        if do == "spawn":
            answer |= self._spawn(number, message["argv"], message["cwd"], message["env"])
        elif do == "output":
            child = self._children.get(number)
            answer["output"] = child.output() if child and not child.exited else None
        self._send(answer)

    def _spawn(self, number: int, argv: list[str], cwd: str, env: dict[str, str]) -> dict[str, object]:
        try:
            child = spawn(argv, cwd, {**env, trees.MARK: f"{self._token}.{number}"})
        except SpawnFailure as failure:
            return {"id": number, "stage": failure.stage, "error": failure.error}
        self._children[number] = child
        for tail in (child.stdout, child.stderr):
            self._listen(tail.fd, partial(self._read, tail))
        return {"id": number, "pid": child.pid}

    def _read(self, tail: Tail) -> None:
        if not tail.read():
            self._forget(tail.fd)

    def _condemn(self, *numbers: int) -> None:
        for number in numbers:
            if number in self._children:
                self._dying.setdefault(number, time.monotonic() + KILL_S)
                self._next_pass = 0.0

    def _reap(self, deaths: int) -> None:
        """Takes every dead child, orphans of the bots among them."""
        os.read(deaths, 4096)
        numbers = {child.pid: number for number, child in self._children.items() if not child.exited}
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in numbers:
                self._exited(numbers[pid], status, usage)

    def _exited(self, number: int, status: int, usage: resource.struct_rusage) -> None:
        child = self._children[number]
        child.exited = True
        for tail in (child.stdout, child.stderr):
            tail.drain()
            self._forget(tail.fd)
            os.close(tail.fd)  # what still holds the other end is about to die
        spent = round((usage.ru_utime + usage.ru_stime) * 1e6)
        figures = {"status": status, "cpu_us": spent, "max_rss_kb": usage.ru_maxrss}
        self._send({"event": "exit", "id": number, **figures, "output": child.output()})
        self._condemn(number)

    def _kill_pass(self) -> None:
        """Kills what is left of each condemned tree; a tree with nothing left is reported."""
        leaders = {child.pid: number for number, child in self._children.items()}
        members = trees.members(leaders, self._token)
        for number, deadline in list(self._dying.items()):
            left = members.get(number, []) + members.get(0, [])
            trees.kill(left)
            whole = not left and self._children[number].exited
            if whole or time.monotonic() > deadline:
                self._bury(number, whole=whole)
        self._next_pass = time.monotonic() + trees.PASS_S

    def _bury(self, number: int, *, whole: bool) -> None:
        del self._dying[number]
        child = self._children.pop(number)
        if not child.exited:
            for tail in (child.stdout, child.stderr):
                self._forget(tail.fd)
                os.close(tail.fd)
        self._send({"event": "gone", "id": number, "whole": whole})

    def _send(self, message: dict[str, object]) -> None:
        self._outbox += json.dumps(message).encode() + b"\n"
        self._flush()

    def _flush(self) -> None:
        """Never blocks: a command that does not read must not keep us from draining the bots."""
        try:
            self._outbox = self._outbox[os.write(self._socket, self._outbox) :]
        except BlockingIOError:
            pass
        except OSError:
            self._outbox = b""  # nobody listens any more


def _remove(folder: str) -> None:
    """Removes a folder of files; the command may have done so itself."""
    try:
        for name in os.listdir(folder):  # noqa: PTH208 - pathlib would cost a third of the start
            os.unlink(os.path.join(folder, name))  # noqa: PTH108, PTH118 - likewise
        os.rmdir(folder)  # noqa: PTH106 - likewise
    except OSError:
        pass


def _take_stdin() -> int:
    """The socket, moved where no bot inherits it."""
    moved = os.dup(0)
    os.set_blocking(moved, False)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    return moved


def _pipe_of_deaths() -> int:
    """A pipe that gets a byte whenever a child dies."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def main(token: str) -> None:
    """Runs a keeper whose processes are marked with the token."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the command decides
    become_subreaper()
    Keeper(token).run()
