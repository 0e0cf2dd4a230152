"""Journal entries: what came later leaves old entries as they are, to the byte."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tournaments import begin, patchwork_spec

from arena_server.model import BlackBox, Result
from arena_server.store import Store, journal
from arena_server.store.journal import Entry

BOX = BlackBox(
    limit_us=100_000,
    margin_us=50_000,
    own_us=98_000,
    late_us=151_000,
    stolen_us=10_000,
    cpu_us=12,
    exit="killed by SIGSEGV",
    stderr="no\x1b[2J\n",
    messages=("one", "two"),
    bot="greedy",
)


@pytest.fixture
def lost(store: Store) -> Result:
    playing = begin(store, patchwork_spec())
    return playing.forfeit(playing.assignments()[0])


def reread(result: Result) -> Result:
    data = journal.encode(Entry(result, 1, "c" * 64))
    read = journal.decode(data, result.assignment.spec)
    assert journal.encode(read) == data
    return read.result


def test_an_entry_of_the_first_version_keeps_its_bytes(lost: Result) -> None:
    entry = json.loads(journal.encode(Entry(lost, 1, "c" * 64)))
    assert all(len(move) == 7 for move in entry["moves"])
    assert len(entry["failures"][0]) == 9
    assert reread(lost).failures[0].box is None


def test_what_came_later_is_kept(lost: Result) -> None:
    first, *rest = lost.moves
    fuller = replace(
        lost, moves=(first._replace(stolen_us=20_000), *rest), failures=(replace(lost.failures[0], box=BOX),)
    )
    read = reread(fuller)
    assert read.moves == fuller.moves
    assert read.failures == fuller.failures


def test_an_empty_box_is_a_box(lost: Result) -> None:
    assert reread(replace(lost, failures=(replace(lost.failures[0], box=BlackBox()),))).failures[0].box == BlackBox()


def test_a_key_of_a_later_version_is_no_entry_of_this_one(lost: Result) -> None:
    entry = json.loads(journal.encode(Entry(lost, 1, "c" * 64)))
    entry["moves"][0].append({"unheard_of": 1})
    with pytest.raises(ValueError, match="no journal entry"):
        journal.decode(json.dumps(entry).encode(), lost.assignment.spec)
