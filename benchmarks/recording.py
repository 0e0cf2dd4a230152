"""How many games a second go on record, ratings included, at synchronous FULL."""

from __future__ import annotations

import tempfile
import time

from tournaments import begin, patchwork_spec  # tests/support

from arena_server.store import Store

BATCH = 32
"""Results that share a commit, as they do when many games run at once."""


def measure(games: int = 500) -> dict[str, float]:
    """Records finished games in batches."""
    with tempfile.TemporaryDirectory() as folder, Store.open(f"{folder}/bench.db") as store:
        playing = begin(store, patchwork_spec(bots=2, games=games))
        results = playing.results()
        began = time.perf_counter()
        for first in range(0, len(results), BATCH):
            store.record(results[first : first + BATCH])
        seconds = time.perf_counter() - began
        playing.lock.release()
    return {"recorded_games_per_s": len(results) / seconds}
