"""One standing server for all attacks, with well-behaved bots that play beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command import nothing_left
from field import Field


@pytest.fixture(scope="package")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    folder: Path = tmp_path_factory.mktemp("field")
    with pytest.MonkeyPatch.context() as patch, nothing_left(folder, patch):
        opened = Field(folder)
        try:
            yield opened
        finally:
            opened.close()
