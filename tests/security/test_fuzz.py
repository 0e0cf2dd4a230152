"""Attack 12: requests made from the descriptors, most of them nonsense. All are answered, and nothing is disturbed.

`make fuzz-wire` goes on for a minute. What fails names its seed, from which it can be made again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, cycle
from queue import SimpleQueue
from random import Random
from typing import Any

import grpc
from field import Field
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from hostile import Hostile, methods
from rival import HELLO

from arena.v1 import referee_pb2 as pb

SECONDS = float(os.environ.get("ARENA_FUZZ_SECONDS", "2.5"))
SEED = int(os.environ.get("ARENA_FUZZ_SEED", "0"))
ANSWERS = {
    grpc.StatusCode.OK,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}
REFUSALS = ANSWERS | {grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.CANCELLED}
ORGANISER = "arena.v1.Administration"
HARMFUL = {"StopServer", "FreezeSeason", "CloseSeason", "ArchiveSeason"}
"""Methods that do what they should."""
PLACES = ["season", "season/1", "1", "last", "0x1.9p+4,0x1.0p+3,0"]
WORDS = [*PLACES, "ada", "ada 1", "random", "bob"]
PLAY = "/arena.v1.Referee/Play"


def questions(service: Callable[[str], bool]) -> list[MethodDescriptor]:
    found = [one for one in methods() if service(one.containing_service.full_name) and not one.client_streaming]
    assert found
    return [one for one in found if one.name not in HARMFUL]


def ask(channel: grpc.Channel, method: MethodDescriptor, content: bytes) -> grpc.StatusCode:
    """What becomes of a request, whatever it is."""
    path = f"/{method.containing_service.full_name}/{method.name}"
    try:
        if method.server_streaming:
            call: Any = channel.unary_stream(path)
            next(iter(call(content, timeout=0.1)), None)
        else:
            call = channel.unary_unary(path)
            call(content, timeout=20)
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def fuzz(address: str, asked: list[MethodDescriptor], words: list[str], stop: threading.Event) -> None:
    with grpc.insecure_channel(address) as channel:
        for seed in count(SEED):
            method = asked[seed % len(asked)]
            content = Hostile(seed, words).request(method.input_type)
            status = ask(channel, method, content)
            assert status in ANSWERS, f"seed {seed}: {method.full_name} is answered {status}: {content[:200]!r}"
            if stop.is_set():
                return


class Fuzzer:
    """A bot of which most words are made up; now and then it says Hello, Ready, and a legal move."""

    def __init__(self, address: str, seed: int) -> None:
        self._address = address
        self._seed = seed
        self._dice = Random(seed)
        self._hostile = Hostile(seed, [*WORDS, ">"])

    def run(self, tokens: list[str], stop: threading.Event) -> None:
        with grpc.insecure_channel(self._address) as channel:
            for token in cycle(tokens):
                status = self._dial(channel, token)
                assert status in REFUSALS, f"seed {self._seed}: a stream ended with {status}"
                if stop.is_set():
                    return

    def _dial(self, channel: grpc.Channel, token: str) -> grpc.StatusCode:
        said = SimpleQueue[bytes | None]()
        said.put(self._word(pb.PlayRequest(hello=HELLO), 0.9))
        metadata, patience = (("authorization", f"Bearer {token}"),), self._dice.choice((0.2, 1.0, 3.0))
        play: Any = channel.stream_stream(PLAY)
        call = play(iter(said.get, None), metadata=metadata, timeout=patience)
        try:
            for content in call:
                for word in self._answers(pb.PlayResponse.FromString(content)):
                    said.put(word)
        except grpc.RpcError:
            pass
        finally:
            said.put(None)
        status: grpc.StatusCode = call.code()
        return status

    def _answers(self, heard: pb.PlayResponse) -> Iterator[bytes]:
        for _ in range(self._dice.randrange(3)):
            yield self._word(pb.PlayRequest(), 0.02)
        if heard.HasField("game_started"):
            handle = heard.game_started.handle
            self._hostile.words.append(handle)
            yield self._word(pb.PlayRequest(ready=pb.Ready(handle=handle)), 0.9)
        if heard.HasField("move_request"):
            asked = heard.move_request
            move = pb.Move(handle=asked.handle, ply=asked.ply, move=asked.legal_moves[0])
            yield self._word(pb.PlayRequest(move=move), 0.9)

    def _word(self, sense: pb.PlayRequest, how_often: float) -> bytes:
        if self._dice.random() < how_often:
            return sense.SerializeToString()
        return self._hostile.request(pb.PlayRequest.DESCRIPTOR)


def test_whatever_is_asked_is_answered(field: Field) -> None:
    asked = questions(lambda service: service != ORGANISER)
    field.undisturbed(partial(fuzz, field.address, asked, WORDS), SECONDS)
    with grpc.insecure_channel(field.address) as channel:
        for one in methods():
            if one.containing_service.full_name == ORGANISER:
                assert ask(channel, one, b"") is grpc.StatusCode.UNIMPLEMENTED  # not here


def test_whatever_the_organiser_s_clients_ask_is_answered(field: Field) -> None:
    asked = questions(lambda _: True)
    # Names of bots that play here are left out: an organiser may retire them.
    field.undisturbed(partial(fuzz, field.socket, asked, PLACES), SECONDS)


def test_whatever_bots_say_disturbs_nobody_else(field: Field) -> None:
    tokens = [field.token(f"fuzz{number}") for number in range(8)]
    field.undisturbed(partial(Fuzzer(field.address, SEED).run, tokens), SECONDS)


def test_requests_are_the_same_for_the_same_seed() -> None:
    made = [[Hostile(seed, WORDS).request(one.input_type) for one in methods()] for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]


def test_requests_are_messages_and_nonsense() -> None:
    kinds, read = GetMessageClass(pb.PlayRequest.DESCRIPTOR), [0, 0]
    for seed in range(300):
        try:
            kinds.FromString(Hostile(seed).request(pb.PlayRequest.DESCRIPTOR))
        except DecodeError:
            read[0] += 1
        else:
            read[1] += 1
    assert min(read) > 30
