"""Columns of the files for programs: each has a name, a type, a meaning, and where its value comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Value = str | int | float | bool | None
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column.

    Attributes:
        kind: type of its values; any of them may be None, an empty cell.
        meaning: as docs/report.md has it.
    """

    name: str
    kind: type[str | int | float | bool]
    meaning: str
    value: Callable[[Row], Value]


@dataclass(frozen=True, slots=True)
class Table:
    """Values in columns: names, types, rows."""

    names: tuple[str, ...]
    kinds: tuple[type, ...]
    rows: list[tuple[Value, ...]]
