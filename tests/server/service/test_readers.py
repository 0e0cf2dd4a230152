"""Readers of a season that goes on while they read: what each is told is of one moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from seasons import Season
from serving import served
from sqlalchemy import event

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc
from arena_server.service.reading import Reader, StoreReader
from arena_server.service.remote import RemoteReader
from arena_server.store import Store
from arena_server.store.lists import Choice
from arena_server.store.samples import Sample


@pytest.fixture
def season(tmp_path: Path) -> Iterator[Season]:
    """Of three bots, with a table played."""
    with Store.open(str(tmp_path / "arena.db")) as store:
        season = Season(store, 3)
        season.plan(0, 1, 2)
        season.play()
        yield season


@contextmanager
def joining(season: Season, before: int) -> Iterator[None]:
    """Three bots join and play before that transaction of whoever reads."""
    begun = 0

    def join(_connection: object) -> None:
        nonlocal begun
        begun += 1
        if begun == before:
            season.join(6)
            season.plan(3, 4, 5)
            season.play()

    event.listen(season.store.database.engine, "begin", join)
    try:
        yield
    finally:
        event.remove(season.store.database.engine, "begin", join)


READS: dict[str, Callable[[Reader], object]] = {
    "leaderboard": lambda reader: reader.leaderboard("season"),
    "selection": lambda reader: reader.selection("season", Sample()),
    "bot": lambda reader: reader.bot("season", "bot1", before=None, limit=5),
    "crosstable": lambda reader: reader.crosstable("season"),
    "games": lambda reader: reader.games("season", Choice(), after=0, limit=100),
}


@pytest.mark.parametrize("before", [2, 3])
@pytest.mark.parametrize("what", READS)
def test_bots_may_join_while_a_database_is_read(season: Season, what: str, before: int) -> None:
    with joining(season, before):
        READS[what](StoreReader(season.store))


@pytest.mark.parametrize("before", [2, 3])
@pytest.mark.parametrize("what", READS)
def test_bots_may_join_while_a_server_is_asked(season: Season, what: str, before: int) -> None:
    with served(season.store) as address, RemoteReader(address) as reader, joining(season, before):
        READS[what](reader)


def test_bots_may_join_while_a_fit_is_read(season: Season) -> None:
    with served(season.store) as address, grpc.insecure_channel(address) as channel, joining(season, 2):
        stub = leaderboard_pb2_grpc.LeaderboardStub(channel)
        board = stub.GetLeaderboard(pb.GetLeaderboardRequest(rating=pb.RATING_BRADLEY_TERRY))
        assert len(board.standings) == 6
