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
from arena_server.store.crosstable import Crosstable
from arena_server.store.lists import Choice
from arena_server.store.samples import Sample
from arena_server.store.views import Leaderboard


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


@contextmanager
def moving(season: Season) -> Iterator[None]:
    """A table is played before each transaction of whoever reads."""
    playing = False

    def play(_connection: object) -> None:
        nonlocal playing
        if not playing:
            playing = True
            season.plan(0, 1, 2)
            season.play()
            playing = False

    event.listen(season.store.database.engine, "begin", play)
    try:
        yield
    finally:
        event.remove(season.store.database.engine, "begin", play)


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


def test_a_busy_server_tells_of_one_moment(season: Season) -> None:
    """However far away the reader: games end between all of its questions. A crosstable has 50 rows a page."""
    season.join(60)
    with served(season.store) as address, RemoteReader(address) as reader, moving(season):
        assert_adds_up(reader.leaderboard("season"))
        board, table = reader.crosstable("season")
        assert_adds_up(board)
        for row in board.standings:
            assert games_of(table, row.position) == row.games
        page = reader.bot(None, "bot1", before=None, limit=5)
        assert page.standing.games == games_of(page.opponents, page.standing.position) > len(page.games) == 5
        assert max(one.played.game.number for one in page.games) <= page.tournament.watermark


def assert_adds_up(board: Leaderboard) -> None:
    assert sum(row.games for row in board.standings) == 3 * board.progress.folded == 3 * board.tournament.watermark > 0


def games_of(table: Crosstable, place: int) -> int:
    """In each it met the two others."""
    cells = (cell.total for (row, _), cell in table.cells.items() if row == place)
    return sum(cell.wins + cell.losses + cell.draws for cell in cells) // 2
