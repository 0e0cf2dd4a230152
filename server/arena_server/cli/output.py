"""What commands print: grids as they suit the reader, JSON in ASCII, lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from arena_server.cli.options import database_url

if TYPE_CHECKING:
    from arena_server.cli.grids import Grid
    from arena_server.store import Store


@contextmanager
def opened(db: str | None, *, quiet: bool) -> Iterator[Store]:
    """The database to read from. Unless quiet, the first line names it.

    That line goes to standard error: equal results shall give equal bytes wherever they are stored.
    """
    from arena_server.store import Store

    with Store.open(database_url(db), create=False) as store:
        if not quiet:
            print(f"database {store.label}", file=sys.stderr, flush=True)
        yield store


def show(grid: Grid) -> None:
    """A table that fits the terminal; in a pipe all of it, in plain text."""
    if not sys.stdout.isatty():
        print("\n".join(grid.lines()))
        return
    from rich.console import Console

    console = Console(highlight=False)
    console.print(grid.table(console.width))


def show_json(value: object) -> None:
    """JSON, every character of it in ASCII: no text from a bot can act on a terminal."""
    print(json.dumps(value, indent=2))
