"""Attacks 12 and 13 on the query service: hostile names, filters and pages are refused with words, cut, or harmless.

Beside each attack a well-behaved reader gets its answers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from serving import served
from sqlalchemy import text
from tournaments import begin, patchwork_spec

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc
from arena_server.service.answering import MAX_WAITING, THREADS
from arena_server.service.cursors import cursor, cursor_text
from arena_server.store import Store, queries
from arena_server.store.crosstable import Crosstable
from arena_server.store.database import TooLongError
from arena_server.store.standings import Key

ANSWERS = (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT)
HUGE = 2**32 - 1
HOSTILE = [
    "'; DROP TABLE game; --",
    "%",
    "_",
    "../../etc/passwd",
    "\x00",
    "\x1b[2J\x07",
    "\u202eevil\u2066",
    "<script>alert(1)</script>",
    "a" * 60_000,
    "ß" * 20_000,
    "1" * 5_000,
    "nightly/" + "9" * 5_000,
    "0x1p+0",
    "nan,nan,0",
    "0x1.8000000000000p+9999,0x1.0p+0,0",
    "0x1.9000000000000p+4,0x1.0000000000000p+3,999999999",
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path: Path = tmp_path_factory.mktemp("attacked") / "arena.db"
    with Store.open(str(path)) as opened:
        with (playing := begin(opened, patchwork_spec(3, 4), name="nightly")).lock:
            opened.record(playing.results()[:-1])
        yield opened


@pytest.fixture(scope="module")
def stub(store: Store) -> Iterator[Any]:
    with served(store) as address, grpc.insecure_channel(address) as channel:
        yield leaderboard_pb2_grpc.LeaderboardStub(channel)


@pytest.fixture(autouse=True)
def well_behaved(stub: Any) -> Iterator[None]:
    """A reader who asks before and after the attack."""
    before = stub.GetLeaderboard(pb.GetLeaderboardRequest(), timeout=60)
    yield
    assert stub.GetLeaderboard(pb.GetLeaderboardRequest(), timeout=60) == before


def questions(word: str) -> list[tuple[str, Any]]:
    """Every field that takes a text."""
    return [
        ("GetTournament", pb.GetTournamentRequest(tournament=word)),
        ("ListTournaments", pb.ListTournamentsRequest(after=word)),
        ("GetLeaderboard", pb.GetLeaderboardRequest(tournament=word)),
        ("GetLeaderboard", pb.GetLeaderboardRequest(page=word)),
        ("GetLeaderboard", pb.GetLeaderboardRequest(page=word, rating=pb.RATING_BRADLEY_TERRY)),
        ("GetPlaces", pb.GetPlacesRequest(tournament=word)),
        ("GetBot", pb.GetBotRequest(bot=word)),
        ("ListGames", pb.ListGamesRequest(bot=word)),
        ("ListGames", pb.ListGamesRequest(bot="bot0", opponent=word)),
        ("GetGame", pb.GetGameRequest(id=word)),
        ("GetCrosstable", pb.GetCrosstableRequest(tournament=word)),
        ("GetChain", pb.GetChainRequest(tournament=word)),
        ("GetDetails", pb.GetDetailsRequest(tournament=word)),
        ("ListRatedGames", pb.ListRatedGamesRequest(tournament=word)),
        ("GetBot", pb.GetBotRequest(bot="bot0", tournament=word)),
    ]


@pytest.mark.parametrize("word", HOSTILE, ids=lambda word: repr(word[:20]))
def test_hostile_texts_are_refused_with_words(stub: Any, word: str) -> None:
    for method, request in questions(word):
        with pytest.raises(grpc.RpcError) as refused:
            getattr(stub, method)(request, timeout=60)
        assert refused.value.code() in ANSWERS, (method, refused.value)
        told = refused.value.details() or ""
        assert 0 < len(told) < 1000
        assert word not in ("\x1b[2J\x07", "\x00") or word not in told


def test_huge_pages_are_cut_and_deep_ones_are_empty(stub: Any) -> None:
    games = stub.ListGames(pb.ListGamesRequest(page_size=HUGE))
    assert len(games.games) == 12
    assert not stub.ListGames(pb.ListGamesRequest(after=HUGE, page_size=HUGE)).games
    assert not stub.ListGames(pb.ListGamesRequest(stage=HUGE)).games
    assert len(stub.GetBot(pb.GetBotRequest(bot="bot0", before=HUGE, page_size=HUGE)).games) == 7
    rated = stub.ListRatedGames(pb.ListRatedGamesRequest(page_size=HUGE))
    assert (len(rated.games), rated.next_after) == (11, 0)
    assert stub.ListRatedGames(pb.ListRatedGamesRequest(page_size=3, after=7)).next_after == 10
    assert not stub.ListRatedGames(pb.ListRatedGamesRequest(after=HUGE)).games
    assert not stub.GetCrosstable(pb.GetCrosstableRequest(first=HUGE, page_size=HUGE)).cells
    assert len(stub.GetLeaderboard(pb.GetLeaderboardRequest(page_size=HUGE)).standings) == 3
    assert len(stub.ListTournaments(pb.ListTournamentsRequest(page_size=HUGE)).tournaments) == 1


def test_a_page_behind_the_end_is_empty(stub: Any) -> None:
    page = cursor_text(Key(-1e9, 1.0, 2))
    assert not stub.GetLeaderboard(pb.GetLeaderboardRequest(page=page)).standings


def test_cursors_are_exact() -> None:
    spec = patchwork_spec(3, 4)
    for key in (Key(25.0, 8.1, 0), Key(-0.1, 1e-9, 2), Key(1e300, 5e-324, 1), Key(0.0, 0.0, 1)):
        assert cursor(cursor_text(key), spec) == key


def test_a_message_that_is_none(store: Store) -> None:
    with served(store) as address, grpc.insecure_channel(address) as channel:
        for content in (b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f", b"x" * 100_000):
            call: Any = channel.unary_unary("/arena.v1.Leaderboard/GetLeaderboard")
            with pytest.raises(grpc.RpcError):
                call(content, timeout=60)


def test_more_questions_than_can_wait_are_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, crosstable = threading.Event(), queries.crosstable

    def gated(*asked: Any) -> Crosstable:
        assert gate.wait(60)
        return crosstable(*asked)

    monkeypatch.setattr(queries, "crosstable", gated)
    with served(store) as address:
        channels = [grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)]) for _ in range(16)]
        stubs = [leaderboard_pb2_grpc.LeaderboardStub(one) for one in channels]
        calls = [one.GetCrosstable.future(pb.GetCrosstableRequest(), timeout=100) for one in stubs for _ in range(8)]
        most, ends = MAX_WAITING + THREADS, time.monotonic() + 60
        while sum(call.done() for call in calls) < len(calls) - most and time.monotonic() < ends:
            time.sleep(0.01)
        gate.set()
        codes = [call.code() for call in calls]
        assert codes.count(grpc.StatusCode.OK) == most
        assert codes.count(grpc.StatusCode.RESOURCE_EXHAUSTED) == len(calls) - most
        assert stubs[0].GetLeaderboard(pb.GetLeaderboardRequest(), timeout=60).standings
        for one in channels:
            one.close()


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT count(*) FROM n"


def test_a_statement_that_takes_too_long_is_stopped(store: Store) -> None:
    limited, began = store.limited(0.05), time.monotonic()
    with pytest.raises(TooLongError, match="takes too long"), limited.database.read() as connection:
        connection.execute(text(ENDLESS)).all()
    assert time.monotonic() - began < 30
    with limited.database.read() as connection:
        assert connection.execute(text("SELECT 1")).scalar() == 1
    with store.database.read() as connection:  # the same connection, without a limit
        few = ENDLESS.replace("1000000000", "300000")
        assert connection.execute(text(few)).scalar() == 300_000


def test_a_question_that_takes_too_long_is_told_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(limited: Store, *_: object) -> None:
        with limited.database.read() as connection:
            connection.execute(text(ENDLESS)).all()

    monkeypatch.setattr(queries, "crosstable", endless)
    with served(store, statement_s=0.05) as address, grpc.insecure_channel(address) as channel:
        with pytest.raises(grpc.RpcError) as refused:
            leaderboard_pb2_grpc.LeaderboardStub(channel).GetCrosstable(pb.GetCrosstableRequest(), timeout=60)
        assert refused.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert refused.value.details() == "this question takes too long here - ask for less of it"
