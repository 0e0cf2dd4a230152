"""An event loop whose time is simulated: it jumps to the next thing that happens, and the same run repeats exactly."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from asyncio import base_events
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar
from unittest import mock

T = TypeVar("T")
Callback = Callable[[], object]

MAX_SECONDS = 2_000.0
MAX_STEPS = 100_000
STEP = 1e-6
"""Seconds that a turn of the loop takes: time never stands still."""


class Killed(KeyboardInterrupt):
    """The command is gone, as after kill -9; of a kind that asyncio lets through."""


class Hung(AssertionError):  # noqa: N818 - likewise a finding
    """Nothing more happens, or it does not end."""


class SimulatedLoop(base_events.BaseEventLoop):
    """Runs as asyncio does, but sleeps in no time; what arrives from outside comes before timers, as I/O does.

    Attributes:
        steps: turns of the loop so far.
        dead: whether the command was killed: what it still does reaches nobody.
        stalls: when it stood still, as pairs of instants.
        errors: exceptions that nobody caught.
    """

    def __init__(self, at: float, on_step: Callable[[], None]) -> None:
        super().__init__()
        self._selector = self
        self._at = at
        self._limit = at + MAX_SECONDS
        self._on_step = on_step
        self._arriving: list[tuple[float, int, Callback]] = []
        self._order = itertools.count()
        self._thread_free = at
        self._main: asyncio.Future[Any] | None = None
        self.steps = 0
        self.dead = False
        self.stalls: list[tuple[float, float]] = []
        self.errors: list[str] = []
        self.delay: Callable[[], float] = lambda: 0.001  # of the thread, before and after its work
        self.set_exception_handler(self._note_error)

    def time(self) -> float:
        return self._at

    def stall(self, seconds: float) -> None:
        """Everything of ours stands still; the world outside goes on."""
        self.stalls.append((self._at, self._at + seconds))
        self._at += seconds

    def arrive(self, delay: float, callback: Callback) -> None:
        """Something from outside comes in after a while."""
        heapq.heappush(self._arriving, (self._at + delay, next(self._order), callback))

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Runs it to its end, with the process's monotonic clock simulated; nothing is left running."""
        asyncio.set_event_loop(self)
        try:
            with mock.patch("time.monotonic", self.time):
                try:
                    self._main = task = self.create_task(main)
                    return self.run_until_complete(task)
                except Killed:
                    self.dead = True
                    raise
                finally:
                    self._end_tasks()
        finally:
            asyncio.set_event_loop(None)
            self._arriving.clear()
            self.close()

    def run_in_executor(self, _executor: object, work: Callable[..., T], *arguments: object) -> asyncio.Future[T]:
        """There are no threads: one worker, in order."""
        done: asyncio.Future[T] = self.create_future()
        if self.dead:
            done.set_exception(ConnectionError("killed"))
            return done
        self._thread_free = max(self._thread_free, self._at) + self.delay()
        self.arrive(self._thread_free - self._at, lambda: self._work(done, work, arguments))
        return done

    def _work(self, done: asyncio.Future[T], work: Callable[..., T], arguments: tuple[object, ...]) -> None:
        if self.dead:
            done.cancel()
            return
        try:
            answer = work(*arguments)
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            failed = error
            self.arrive(self.delay(), lambda: None if done.done() else done.set_exception(failed))
        else:
            self.arrive(self.delay(), lambda: None if done.done() else done.set_result(answer))

    def _end_tasks(self) -> None:
        """Also those that others begin when they end: what is left over would end some time, in another loop."""
        while tasks := asyncio.all_tasks(self):
            for task in sorted(tasks, key=lambda task: int(task.get_name().removeprefix("Task-"))):
                task.cancel()
            self.run_until_complete(asyncio.wait(tasks))

    def _note_error(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not self.dead:
            self.errors.append(f"{context['message']}: {context.get('exception')!r}")

    # What asyncio asks of its selector

    def select(self, timeout: float | None) -> list[Callback]:
        self.steps += 1
        self._at += STEP
        if self.steps > MAX_STEPS or self._at > self._limit:
            raise Hung("it does not end")
        if not (self.dead or self._main is None or self._main.done()):  # else there is no command to strike
            self._on_step()
        if timeout is None and not self._arriving:
            raise Hung("nothing more happens")
        if self._arriving and (timeout is None or self._arriving[0][0] <= self._at + timeout):
            self._at = max(self._at, self._arriving[0][0])
        elif timeout is not None:
            self._at += timeout
        due = []
        while self._arriving and self._arriving[0][0] <= self._at:
            due.append(heapq.heappop(self._arriving)[2])
        return due

    def _process_events(self, event_list: list[Callback]) -> None:
        for callback in event_list:
            self.call_soon(callback)

    def _write_to_self(self) -> None:
        """Nobody sleeps."""
