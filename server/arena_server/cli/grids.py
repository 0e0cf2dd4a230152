"""Grids of text: a rich table on a terminal, aligned plain lines in a pipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena_server.text import clean

if TYPE_CHECKING:
    from rich.table import Table

_GAP = 2
_ENOUGH = 24  # characters of a long name that a narrow terminal shows on one line
_ENOUGH_CUT = 20  # and of a cell that is cut


@dataclass(frozen=True, slots=True)
class Column:
    """How one column looks.

    Attributes:
        title: its heading.
        left: aligned to the left and broken over lines where it must be, as words are; numbers never are.
        wraps: whether it may be broken before another column is given up.
        cut: whether it is cut to the room that others leave, instead of broken.
        spare: which columns a narrow terminal does without: the highest first, 0 never.
    """

    title: str
    left: bool = False
    wraps: bool = False
    cut: bool = False
    spare: int = 0

    @property
    def enough(self) -> int:
        """Characters of a long cell that a narrow terminal shows on one line."""
        return _ENOUGH_CUT if self.cut else _ENOUGH


class Grid:
    """Cells in columns; every cell is made harmless here (see ``text.clean``)."""

    def __init__(self, columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
        self.columns = tuple(columns)
        self.rows = [tuple(clean(cell) for cell in row) for row in rows]

    def lines(self) -> list[str]:
        """Plain text, as wide as it needs to be, without trailing spaces."""
        cells = [tuple(column.title for column in self.columns), *self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return [self._line(row, widths) for row in cells]

    def table(self, width: int | None = None) -> Table:
        """A rich table; for a given width in characters without the columns that do not fit."""
        if width is not None and (fewer := self._fitting(width)) is not self:
            return fewer.table(width)
        from rich.table import Table

        room = 0 if width is None else width
        fits = self._least_width() <= room
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
        for column, cells in self._columns():
            is_short = not column.wraps and max(map(len, cells)) <= column.enough
            table.add_column(
                column.title,
                justify="left" if column.left else "right",
                no_wrap=not column.left or (fits and is_short),
                overflow="fold",
                max_width=max(column.enough, room - self._rest) if column.cut else None,
            )
        _add_rows(table, self)
        return table

    def fitted(self, width: int) -> Grid:
        """This grid without the columns that do not fit a width in characters, and with long names cut."""
        grid = self._fitting(width)
        names = [column.left and not column.wraps for column in grid.columns]
        return Grid(
            grid.columns,
            [[_cut(cell) if name else cell for name, cell in zip(names, row, strict=True)] for row in grid.rows],
        )

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        cells = [
            cell.ljust(width) if column.left else cell.rjust(width)
            for cell, width, column in zip(row, widths, self.columns, strict=True)
        ]
        return (" " * _GAP).join(cells).rstrip()

    def _fitting(self, width: int) -> Grid:
        """This grid without its most spare columns, as far as that is needed."""
        spare = max(column.spare for column in self.columns)
        if not spare or self._least_width() <= width:
            return self
        kept = [place for place, column in enumerate(self.columns) if column.spare != spare]
        fewer = Grid([self.columns[place] for place in kept], [[row[place] for place in kept] for row in self.rows])
        return fewer._fitting(width)

    def _columns(self) -> Iterator[tuple[Column, Sequence[str]]]:
        """Each with its title and cells."""
        cells = zip(*[tuple(column.title for column in self.columns), *self.rows], strict=True)
        return zip(self.columns, cells, strict=True)

    @property
    def _rest(self) -> int:
        """The width of everything but the cell that is cut."""
        widths = [0 if column.cut else max(map(len, cells)) for column, cells in self._columns()]
        return sum(widths) + _GAP * (len(widths) - 1)

    def _least_width(self) -> int:
        """Of the table while it reads well."""
        widths = [
            max(_longest_word(cell) if column.wraps else min(len(cell), column.enough) for cell in cells)
            for column, cells in self._columns()
        ]
        return sum(widths) + _GAP * (len(widths) - 1)


def _cut(cell: str) -> str:
    return cell if len(cell) <= _ENOUGH else f"{cell[: _ENOUGH - 1]}…"


def _longest_word(cell: str) -> int:
    return max(map(len, cell.split()), default=0)


def _add_rows(table: Table, grid: Grid) -> None:
    from rich.text import Text

    for row in grid.rows:
        table.add_row(
            *[
                Text(cell, no_wrap=column.cut or None, overflow="ellipsis" if column.cut else None)  # never markup
                for column, cell in zip(grid.columns, row, strict=True)
            ]
        )
