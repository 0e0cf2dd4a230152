"""A program of any language that speaks lines on its standard input and output."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from queue import Empty, Queue, SimpleQueue
from typing import IO

LINE_BYTES = 64 * 1024
"""Of one line that it says; longer is garbage."""
WAITING_LINES = 256
"""That it may be ahead of us; then its writing blocks."""
STDERR_BYTES = 8 * 1024
"""Kept of its standard error, the last ones."""
LAST_WORDS_S = 0.5
"""For its exit and its standard error, once it is known to have ended."""
FAREWELL_S = 1.0
"""To leave by itself after `quit`."""

_OURS = ("ARENA_ADDRESS", "ARENA_TOKEN")
"""What the bot is known by, and none of the program's business."""


class ProgramError(Exception):
    """A program failed; the last line says how, and before it stands the end of its standard error."""


class Program:
    """A running program, in a process group of its own.

    Neither reading nor writing blocks for longer than asked, whatever it does: three threads hold its pipes.

    Args:
        command: its words.

    Raises:
        ProgramError: it cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._name = shlex.join(command)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - what the bot's author wrote
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={name: value for name, value in os.environ.items() if name not in _OURS},
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramError(f"cannot start the program {self._name}: {error.strerror or error}") from None
        self._said: Queue[bytes] = Queue(WAITING_LINES)  # ends with an empty one
        self._unsent: SimpleQueue[str | None] = SimpleQueue()
        self._stderr = b""
        self._closed = False
        self._threads = [_thread(work) for work in (self._read, self._write, self._keep_stderr)]

    @property
    def alive(self) -> bool:
        """Whether it runs and was not given up."""
        return not self._closed and self._process.poll() is None

    def say(self, *lines: str) -> None:
        """Sends lines, whether it reads them or not."""
        self._unsent.put("".join(f"{one_line(line)}\n" for line in lines))

    def hear(self, seconds: float) -> str:
        """The next line; raises ProgramError where it has ended, or says nothing that is a line for so long."""
        try:
            return self._line(self._said.get(timeout=max(0.0, seconds)))
        except Empty:
            raise self.fault("did not answer in time") from None

    def unasked(self) -> Iterator[str]:
        """The lines that it has said already."""
        while not self._said.empty() and self._said.queue[0]:
            yield self._line(self._said.get())

    def fault(self, what: str) -> ProgramError:
        """Kills it for what it did wrong; returns the error to raise."""
        self._end_of_it()
        self._threads[2].join(LAST_WORDS_S)  # it ends with the pipe, unless a grandchild has that
        said = self._stderr.decode(errors="backslashreplace").strip()
        told = f"the end of its standard error:\n{said}\n" if said else ""
        return ProgramError(f"{told}the program {self._name} {what}")

    def quit(self) -> None:
        """Tells it to leave and gives it a moment to do so."""
        self.say("quit")
        self._unsent.put(None)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(FAREWELL_S)
        self._end_of_it()

    def kill(self) -> None:
        """Kills it and its children; takes no lock, so that a signal's handler may do it."""
        self._closed = True
        with suppress(OSError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)

    def _end_of_it(self) -> None:
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_WORDS_S)
        self._unsent.put(None)
        with suppress(Empty):
            while True:
                self._said.get_nowait()  # lets go of the thread that waits to put one more

    def _line(self, line: bytes) -> str:
        if not line:
            raise self.fault(self._exit())
        if not line.endswith(b"\n"):
            raise self.fault(f"said {line[:100]!r}... without the end of a line within {LINE_BYTES} bytes")
        return line.decode(errors="backslashreplace").rstrip("\r\n")

    def _exit(self) -> str:
        try:
            status = self._process.wait(LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            return "closed its standard output"
        if status >= 0:
            return f"ended with exit status {status}"
        with suppress(ValueError):
            return f"was killed by {signal.Signals(-status).name}"
        return f"was killed by signal {-status}"

    # The threads

    def _read(self) -> None:
        output = _pipe(self._process.stdout)
        while not self._closed and (line := output.readline(LINE_BYTES)):
            self._said.put(line)
        self._said.put(b"")
        output.close()

    def _write(self) -> None:
        pipe = _pipe(self._process.stdin)
        with suppress(OSError), pipe:  # it is gone: who reads its output knows
            while (lines := self._unsent.get()) is not None:
                pipe.write(lines.encode(errors="replace"))
                pipe.flush()

    def _keep_stderr(self) -> None:
        with _pipe(self._process.stderr) as pipe:
            while data := os.read(pipe.fileno(), 4096):
                self._stderr = (self._stderr + data)[-STDERR_BYTES:]
                with suppress(OSError):
                    os.write(2, data)  # it belongs to the bot's own


def one_line(text: str) -> str:
    """A text without breaks, which would begin another line."""
    return " ".join(text.splitlines())


def _thread(work: object) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)  # type: ignore[arg-type]
    thread.start()
    return thread


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
