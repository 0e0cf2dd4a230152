"""The log of a server, with readers of every kind at a real pipe."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator

import pytest

from arena_server.service import log
from arena_server.service.log import MAX_WAITING, Log


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reads, writes = os.pipe()
    yield reads, writes
    os.close(writes)


def test_all_that_is_told_is_there_once_it_is_closed(pipe: tuple[int, int]) -> None:
    reads, writes = pipe
    told = Log(writes)
    for number in range(100):
        told.tell("game", number=number)
    told.close()
    lines = [json.loads(line) for line in os.read(reads, 1 << 16).splitlines()]
    assert [(line["event"], line["number"]) for line in lines] == [("game", number) for number in range(100)]
    os.close(reads)


def test_who_reads_nothing_holds_up_nobody(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "CLOSE_S", 0.1)
    reads, writes = pipe
    told = Log(writes)
    for number in range(3 * MAX_WAITING):
        told.tell("game", number=number)
    told.close()  # all of it would wait for ever
    os.close(reads)


def test_who_begins_to_read_hears_what_is_lost(pipe: tuple[int, int]) -> None:
    reads, writes = pipe
    told = Log(writes)
    for number in range(3 * MAX_WAITING):
        told.tell("game", number=number)
    lines = list[bytes]()
    with os.fdopen(reads, "rb") as reader:
        while len(lines) < MAX_WAITING:
            lines.append(reader.readline())
        told.tell("last")
        while b"last" not in lines[-1]:
            lines.append(reader.readline())
    told.close()
    lost = sum(json.loads(line).get("lost", 0) for line in lines)
    assert (lost > MAX_WAITING, len(lines) - 1 + lost) == (True, 3 * MAX_WAITING)


def test_who_reads_no_more_ends_nothing(pipe: tuple[int, int]) -> None:
    reads, writes = pipe
    told = Log(writes)
    told.tell("game")
    os.close(reads)
    for _ in range(10):
        told.tell("game")
        time.sleep(0.01)
    told.close()
