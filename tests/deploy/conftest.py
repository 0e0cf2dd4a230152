"""Every test here leaves no process and no socket behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command import nothing_left


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with nothing_left(tmp_path, monkeypatch):
        yield
