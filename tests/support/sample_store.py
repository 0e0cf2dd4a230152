"""Two tournaments on a store as readers find them: one finished, one half-way with failures."""

from __future__ import annotations

from dataclasses import replace

from tournaments import begin, patchwork_spec, tiny_spec

from arena_server.model import Ending, Failure, Result
from arena_server.store import Store

EVIL = "\x1b[2J\x9b31m[red]\u202e"
"""What a bot may say: terminal controls, rich's markup, a change of direction."""


def play_tiny(store: Store) -> None:
    with (playing := begin(store, tiny_spec(4), name="tiny")).lock:
        store.record(playing.results())
        store.finish(playing.tournament)


def play_nightly(store: Store) -> None:
    """Game 1 is void at first, games 8 and 16 are lost by illegal moves, 23 and 24 are still to be played."""
    with (playing := begin(store, patchwork_spec(3, 8), name="nightly")).lock:
        store.record([playing.void(playing.assignments()[0])])
        store.record([_evil(result) for result in playing.results()[:-2]])


def _evil(result: Result) -> Result:
    if not result.failures:
        return result
    failures = tuple(_evil_failure(failure) for failure in result.failures)
    return replace(result, ending=Ending.ILLEGAL_MOVE, failures=failures)


def _evil_failure(failure: Failure) -> Failure:
    return replace(
        failure,
        ending=Ending.ILLEGAL_MOVE,
        reply=f"K9z9{EVIL}",
        reason=f"no such move {EVIL}",
        evidence=f"Traceback:\n\tin choose {EVIL}\nValueError",
    )
