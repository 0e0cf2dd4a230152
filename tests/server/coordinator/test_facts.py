"""What is stored of a run."""

from __future__ import annotations

import json

import pytest

from arena_engine.game import find
from arena_server.coordinator.facts import facts


@pytest.mark.parametrize(
    ("word", "stored"),
    [
        ("--db=postgresql://me:secret@host/arena", "--db=postgresql://me:***@host/arena"),
        ("postgresql://me@host/arena", "postgresql://me@host/arena"),
        ("postgresql://:secret@/arena", "postgresql://:***@/arena"),
        ("postgresql://me@/arena?password=secret&host=db", "postgresql://me@/arena?password=***&host=db"),
        ("postgresql:///arena?user=me&sslpassword=secret", "postgresql:///arena?user=me&sslpassword=***"),
        ("mcts:c=1.4", "mcts:c=1.4"),
    ],
)
def test_passwords_are_not_stored(word: str, stored: str) -> None:
    assert facts(find("tiny"), ["arena", word], {})["command"] == ["arena", stored]


@pytest.mark.parametrize("game", ["patchwork", "tiny"])
def test_versions_and_machine(game: str) -> None:
    told = facts(find(game), ["arena", "x"], {"concurrency": 2})
    assert json.loads(json.dumps(told)) == told
    assert (told["concurrency"], told["command"]) == (2, ["arena", "x"])
    assert told["versions"]["python"].startswith("3.")
    assert told["versions"]["engine"]
    assert told["machine"]["cores"] >= 1
    assert told["machine"]["memory_mb"] > 0
