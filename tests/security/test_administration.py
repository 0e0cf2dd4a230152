"""Who may administer a server, and what hostile texts do there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from serving import StandIn, administered

from arena.v1 import administration_pb2 as pb
from arena.v1 import administration_pb2_grpc
from arena_server.model import UserError
from arena_server.service.administration.office import Office
from arena_server.store import Store

HOSTILE = ["", "'; DROP TABLE bot; --", "../../etc/passwd", "\x00", "\x1b[2J", "\u202eevil", "a" * 60_000, "ß" * 20_000]


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = tmp_path_factory.mktemp("administered") / "arena.db"
    with Store.open(str(path)) as store, administered(store) as address, grpc.insecure_channel(address) as channel:
        yield administration_pb2_grpc.AdministrationStub(channel)


@pytest.mark.parametrize("word", HOSTILE, ids=lambda word: repr(word[:20]))
def test_hostile_texts_are_refused_with_words(stub: Any, word: str) -> None:
    for method, request in (
        ("AddBot", pb.AddBotRequest(bot=word, version="1", owner="team")),
        ("AddBot", pb.AddBotRequest(bot="ada", version=word, owner="team")),
        ("AddBot", pb.AddBotRequest(bot="ada", version="1", owner=word)),
        ("RetireBot", pb.RetireBotRequest(bot=word)),
        ("NewToken", pb.NewTokenRequest(bot=word)),
        ("Challenge", pb.ChallengeRequest(bots=[word, "ada"], games=2)),
        ("SetOpen", pb.SetOpenRequest(bot=word)),
        ("RevokeTokens", pb.RevokeTokensRequest(bot=word)),
    ):
        with pytest.raises(grpc.RpcError) as refused:
            getattr(stub, method)(request, timeout=60)
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT, (method, refused.value)
        assert 0 < len(refused.value.details() or "") < 1000
    assert not stub.ListBots(pb.ListBotsRequest(), timeout=60).bots


def test_the_socket_is_of_this_user_alone(tmp_path: Path) -> None:
    async def opened(store: Store) -> int:
        office = Office(tmp_path / "socket")
        office.bind()
        await office.open(store, StandIn(), StandIn())
        try:
            return (tmp_path / "socket").stat().st_mode & 0o777
        finally:
            await office.close()

    with Store.open(str(tmp_path / "arena.db")) as store:
        assert asyncio.run(opened(store)) == 0o700
        tmp_path.chmod(0o777)
        with pytest.raises(UserError, match="everybody could replace a socket in this folder"):
            asyncio.run(opened(store))
        tmp_path.chmod(0o1777)
        assert asyncio.run(opened(store)) == 0o700
    assert not (tmp_path / "socket").exists()
