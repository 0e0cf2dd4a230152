"""Attack 11: what a bot can say to play for another, twice, or after the end. It touches no game but its own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from itertools import pairwise

import grpc
import pytest
from field import Field
from http2 import NO_WINDOW, PREFIX, Peer, block, data, headers, message, messages, window
from hyperframe.frame import DataFrame
from rival import HELLO, Rival

from arena.v1 import referee_pb2 as pb
from arena.v1 import referee_pb2_grpc
from arena_engine.game import SEATS
from arena_server.wire.session import SEND_S

HUGE = 2**32 - 1


def move(handle: str, ply: int, text: str = ">") -> pb.PlayRequest:
    return pb.PlayRequest(move=pb.Move(handle=handle, ply=ply, move=text))


def foreign(of: list[Rival]) -> Iterator[str]:
    """Handles of other bots' games, and some that are of none."""
    yield from ("", "0" * 16, "../" * 20, "\u202e")
    for one in of:
        yield from one.handles[-2:]


def too_much(rivals: list[Rival], self: Rival, asked: pb.MoveRequest) -> Iterator[pb.PlayRequest]:
    """What was not asked, is another's, or is over."""
    for ply in {asked.ply + 1, max(0, asked.ply - 1), HUGE} - {asked.ply}:
        yield move(asked.handle, ply)
    for handle in foreign([one for one in rivals if one is not self]):
        yield move(handle, asked.ply, asked.legal_moves[-1])
        yield pb.PlayRequest(resign=pb.Resign(handle=handle))
        yield pb.PlayRequest(failure=pb.Failure(handle=handle, ply=asked.ply, traceback="no"))
    for handle in self.handles[:-1]:
        yield move(handle, asked.ply)
        yield pb.PlayRequest(resign=pb.Resign(handle=handle))
    yield pb.PlayRequest(ready=pb.Ready(handle=asked.handle))


def twice(_: Rival, asked: pb.MoveRequest) -> Iterator[pb.PlayRequest]:
    """Other answers to what is answered."""
    yield move(asked.handle, asked.ply, asked.legal_moves[-1])
    yield move(asked.handle, asked.ply, "no move at all")


def test_only_the_first_answer_to_what_was_asked_counts(field: Field) -> None:
    rivals: list[Rival] = []
    before = partial(too_much, rivals)
    rivals += [Rival(field.address, field.token(name), before, twice) for name in ("mallory", "trudy")]
    with rivals[0], rivals[1]:
        for one in rivals:
            one.wait_for(partial(lambda of: len(of.rated) >= 2, one), "two games")
        assert not any(one.goodbye or one.status for one in rivals)
    for one, name in zip(rivals, ("mallory", "trudy"), strict=True):
        for game, over in one.rated.items():
            assert over.ending == pb.ENDING_NORMAL, over
            result = field.result(game)
            seat = SEATS[[label.split()[0] for label in result.assignment.labels].index(name)]
            assert [played.move for played in result.moves if played.seat == seat] == one.answered[over.handle]
    field.look()


@pytest.mark.parametrize(
    ("message", "reason"), [(pb.PlayRequest(hello=HELLO), "a second Hello"), (pb.PlayRequest(), "an empty message")]
)
def test_what_makes_no_sense_loses_the_own_game(field: Field, message: pb.PlayRequest, reason: str) -> None:
    def before(_: Rival, asked: pb.MoveRequest) -> Iterator[pb.PlayRequest]:
        if asked.ply > 3:
            yield message

    with Rival(field.address, field.token(f"senseless{len(reason)}"), before) as one:
        one.wait_for(lambda: one.rated, "a game")
        name, over = next(iter(one.rated.items()))
    assert over.ending == pb.ENDING_PROTOCOL_ERROR
    assert field.result(name).failures[0].reason == reason
    field.look()


def test_a_token_that_is_used_twice_plays_one_game(field: Field) -> None:
    token = field.token("twin")
    with Rival(field.address, token) as first:
        first.wait_for(lambda: first.answered, "its first answer")
        with Rival(field.address, token) as second:
            second.wait_for(lambda: second.rated, "the end of a game")
            assert first.goodbye is not None
            assert first.goodbye.code == pb.GOODBYE_CODE_REPLACED
            assert all(over.ending == pb.ENDING_NORMAL for over in second.rated.values())
    field.look()


def leaving(field: Field, token: str) -> Peer:
    """A bot that asks to leave, takes Welcome, and grants no byte more."""
    peer = Peer(field.address, NO_WINDOW)
    said = [pb.PlayRequest(hello=HELLO), pb.PlayRequest(leave=pb.Leave())]
    parts = [data(1, message(one.SerializeToString()), last=False) for one in said]
    peer.send(headers(1, block("/arena.v1.Referee/Play", token=token)), *parts, window(1, PREFIX))
    prefix = content(peer)
    peer.send(window(1, int.from_bytes(prefix[1:], "big")))
    assert pb.PlayResponse.FromString(content(peer)).HasField("welcome")
    return peer


def content(peer: Peer) -> bytes:
    """Of the next frame of its call."""
    return next(one.data for one in peer.polite(SEND_S) if isinstance(one, DataFrame))


def longest_pause(field: Field, seconds: float) -> float:
    """The longest part of that time in which no game ended."""
    began = time.time()
    time.sleep(seconds)
    ends = [datetime.fromisoformat(game["at"]).timestamp() for game in field.server.events("game")]
    marks = [began, *(end for end in ends if end > began), time.time()]
    return max(after - before for before, after in pairwise(marks))


def test_games_go_on_while_bots_take_no_goodbye(field: Field) -> None:
    tokens = [field.token(f"leaver{number}") for number in range(4)]
    with ExitStack() as stack:
        peers = [stack.enter_context(leaving(field, token)) for token in tokens]
        assert longest_pause(field, SEND_S - 1) < SEND_S / 2
        for peer in peers:
            peer.send(window(1, 1 << 16))
            told = (pb.PlayResponse.FromString(one) for one in messages(peer.polite(SEND_S)))
            assert next(told).goodbye.code == pb.GOODBYE_CODE_DONE
    field.look()


def status(field: Field, metadata: list[tuple[str, str]], hello: pb.Hello = HELLO) -> grpc.StatusCode:
    with grpc.insecure_channel(field.address) as channel:
        call = referee_pb2_grpc.RefereeStub(channel).Play(iter([pb.PlayRequest(hello=hello)]), metadata=tuple(metadata))
        with pytest.raises(grpc.RpcError):
            list(call)
        found: grpc.StatusCode = call.code()
        return found


def test_nobody_comes_in_without_a_good_token_of_his_own(field: Field) -> None:
    good, gone = field.token("oscar"), field.token("peggy")
    field.revoke("peggy")
    for metadata in (
        [],
        [("authorization", "")],
        [("authorization", "Bearer ")],
        [("authorization", "Bearer arena_" + "x" * 43)],
        [("authorization", f"Bearer {good[:-1]}")],
        [("authorization", f"Bearer {good}x")],
        [("authorization", f"Basic {good}")],
        [("token", good)],
        [("authorization", f"Bearer {gone}")],
        [("authorization", "Bearer ' OR 1=1 --")],
    ):
        assert status(field, metadata) is grpc.StatusCode.UNAUTHENTICATED, metadata
    mine = [("authorization", f"Bearer {good}")]
    for said in (
        pb.Hello(bot="ada"),
        pb.Hello(version="2"),
        pb.Hello(bot="\x1b[2J" + "x" * 60_000),
        pb.Hello(version="../"),
    ):
        hello = pb.Hello()
        hello.CopyFrom(HELLO)
        hello.MergeFrom(said)
        assert status(field, mine, hello) is grpc.StatusCode.PERMISSION_DENIED
    field.look()
