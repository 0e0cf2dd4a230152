"""Every test here leaves no process and no socket behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command import nothing_left
from kills import Subject, the_command
from striking import Striker


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with nothing_left(tmp_path, monkeypatch):
        yield


@pytest.fixture(scope="session")
def striker() -> Iterator[Striker]:
    with Striker() as striker:
        yield striker


@pytest.fixture
def paper(striker: Striker, tmp_path: Path) -> Subject:
    """A tournament on paper: the store alone."""
    return Subject(striker, tmp_path, program="paper_tournament")


@pytest.fixture
def command(striker: Striker, tmp_path: Path) -> Subject:
    """`arena run-tournament`."""
    return the_command(striker, tmp_path)
