"""The 33 patches and every way each can be turned, from the package's data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pkgutil import get_data

from arena_engine.patchwork.quilt import SIDE


@dataclass(frozen=True, slots=True)
class Orientation:
    """One look of a patch.

    Attributes:
        number: 0..7 = 4 x mirrored + clockwise quarter turns; the lowest of those that look the same.
        rows: the look, ``#`` where covered.
        offsets: distances of its cells from the top-left corner of its bounding box, in cells.
        anchors: mask of the corners at which its bounding box lies inside the quilt.
    """

    number: int
    rows: tuple[str, ...]
    offsets: tuple[int, ...]
    anchors: int

    def fits(self, empty: int) -> int:
        """The mask of all anchors at which it covers only empty cells.

        Shifting the empty set by an offset marks every anchor whose cell at that offset is empty; ``anchors`` drops
        those that would wrap around the edge.
        """
        found = self.anchors
        for offset in self.offsets:
            found &= empty >> offset
        return found


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch as printed.

    Attributes:
        cost: in buttons.
        time: in spaces.
        income: in buttons for each income space.
        orientations: its distinct looks, by number.
        looks: the number of the orientation that each of the numbers 0..7 looks like.
    """

    letter: str
    cost: int
    time: int
    income: int
    orientations: tuple[Orientation, ...]
    looks: tuple[int, ...]


def _turns(rows: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The eight looks, by orientation number."""
    for face in (rows, tuple(row[::-1] for row in rows)):
        turned = face
        for _ in range(4):
            yield turned
            turned = tuple("".join(column) for column in zip(*turned[::-1], strict=True))


def _orientation(number: int, rows: tuple[str, ...]) -> Orientation:
    height, width = len(rows), len(rows[0])
    offsets = [SIDE * row + column for row in range(height) for column in range(width) if rows[row][column] == "#"]
    corners = [SIDE * row + column for row in range(SIDE + 1 - height) for column in range(SIDE + 1 - width)]
    return Orientation(number, rows, tuple(offsets), sum(1 << corner for corner in corners))


def _patch(letter: str, rows: tuple[str, ...], cost: int, time: int, income: int) -> Patch:
    turns = list(_turns(rows))
    looks = tuple(turns.index(look) for look in turns)
    orientations = tuple(_orientation(number, turns[number]) for number in sorted(set(looks)))
    return Patch(letter, cost, time, income, orientations, looks)


def _load() -> dict[str, Patch]:
    data = json.loads(get_data("arena_engine.patchwork", "data/patches.json") or b"")
    return {
        fact["letter"]: _patch(fact["letter"], tuple(fact["rows"]), fact["cost"], fact["time"], fact["income"])
        for fact in data["patches"]
    }


PATCHES = _load()
"""The patches by letter."""

LETTERS = "".join(PATCHES)
"""All patch letters in their canonical order, ``A`` to ``Z`` and ``a`` to ``g``."""
