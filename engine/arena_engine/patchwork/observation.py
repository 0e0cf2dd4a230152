"""What a learner sees of a position: one row of bytes, from one seat's side.

Every value is a whole number from 0 to 255, unscaled. The row is the parts of ``PARTS``, one behind the other, each in
row-major order. "Mine" is the seat that looks, by default the seat to move; "theirs" is the other one.

========  =========  ===================================================================================================
part      shape      values
========  =========  ===================================================================================================
quilts    (2, 9, 9)  1 where covered: ``[0]`` mine, ``[1]`` theirs; then row from the top, column from the left
offered   (3, 9, 9)  the printed faces of the patches for sale in the top-left corner, 1 where a cell is; 0 where none
circle    (33, 5)    the patches left from the neutral token on, each its number (``A`` is 1, ``g`` is 33), cost, time,
                     income and count of cells; 0 behind the last one
players   (2, 5)     ``[0]`` mine, ``[1]`` theirs: buttons (255 stands for more, too), time, income, empty cells, and
                     1 for the owner of the 7x7 tile
turn      (3,)       1 if I am to move, 1 if leather must be placed now, 1 for the revised edition
========  =========  ===================================================================================================

The whole position is in it, but for which patch lies where on the quilts, which no rule asks about. In a finished game
nobody is to move; who was home first no longer shows.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from arena_engine.patchwork.notation import SEATS
from arena_engine.patchwork.patches import LETTERS, PATCHES, Patch
from arena_engine.patchwork.player import Player
from arena_engine.patchwork.quilt import CELLS, SIDE, flags
from arena_engine.patchwork.state import OFFERED, State
from arena_engine.patchwork.track import EDITIONS

MOST = 255
"""The highest value of a byte."""


class Part(NamedTuple):
    """One tensor of the row.

    Attributes:
        shape: its dimensions; values are in row-major order.
        start: the byte of the row at which it begins.
    """

    name: str
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        """Its length in bytes."""
        return prod(self.shape)


def _parts(shapes: dict[str, tuple[int, ...]]) -> dict[str, Part]:
    parts, start = {}, 0
    for name, shape in shapes.items():
        parts[name] = Part(name, shape, start)
        start += parts[name].size
    return parts


PARTS = _parts(
    {
        "quilts": (len(SEATS), SIDE, SIDE),
        "offered": (OFFERED, SIDE, SIDE),
        "circle": (len(LETTERS), 5),
        "players": (len(SEATS), 5),
        "turn": (3,),
    }
)
"""The parts by name, in the order of the row."""

SIZE = sum(part.size for part in PARTS.values())
"""Bytes of a row."""


def _face(patch: Patch) -> bytes:
    """The 81 cells of a printed face in the top-left corner."""
    return flags(sum(1 << offset for offset in patch.orientations[0].offsets)).ljust(CELLS, b"\0")


def _entry(number: int, patch: Patch) -> bytes:
    return bytes((number, patch.cost, patch.time, patch.income, len(patch.orientations[0].offsets)))


FACES = {letter: _face(patch) for letter, patch in PATCHES.items()}
"""For each patch its plane of ``offered``."""

ENTRIES = {letter: _entry(number, patch) for number, (letter, patch) in enumerate(PATCHES.items(), 1)}
"""For each patch its row of ``circle``."""


def observe(state: State, seat: str | None = None) -> bytes:
    """A position as ``SIZE`` bytes; the reference for every quicker way to the same.

    Args:
        state: the position.
        seat: who looks; None for the seat to move, in a finished game for the seat that arrived last.

    Raises:
        GameError: no such seat.
    """
    seat = seat or (state.to_move[0] if state.to_move else SEATS[state.first_home == "a"])
    mine, theirs = state.player(seat), state.player(SEATS[seat == "a"])
    return b"".join(
        (
            flags(mine.quilt).ljust(CELLS, b"\0"),
            flags(theirs.quilt).ljust(CELLS, b"\0"),
            b"".join([FACES[letter] for letter in state.offered]).ljust(PARTS["offered"].size, b"\0"),
            b"".join([ENTRIES[letter] for letter in state.circle]).ljust(PARTS["circle"].size, b"\0"),
            _purse(mine, owns=state.bonus == seat),
            _purse(theirs, owns=state.bonus not in {None, seat}),
            bytes((seat in state.to_move, state.leather_due, state.edition != EDITIONS[0])),
        )
    )


def _purse(player: Player, *, owns: bool) -> bytes:
    return bytes((min(player.buttons, MOST), player.time, player.income, player.empty, owns))
