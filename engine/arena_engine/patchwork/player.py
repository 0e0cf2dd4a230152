"""One player's half of a position."""

from __future__ import annotations

from typing import NamedTuple

from arena_engine.patchwork.quilt import CELLS


class Player(NamedTuple):
    """What one player has.

    Attributes:
        quilt: mask of the covered cells.
        letters: what covers each cell, an integer of 81 bytes, cell 0 lowest: a patch's letter, ``*``, or 0 for empty.
        buttons: in hand.
        time: the token's space, 0..53.
        income: buttons for each income symbol crossed.
    """

    quilt: int = 0
    letters: int = 0
    buttons: int = 5
    time: int = 0
    income: int = 0

    @property
    def empty(self) -> int:
        """How many cells are empty."""
        return CELLS - self.quilt.bit_count()
