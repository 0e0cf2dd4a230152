"""A quilt is one 81-bit integer: bit ``9 * row + column`` is set where a cell is covered, row 0 at the top."""

from __future__ import annotations

SIDE = 9
CELLS = SIDE * SIDE
FULL = (1 << CELLS) - 1

SQUARES = tuple(f"{column}{row}" for row in "123456789" for column in "abcdefghi")
"""The name of each cell: ``a1`` is the top-left one, ``i1`` the top-right one."""

CELL_OF = {square: cell for cell, square in enumerate(SQUARES)}

SEVEN = 7
_BLOCK = sum(((1 << SEVEN) - 1) << SIDE * row for row in range(SEVEN))
_WINDOWS = tuple(_BLOCK << SIDE * row + column for row in range(3) for column in range(3))
_FLAGS = bytes.maketrans(b"01", b"\0\1")


def has_seven(quilt: int) -> bool:
    """Whether some 7x7 window is fully covered."""
    return quilt.bit_count() >= SEVEN * SEVEN and any(quilt & window == window for window in _WINDOWS)


def flags(mask: int) -> bytes:
    """The bits of a mask as bytes 0 and 1, lowest first: selectors for ``itertools.compress``."""
    return f"{mask:b}"[::-1].encode().translate(_FLAGS)


def squares(mask: int) -> tuple[str, ...]:
    """The names of a mask's cells, row by row from the top."""
    return tuple(square for cell, square in enumerate(SQUARES) if mask >> cell & 1)


def rows(mask: int) -> list[str]:
    """A mask as nine texts of ``#`` and ``.``, for people."""
    dots = "".join(".#"[flag] for flag in flags(mask)).ljust(CELLS, ".")
    return [dots[start : start + SIDE] for start in range(0, CELLS, SIDE)]
