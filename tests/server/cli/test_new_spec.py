"""`arena run-tournament --init`."""

from __future__ import annotations

from pathlib import Path

import pytest
from here import Arena

from arena_server.coordinator import spec_file, spec_schema
from arena_server.coordinator.event import Event
from arena_server.coordinator.settings import Settings


def test_it_writes_what_can_be_played_and_says_what_next(arena: Arena, tmp_path: Path) -> None:
    done = arena("run-tournament", "--init")
    assert done.code == 0
    assert "wrote spec.toml" in done.out
    assert "run-tournament spec.toml --dry-run" in done.out
    assert str(spec_schema.PATH) in done.out
    assert Event.of(spec_file.read(tmp_path / "spec.toml")).spec == Event.of(Settings()).spec
    assert arena("run-tournament", "spec.toml", "--dry-run").code == 0


def test_json(arena: Arena) -> None:
    assert arena("run-tournament", "my cup.toml", "--init", "--json").json == {
        "path": "my cup.toml",
        "schema": str(spec_schema.PATH),
    }


BAD = {
    "there.toml": "there is a file already: there.toml",
    "folder.toml": "there is a file already: folder.toml",
    "no/where.toml": "cannot write there (No such file or directory): no/where.toml",
    "there.toml/x.toml": "cannot write there (Not a directory): there.toml/x.toml",
    "greedy mcts": "--init takes no bots: greedy mcts",
    "a.toml b.toml": "--init writes one file: a.toml b.toml",
    "a.toml --games 4 --format swiss": "--init takes no settings: --format, --games",
}


@pytest.mark.parametrize("arguments", BAD)
def test_what_cannot_be_is_told_and_nothing_is_written(arena: Arena, tmp_path: Path, arguments: str) -> None:
    (tmp_path / "there.toml").write_text("mine")
    (tmp_path / "folder.toml").mkdir()
    before = sorted(tmp_path.iterdir())
    done = arena("run-tournament", "--init", *arguments.split())
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert BAD[arguments] in done.err
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "there.toml").read_text() == "mine"
