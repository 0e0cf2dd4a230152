"""A tournament on paper, recorded as a command records it: what takes time is the store alone.

Run again it goes on. What is reported, on standard output, was recorded before.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tournaments import begin, patchwork_spec

from arena_server.cli.errors import guard
from arena_server.store import Store

GAMES = 6
BATCH = 3


def main(_arguments: Sequence[str]) -> None:
    """Plays what is open; trouble is told as any command tells it."""
    sys.exit(guard(play, as_json=False))


def play() -> None:
    with Store.open("arena.db") as store:
        playing = begin(store, patchwork_spec(bots=3, games=GAMES // 3), name="paper")
        for assignment in playing.assignments():
            if assignment.planned.number % 4 == 0 and assignment.token.attempt == 1:
                store.record([playing.void(assignment)])
        results = playing.results()
        for start in range(0, len(results), BATCH):
            recorded = store.record(results[start : start + BATCH])
            print(*(one.number for one in recorded if not one.refused), flush=True)
        store.finish(playing.tournament)
        playing.lock.release()
