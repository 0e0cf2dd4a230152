"""What a game may offer beside its rules: positions as boards of cells, which a page draws without knowing the game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from arena_engine.game import State

EMPTY = "."
"""A cell with nothing on it."""

NO_CELL = " "
"""A place of the grid that is no cell."""


@dataclass(frozen=True, slots=True)
class Look:
    """How the cells of one symbol look.

    Attributes:
        colour: ``"#rrggbb"``, light enough for dark letters.
        joined: whether neighbouring cells of this symbol are one piece.
    """

    colour: str
    joined: bool = True


@dataclass(frozen=True, slots=True)
class Board:
    """A grid of cells with a caption; one without cells is a caption alone.

    Attributes:
        cells: a symbol for each, row by row from the top left.
        width: cells in a row.
        seat: whose it is; empty where nobody's.
        columns: a name for each column; empty: none are shown. ``rows`` likewise.
        marks: what stands on cells, as cell and text: the tokens of seats, by their letters.
        scale: size of a cell beside that of the main board.
    """

    cells: str
    width: int
    title: str = ""
    note: str = ""
    seat: str = ""
    columns: str = ""
    rows: str = ""
    marks: tuple[tuple[int, str], ...] = ()
    scale: float = 1.0


@runtime_checkable
class Pictured(Protocol):
    """A game with pictures; one without is shown by its position texts."""

    looks: Mapping[str, Look]
    """Of every symbol but EMPTY and NO_CELL."""

    def picture(self, state: State) -> Sequence[Sequence[Board]]:
        """The position: rows of boards that stand side by side. A board keeps its place throughout a game."""
