"""The time track, from the package's data: a move from x to y crosses every symbol k with x < k <= y."""

from __future__ import annotations

import json
from pkgutil import get_data


def _passed(symbols: list[int], final: int) -> tuple[int, ...]:
    """For each space, how many symbols a token there has crossed."""
    return tuple(sum(symbol <= space for symbol in symbols) for space in range(final + 1))


_DATA = json.loads(get_data("arena_engine.patchwork", "data/track.json") or b"")

FINAL: int = _DATA["final"]
"""The last space."""

INCOME_SPACES: tuple[int, ...] = tuple(_DATA["income"])
LEATHER_SPACES: dict[str, tuple[int, ...]] = {edition: tuple(spaces) for edition, spaces in _DATA["leather"].items()}
"""Where the leather lies, by edition."""

EDITIONS = tuple(LEATHER_SPACES)
"""The known editions; the first is the default."""

INCOME_PASSED = _passed(_DATA["income"], FINAL)
"""For each space, the income symbols crossed on the way to it."""

LEATHER_PASSED = {edition: _passed(spaces, FINAL) for edition, spaces in _DATA["leather"].items()}
"""For each edition and space, the leather spaces up to it."""
