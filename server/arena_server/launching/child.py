"""One bot process as the keeper holds it. Standard library only, and little of that: the keeper starts with it."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from collections.abc import Mapping, Sequence

KEPT = 16 << 10
"""Bytes of output that are kept, the last ones."""

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_DEFAULTS = [number for number in signal.valid_signals() if number not in (signal.SIGKILL, signal.SIGSTOP)]
_CHUNK = 1 << 16
_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)


def become_subreaper() -> None:
    """Makes orphaned descendants our children, and leaves room for two descriptors a bot."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES[1], _FILES[1]))


class Tail:
    """The end of what comes through a pipe."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.total = 0
        self._kept = b""

    def read(self) -> bool:
        """Takes what is there, at most 64 KiB; False at the end of the pipe or when nothing is there."""
        try:
            data = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return False
        self.total += len(data)
        self._kept = (self._kept + data)[-KEPT:]
        return bool(data)

    def drain(self) -> None:
        """Takes what its dead writer left: a pipe may hold 1 MiB; a grandchild that still writes does not hold us."""
        for _ in range(16):
            if not self.read():
                return

    def text(self) -> str:
        """What is kept; bytes that are no UTF-8 as escapes."""
        return self._kept.decode("utf-8", "backslashreplace")


class Child:
    """A bot process and its two pipes."""

    def __init__(self, pid: int, stdout: int, stderr: int) -> None:
        self.pid = pid
        self.exited = False
        self.stdout = Tail(stdout)
        self.stderr = Tail(stderr)

    def output(self) -> dict[str, object]:
        """What it printed, ready to be sent."""
        return {
            "stdout": self.stdout.text(),
            "stderr": self.stderr.text(),
            "stdout_bytes": self.stdout.total,
            "stderr_bytes": self.stderr.total,
        }


class SpawnFailure(Exception):  # noqa: N818 - it is sent, not an error of ours
    """Why no process came of it; stage is ``folder``, ``command`` or ``machine``."""

    def __init__(self, stage: str, error: str) -> None:
        super().__init__(stage, error)
        self.stage = stage
        self.error = error


def spawn(argv: list[str], cwd: str, env: Mapping[str, str]) -> Child:
    """Starts a process and returns once it runs its command; raises SpawnFailure."""
    pipes: list[int] = []
    try:
        for _ in range(3):
            pipes += os.pipe()
        pid = os.fork()
    except OSError as error:
        _close(pipes)
        raise SpawnFailure("machine", error.strerror or str(error)) from None
    out, out_end, err, err_end, news, news_end = pipes
    if pid == 0:
        _run(argv, cwd, env, (out_end, err_end, news_end))
    _close([out_end, err_end, news_end])
    failure = os.read(news, 4096)  # ends when the command begins, as the pipe is closed by exec
    os.close(news)
    if failure:
        os.waitpid(pid, 0)
        _close([out, err])
        stage, _, error_text = failure.decode("utf-8", "replace").partition(":")
        raise SpawnFailure(stage, error_text)
    return Child(pid, out, err)


def _run(argv: list[str], cwd: str, env: Mapping[str, str], ends: tuple[int, int, int]) -> None:
    """In the child: becomes the command; never returns."""
    stage = "machine"
    try:
        _settle(ends[0], ends[1])
        stage = "folder"
        os.chdir(cwd)
        stage = "command"
        os.execvpe(argv[0], argv, env)  # noqa: S606 - a shell is what nobody wants here
    except BaseException as error:  # noqa: BLE001 - nothing may escape into the keeper's own code
        os.write(ends[2], f"{stage}:{getattr(error, 'strerror', None) or error}"[:4000].encode("utf-8", "replace"))
    finally:
        os._exit(127)


def _settle(stdout: int, stderr: int) -> None:
    """In the child: own session, default signals, descriptors 0 to 2, and death with the keeper."""
    keeper = os.getppid()
    os.setsid()
    end_with(keeper, signal.SIGKILL)
    for number in _DEFAULTS:
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_NOFILE, _FILES)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)


def end_with(parent: int, number: int) -> None:
    """In a child: has it get that signal when its parent is gone."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(127)  # it died before the line above


def _close(fds: Sequence[int]) -> None:
    for fd in fds:
        os.close(fd)
