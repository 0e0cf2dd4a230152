"""Every test here leaves no process and no socket behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command import nothing_left
from standing import Site


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with nothing_left(tmp_path, monkeypatch):
        yield


@pytest.fixture
def site(clean: None, tmp_path: Path) -> Iterator[Site]:  # noqa: ARG001 - it looks after the servers have ended
    """A folder for servers and joined bots, all of which are ended."""
    opened = Site(tmp_path)
    try:
        yield opened
    finally:
        opened.close()
