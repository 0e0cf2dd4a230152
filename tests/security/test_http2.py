"""Attack 10: what can be done to a server below its calls. Bots that play meanwhile do not notice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

import grpc
import pytest
from field import Field
from http2 import (
    NO_WINDOW,
    PREFACE,
    Peer,
    block,
    continuation,
    crowd,
    data,
    frame,
    headers,
    message,
    reset,
)
from hyperframe.frame import Frame, PingFrame, SettingsFrame

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc
from arena_server.wire.options import MAX_CONNECTIONS

LIST = "/arena.v1.Leaderboard/ListGames"
BOARD = "/arena.v1.Leaderboard/GetLeaderboard"
WATCH = "/arena.v1.Leaderboard/WatchGames"
PLAY = "/arena.v1.Referee/Play"
BURST = 100
"""Frames of one write."""
SLOW = 20
"""Connections of each kind that wait."""

Attack = Callable[[Field, threading.Event], None]


def again(field: Field, stop: threading.Event, once: Callable[[Peer], bool], *beginning: Frame) -> None:
    """Does it over and over on one connection; on a new one whenever the server has had enough."""
    while not stop.is_set():
        with Peer(field.address) as peer:
            peer.send(*beginning)
            while not stop.is_set() and not peer.ended and once(peer):
                peer.drain()


def rapid_reset(field: Field, stop: threading.Event) -> None:
    """Calls that are cancelled as soon as they are made."""
    content, ids = block(BOARD), dict[Peer, Iterator[int]]()

    def once(peer: Peer) -> bool:
        calls = [next(ids.setdefault(peer, count(1, 2))) for _ in range(BURST)]
        return peer.send(*[part for call in calls for part in (headers(call, content), reset(call))])

    again(field, stop, once)


def ping_flood(field: Field, stop: threading.Event) -> None:
    again(field, stop, lambda peer: peer.send(*[PingFrame(0, b"12345678")] * BURST))


def settings_flood(field: Field, stop: threading.Event) -> None:
    changed = SettingsFrame(0, {SettingsFrame.INITIAL_WINDOW_SIZE: 1 << 20, SettingsFrame.HEADER_TABLE_SIZE: 4096})
    again(field, stop, lambda peer: peer.send(*[changed, SettingsFrame(0)] * BURST))


def continuation_flood(field: Field, stop: threading.Event) -> None:
    """Headers that never end."""
    more = block(BOARD, [("x-more", "y" * 4_000)])
    flood = [continuation(1, b"")] * BURST + [continuation(1, more)] * 10
    again(field, stop, lambda peer: peer.send(*flood), headers(1, block(BOARD), "END_STREAM"))


def huge_lengths(field: Field, stop: threading.Event) -> None:
    """Messages and frames that claim to be as long as can be."""
    while not stop.is_set():
        with Peer(field.address) as peer:
            for call, path in enumerate((BOARD, LIST, PLAY)):
                claim = message(b"x" * 1_000, claimed=2**32 - 1)
                peer.send(headers(2 * call + 1, block(path)), data(2 * call + 1, claim, last=False))
            peer.drain()
        for kind in (0, 1, 4, 6, 9):
            with Peer(field.address) as peer:
                peer.send(frame(kind, 2**24 - 1, stream=1), b"x" * 1_000)
                peer.drain()


def metadata_bombs(field: Field, stop: threading.Event) -> None:
    """Long headers, many headers, and one long header that is named again and again.

    Ten of each a second: before a client has acknowledged SETTINGS gRPC takes 16 MiB of them, and hands them to Python.
    """
    long = block(BOARD, [("x-long", "y" * 60_000)])
    many = block(BOARD, [(f"x-{number}", "") for number in range(3_000)])
    table = b"\x40\x03x-y\x7f\xa1\x1e" + b"z" * 4_000  # into the table that HPACK keeps, then named by one byte a time
    named = block(BOARD) + table + b"\xbe" * 8_000
    while not stop.wait(0.1):
        with Peer(field.address) as peer:
            for call, content in enumerate((long, many, named)):
                pieces = [content[at : at + 16_000] for at in range(0, len(content), 16_000)]
                peer.send(
                    headers(2 * call + 1, pieces[0], "END_STREAM"),
                    *[continuation(2 * call + 1, piece) for piece in pieces[1:]],
                    continuation(2 * call + 1, b"", "END_HEADERS"),
                )
            peer.drain()


def wrong_tokens(field: Field, stop: threading.Event) -> None:
    """Streams of bots that nobody knows."""
    number = count()
    while not stop.is_set():
        with Peer(field.address) as peer:
            for call in range(1, 200, 2):
                peer.send(headers(call, block(PLAY, token=f"arena_{next(number)}")))
                peer.drain()
                if peer.ended or stop.is_set():
                    break


def silence(field: Field, stop: threading.Event) -> None:
    """Connections that stop in the middle: before the greeting, within it, within headers, within a message."""
    half = headers(1, block(BOARD), "END_HEADERS").serialize()
    beginnings: tuple[tuple[bytes, ...], ...] = (
        (),
        (PREFACE[:10],),
        (PREFACE, frame(4, 6)),
        (PREFACE, SettingsFrame(0).serialize(), half[: len(half) // 2]),
        (PREFACE, SettingsFrame(0).serialize(), half, data(1, message(b"x" * 100)).serialize()[:20]),
    )
    with crowd(field.address, SLOW * len(beginnings), settings=None) as peers:
        for number, peer in enumerate(peers):
            peer.send(*beginnings[number % len(beginnings)])
        while not stop.wait(0.5):  # a byte now and then
            for peer in peers[len(peers) // 2 :]:
                if not peer.ended:
                    peer.send(b"\0")


def slow_readers(field: Field, stop: threading.Event) -> None:
    """Everything is asked, nothing is taken; pings are answered."""
    with crowd(field.address, SLOW, NO_WINDOW) as peers:
        for peer in peers:
            calls = [(LIST, 2), (BOARD, 2), (WATCH, 2), ("/grpc.health.v1.Health/Watch", 2)]
            paths = [path for path, times in calls for _ in range(times)]
            for stream, path in zip(range(1, 99, 2), paths, strict=False):
                peer.send(headers(stream, block(path)), data(stream, message(b"")))
        while not stop.is_set():
            for peer in peers:
                for _ in peer.polite(0.005):
                    pass


def crowding(field: Field, stop: threading.Event) -> None:
    """More connections than the server takes, none of which asks anything."""
    with crowd(field.address, MAX_CONNECTIONS + 500):
        stop.wait()


ATTACKS: tuple[Attack, ...] = (
    rapid_reset,
    ping_flood,
    settings_flood,
    continuation_flood,
    huge_lengths,
    metadata_bombs,
    wrong_tokens,
    silence,
    slow_readers,
    crowding,
)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_a_flood_disturbs_nobody(field: Field, attack: Attack) -> None:
    field.undisturbed(partial(attack, field))


def test_who_dials_after_all_that_is_served(field: Field) -> None:
    with grpc.insecure_channel(field.address) as channel:
        stub = leaderboard_pb2_grpc.LeaderboardStub(channel)
        assert stub.GetLeaderboard(pb.GetLeaderboardRequest(), timeout=20).standings
    assert field.process.num_fds() < 200
