"""What the referee costs: CPU a move beside the bare streams of `streams`, and games a second."""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from streams import cpu, floor

from arena_server.coordinator.event import Event, prepare_grpc
from arena_server.coordinator.settings import Settings
from arena_server.coordinator.watching import Snapshot
from arena_server.model import Result
from arena_server.store import Store

AT_ONCE = 2
"""Games at the same time."""
WARM_UP = 100
"""Games before counting begins: imports, starts of bots and first commits are told apart."""
FLOOR_GAMES = 60
"""Recorded games whose messages the floor carries."""

INSTANT = """
from arena_sdk import Bot

class {name}(Bot):
    def choose(self, state, clock):
        return state.legal_moves()[{index}]

if __name__ == "__main__":
    {name}.main()
"""


class Mark(NamedTuple):
    """How far a match is: games and moves recorded, CPU seconds of this process, and the instant."""

    games: int
    moves: int
    cpu: float
    at: float


@dataclass
class Match:
    """Two bots over many games on SQLite, refereed by this process; a watcher of its own run."""

    bots: tuple[str, str]
    results: list[Result] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    def play(self, games: int) -> Match:
        """Plays it."""
        bots = list(self.bots)
        event = Event.of(
            Settings.said({"bots": bots, "games": games, "seed": "bench", "time": "1s", "concurrency": AT_ONCE})
        )
        with (
            tempfile.TemporaryDirectory() as folder,
            Store.open(f"{folder}/bench.db") as store,
            store.lock(store.enter(event.spec).tournament) as lock,
        ):
            self.marks.append(Mark(0, 0, cpu(), time.perf_counter()))
            event.play(store, lock.tournament, self)
        return self

    def stands(self, snapshot: Snapshot) -> None:
        """Nothing to show."""

    def ended(self, result: Result) -> None:
        """Keeps the result."""
        self.results.append(result)
        last = self.marks[-1]
        self.marks.append(Mark(last.games + 1, last.moves + len(result.moves), cpu(), time.perf_counter()))

    def notes(self, line: str) -> None:
        """Trouble would spoil the figures."""
        print(line, file=sys.stderr)

    @property
    def cpu_per_move(self) -> float:
        """In seconds, behind the warm-up: one move more, with its share of its game and of the commit."""
        warm, last = self.marks[WARM_UP], self.marks[-1]
        return (last.cpu - warm.cpu) / (last.moves - warm.moves)

    @property
    def start_up(self) -> float:
        """CPU seconds of the warm-up beyond what its moves cost."""
        first, warm = self.marks[0], self.marks[WARM_UP]
        return warm.cpu - first.cpu - warm.moves * self.cpu_per_move

    @property
    def games_per_s(self) -> float:
        """Behind the warm-up."""
        warm, last = self.marks[WARM_UP], self.marks[-1]
        return (last.games - warm.games) / (last.at - warm.at)


def measure(games: int = 500) -> dict[str, float]:
    """All figures of the referee."""
    prepare_grpc()
    with tempfile.TemporaryDirectory() as folder:
        match = Match(("random", "greedy")).play(games)
        instant = Match((_bot(folder, "First", 0), _bot(folder, "Last", -1))).play(games)
    paced = floor(match.results[:FLOOR_GAMES], AT_ONCE, paced=True)
    idle = floor(match.results[:FLOOR_GAMES], AT_ONCE, paced=False)
    return {
        "referee_cpu_us_per_move": match.cpu_per_move * 1e6,
        "referee_start_up_cpu_s": match.start_up,
        "stream_floor_cpu_us_per_move": paced * 1e6,
        "referee_over_floor": match.cpu_per_move / paced,
        "stream_floor_idle_cpu_us_per_move": idle * 1e6,
        "games_per_s_random_greedy": match.games_per_s,
        "games_per_s_instant_bots": instant.games_per_s,
    }


def _bot(folder: str, name: str, index: int) -> str:
    path = Path(folder, f"{name.lower()}.py")
    path.write_text(INSTANT.format(name=name, index=index))
    return str(path)
