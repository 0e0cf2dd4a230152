"""Runs seeds, finds those that break a promise, and shrinks a script to what is needed for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from simulated.script import Script, draw
from simulated.world import Ended, World

TRACE = 60
"""Events at the end of a failing run that are told."""


def simulate(seed: int) -> Ended:
    """Runs a seed; raises Violation, or whatever else the arena fails with."""
    return play(draw(seed))


def play(script: Script) -> Ended:
    """Runs a script and compares it with the same bots on a day without faults."""
    return World(script, quiet(script.quiet)).run()


@lru_cache(maxsize=8)
def quiet(script: Script) -> Ended:
    """The run that nothing befalls."""
    return World(script).run()


def failure(script: Script) -> str:
    """What goes wrong; empty where nothing does."""
    return _failure(lambda: play(script))


def _failure(work: Callable[[], object]) -> str:
    try:
        work()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        return f"{type(error).__name__}: {error}"
    return ""


def shrink(script: Script) -> Script:
    """The same with as few deeds and strikes as still break something."""
    for shorter in script.shorter():
        if failure(shorter):
            return shrink(shorter)
    return script


def tell(seed: int) -> str:
    """A failing seed for a person: the shortest script that fails, and what happened."""
    script = draw(seed)
    if not failure(script):
        return f"seed {seed}: all promises kept"
    return "\n".join(_lines(shrink(script)))


def _lines(script: Script) -> Iterator[str]:
    yield from script.lines()
    alone = _failure(lambda: quiet(script.quiet))
    world = World(script.quiet) if alone else World(script, quiet(script.quiet))
    error = _failure(world.run)
    start = world.trace[0][0]
    if len(world.trace) > TRACE:
        yield f"  ... {len(world.trace) - TRACE} events before"
    yield from (f"  {at - start:9.4f} {what}" for at, what in world.trace[-TRACE:])
    yield error
