"""Tables as files: CSV (RFC 4180, UTF-8) that no spreadsheet takes for formulas, and Parquet."""

from __future__ import annotations

import csv
from importlib.util import find_spec
from pathlib import Path

from arena_server.model import UserError
from arena_server.report.columns import Table, Value

_ACTING = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
"""How a text begins that a spreadsheet may act on; an apostrophe is doubled, so that taking one away restores all."""


def write_csv(table: Table, path: Path) -> None:
    """Writes a header and the rows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(table.names)
        writer.writerows([[_cell(value) for value in row] for row in table.rows])


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value.startswith(_ACTING):
        return f"'{value}"
    return str(value)


def check_parquet() -> None:
    """Raises UserError where Parquet cannot be written."""
    if find_spec("pyarrow") is None:
        raise UserError("Parquet needs an extra", "--parquet", "pip install 'patchwork-arena[parquet]'")


def write_parquet(table: Table, path: Path) -> None:
    """The same values with their types, texts as they are."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415 - likewise

    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in zip(table.names, table.kinds, strict=True)])
    columns = [list(column) for column in zip(*table.rows, strict=True)] or [[] for _ in table.names]
    pq.write_table(pa.table(dict(zip(table.names, columns, strict=True)), schema=schema), path)
