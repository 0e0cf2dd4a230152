"""Both kinds of database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena_server.store import Store


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    return str(tmp_path / "arena.db")


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """Both kinds of database in turn."""
    found: str = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def store(sqlite: str) -> Iterator[Store]:
    with Store.open(sqlite) as opened:
        yield opened
