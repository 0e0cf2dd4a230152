"""Many seeds at once, and what they come to: for `make simulate` and `make faults`."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Iterable, Iterator

from simulated.planted import BUGS, seeds_until_caught
from simulated.script import SEEDS_PER_CAST, draw
from simulated.search import failure
from simulated.world import PLACE, place


def broken(seeds: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Simulates seeds on every core; gives each, with what goes wrong, empty where nothing does."""
    wanted, cores = list(seeds), len(os.sched_getaffinity(0))
    with (  # processes of a pool are killed in the end: what is theirs is removed here
        tempfile.TemporaryDirectory(prefix="simulated", dir=place()) as folder,
        multiprocessing.get_context("spawn").Pool(cores, _keep_in, (folder,)) as pool,
    ):
        yield from pool.imap(_broken, wanted, chunksize=SEEDS_PER_CAST)


def simulation_figures(seeds: int) -> dict[str, float]:
    """``simulation_seeds`` and ``simulation_violations``."""
    return {"simulation_seeds": seeds, "simulation_violations": sum(bool(error) for _, error in broken(range(seeds)))}


def planted_figures() -> dict[str, float]:
    """``planted_bugs_caught``, of five."""
    return {"planted_bugs_caught": sum(seeds_until_caught(bug) is not None for bug in BUGS)}


def _keep_in(folder: str) -> None:
    os.environ[PLACE] = folder


def _broken(seed: int) -> tuple[int, str]:
    return seed, failure(draw(seed))
