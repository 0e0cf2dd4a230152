"""Keepers on both event loops, and the promise that each test leaves no process behind."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
import uvloop

from arena_server.launching.processes import Keeper

BOUND_S = 5.0
"""Five times what a wait should take at most."""


def marked(token: str) -> list[psutil.Process]:
    """The living processes that a keeper started, however they hid."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("ARENA_TREE", "").startswith(token) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def wait_until(true: Callable[[], bool], what: str) -> None:
    """Waits for what is to come true soon."""
    deadline = time.monotonic() + BOUND_S
    while not true():
        assert time.monotonic() < deadline, f"not within {BOUND_S} s: {what}"
        time.sleep(0.01)


class Run:
    """Runs a coroutine with a keeper, closes it, and looks for what is left."""

    def __init__(self, loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
        self._loop = loop

    def __call__(self, body: Callable[[Keeper], Awaitable[Any]]) -> Any:
        keeper = Keeper.start()
        with asyncio.Runner(loop_factory=self._loop) as runner:
            result = runner.run(self._within(keeper, body))
        wait_until(lambda: not marked(keeper._token), "no process left")
        assert not psutil.pid_exists(keeper.pid)
        return result

    async def _within(self, keeper: Keeper, body: Callable[[Keeper], Awaitable[Any]]) -> Any:
        try:
            await keeper.attach()
            return await body(keeper)
        finally:
            await keeper.close()


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    return Run(request.param)


@pytest.fixture
def run_once() -> Run:
    """For what does not depend on the loop."""
    return Run(uvloop.new_event_loop)


@pytest.fixture
def env() -> dict[str, str]:
    return {"PATH": os.environ["PATH"]}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache, for unpacked zips."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"
