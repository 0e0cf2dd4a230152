"""How many games a second go on record, ratings included, at synchronous FULL."""

from __future__ import annotations

import tempfile
import time

from tournaments import Playing, patchwork_spec  # tests/support

from arena_engine.game import find
from arena_server.store import Store

BATCH = 32
"""Results that share a commit, as they do when many games run at once."""


def measure(games: int) -> dict[str, float]:
    """Records finished games in batches."""
    with tempfile.TemporaryDirectory() as folder, Store.open(f"{folder}/bench.db") as store:
        spec = patchwork_spec(bots=2, games=games)
        with store.lock(store.enter(spec).tournament) as lock:
            playing = Playing.begin(store, lock, find("patchwork"))
            results = playing.results()
            began = time.perf_counter()
            for first in range(0, len(results), BATCH):
                store.record(results[first : first + BATCH])
            return {"recorded_games_per_s": len(results) / (time.perf_counter() - began)}
