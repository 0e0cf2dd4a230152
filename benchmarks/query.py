"""How long a reader waits for the leaderboard of 1,000 bots, over the service's own way, with many games and with few.

Builds both databases first, by bulk inserts: a minute or so and 400 MB, in a temporary folder.
"""

from __future__ import annotations

import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
from serving import served  # tests/support
from table import progress
from tournaments import patchwork_spec

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc
from arena_server.store import Store

BOTS = 1000
FEW, MANY = 10_000, 1_000_000
CHUNK = 100_000
JOURNAL = b"x" * 100
"""Much shorter than a real one: a leaderboard reads none."""


def measure(asked: int = 300) -> dict[str, float]:
    """Medians in milliseconds; the two databases are asked in turn, so that both meet the same machine."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        paths = [Path(folder) / f"{games}.db" for games in (FEW, MANY)]
        for path, games in zip(paths, (FEW, MANY), strict=True):
            build(path, games)
        return _measured(paths, asked)


def _measured(paths: list[Path], asked: int) -> dict[str, float]:
    with Store.open(str(paths[0])) as few, Store.open(str(paths[1])) as many, served(few) as one, served(many) as other:
        figures = {}
        with grpc.insecure_channel(one) as first, grpc.insecure_channel(other) as second:
            stubs = [leaderboard_pb2_grpc.LeaderboardStub(channel) for channel in (first, second)]
            for what, request in (
                ("leaderboard", pb.GetLeaderboardRequest(fresh=True)),
                ("leaderboard_of_all", pb.GetLeaderboardRequest(page_size=BOTS, fresh=True)),
            ):
                times = [[_ms(stub, request) for stub in stubs] for _ in range(asked)]
                few_ms, many_ms = (statistics.median(column) for column in zip(*times, strict=True))
                figures[f"{what}_p50_ms_1m_games"] = many_ms
                figures[f"{what}_1m_over_10k"] = many_ms / few_ms
    return figures


def _ms(stub: Any, request: pb.GetLeaderboardRequest) -> float:
    began = time.perf_counter()
    answer = stub.GetLeaderboard(request)
    took = 1000 * (time.perf_counter() - began)
    assert answer.standings
    assert answer.progress.rated == answer.progress.planned - answer.progress.abandoned - _OPEN
    return took


_OPEN = 100
"""Games at the end that are still to be played."""


def build(path: Path, games: int) -> None:
    """A tournament of random results, as if all but the last games had been played and rated."""
    with Store.open(str(path)) as store:
        store.enter(patchwork_spec(BOTS, 2), name="ladder")
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = OFF")
        for first in range(1, games + 1, CHUNK):
            last = min(first + CHUNK, games + 1)
            connection.execute("BEGIN")
            _insert(connection, range(first, last), games)
            connection.execute("COMMIT")
            progress(last - 1, games, "games inserted")
        _rate(connection, games)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


def _insert(connection: sqlite3.Connection, numbers: range, games: int) -> None:
    dice = random.Random(numbers.start)
    played = [number <= games - _OPEN for number in numbers]
    statuses = ["abandoned" if done and number % 50_000 == 0 else "finished" if done else "planned"
                for number, done in zip(numbers, played, strict=True)]  # fmt: skip
    rows = list(zip(numbers, statuses, strict=True))
    connection.executemany(
        "INSERT INTO game (tournament_id, number, stage, pairing, deal, status, attempt, ending, plies)"
        " VALUES (1, ?, ?, ?, '{}', ?, 1, ?, 50)",
        ((number, 1 + number // 100, (number + 1) // 2, status, _ending(status, number)) for number, status in rows),
    )
    connection.executemany(
        "INSERT INTO seat (tournament_id, number, seat, entrant, score, rank, mu, sigma, flagged)"
        " VALUES (1, ?, ?, ?, ?, ?, ?, ?, 0)",
        (seat for number, status in rows for seat in _seats(dice, number, status)),
    )
    connection.executemany(
        "INSERT INTO attempt (tournament_id, number, attempt, epoch, sequence, ending, journal, chain_hash)"
        " VALUES (1, ?, 1, 1, ?, 'normal', ?, '')",
        ((number, number, JOURNAL) for number, status in rows if status != "planned"),
    )


def _ending(status: str, number: int) -> str | None:
    if status != "finished":
        return "abandoned" if status == "abandoned" else None
    return "timeout" if number % 500 == 1 else "normal"


def _seats(dice: random.Random, number: int, status: str) -> Iterator[tuple[object, ...]]:
    winner = dice.randrange(2)
    for seat, entrant in enumerate(dice.sample(range(BOTS), 2)):
        rated = (dice.randrange(60), 1 + (seat != winner), 25.0, 1.0) if status == "finished" else (None,) * 4
        yield number, seat, entrant, *rated


def _rate(connection: sqlite3.Connection, games: int) -> None:
    dice = random.Random(games)
    connection.execute("BEGIN")
    connection.executemany(
        "UPDATE entrant SET mu = ?, sigma = ?, games = ?, wins = ?, losses = ?, margin_games = 1, failures = ?"
        " WHERE position = ?",
        (
            (dice.gauss(25, 8), dice.uniform(0.5, 2), each := 2 * games // BOTS, each // 2, each - each // 2,
             '{"timeout": 3}', place)
            for place in range(BOTS)
        ),
    )  # fmt: skip
    done = games - _OPEN
    connection.execute(
        "UPDATE tournament SET planned = ?, watermark = ?, commits = ?, status = 'running'", (games, done, done)
    )
    connection.execute("COMMIT")
