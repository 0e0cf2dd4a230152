"""Databases with played games, and the command in this process."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from here import Arena
from sample_store import play_nightly, play_tiny

from arena_server.store import Store


@pytest.fixture
def arena(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, played: Path) -> Arena:
    """With a database of its own: `tiny`, finished, then `nightly`, with two games still to play."""
    database = tmp_path / "arena.db"
    shutil.copy(played, database)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ARENA_DB", raising=False)
    monkeypatch.delenv("ARENA_DEBUG", raising=False)
    return Arena(capsys, database)


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "arena.db"
    with Store.open(str(path)) as store:
        play_tiny(store)
        play_nightly(store)
    return path
