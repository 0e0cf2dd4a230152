"""What commands print: grids as they suit the reader, JSON in ASCII, lines."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from arena_server.cli.options import database_url

if TYPE_CHECKING:
    from arena_server.cli.grids import Grid
    from arena_server.service.administration.administrator import Administrator
    from arena_server.service.reading import Reader
    from arena_server.service.remote import RemoteReader
    from arena_server.store import Store


@contextmanager
def opened(db: str | None, *, quiet: bool, create: bool = False) -> Iterator[Store]:
    """The database, made where it may be and is not there. Unless quiet, the first line names it.

    That line goes to standard error: equal results shall give equal bytes wherever they are stored.
    """
    from arena_server.store import Store

    with Store.open(database_url(db), create=create) as store:
        if not quiet:
            print(f"database {store.label}", file=sys.stderr, flush=True)
        yield store


@contextmanager
def reader(
    db: str | None, server: str | None, ca: Path | None = None, *, insecure: bool = False, quiet: bool
) -> Iterator[Reader]:
    """What to read results from: the database, or a server. Unless quiet, a line on standard error names it.

    Raises:
        UserError: a database and a server, or what belongs to a server for a database.
    """
    from arena_server.model import UserError
    from arena_server.service.reading import StoreReader

    if server is None:
        if ca is not None:
            raise UserError("a certificate authority without a server", ca, "add --server HOST:PORT")
        if insecure:
            raise UserError("a plain wire without a server", "--insecure", "add --server HOST:PORT")
        with opened(db, quiet=quiet) as store:
            yield StoreReader(store)
        return
    with dialled(_one(db, server, quiet=quiet), ca, insecure=insecure) as remote:
        yield remote


def dialled(server: str, ca: Path | None, *, insecure: bool) -> RemoteReader:
    """A server to read from, dialled as the options say, else as the environment does where it is no socket."""
    from arena_server.service.dialling import LOCAL
    from arena_server.service.remote import RemoteReader

    if ca is None and os.environ.get("ARENA_CA") and not server.startswith(LOCAL):
        ca = Path(os.environ["ARENA_CA"])
    return RemoteReader(server, ca, insecure=insecure or bool(os.environ.get("ARENA_INSECURE")))


@contextmanager
def administrator(db: str | None, server: str | None, *, quiet: bool, create: bool = False) -> Iterator[Administrator]:
    """Where the registry is kept: the database, made where it may be and is not there, or the server that has it.

    Raises:
        UserError: a database and a server, or a server that is not named by its Unix socket.
    """
    from arena_server.service.administration.administrator import StoreAdministrator

    if server is None:
        with opened(db, quiet=quiet, create=create) as store:
            yield StoreAdministrator(store)
        return
    from arena_server.service.administration.remote import RemoteAdministrator

    with RemoteAdministrator(_one(db, server, quiet=quiet)) as remote:
        yield remote


def _one(db: str | None, server: str, *, quiet: bool) -> str:
    """The server, named unless quiet; raises UserError where a database is given, too."""
    from arena_server.model import UserError

    if db is not None:
        raise UserError("a database and a server", f"--db {db} --server {server}", "give one of them")
    if not quiet:
        print(f"server {server}", file=sys.stderr, flush=True)
    return server


def show(grid: Grid) -> None:
    """A table that fits the terminal; in a pipe all of it, in plain text."""
    if not sys.stdout.isatty():
        print("\n".join(grid.lines()))
        return
    from rich.console import Console

    console = Console(highlight=False)
    console.print(grid.table(console.width))


def say(text: str) -> None:
    """A sentence, broken between words where a terminal is narrower; in a pipe one line."""
    if sys.stdout.isatty():
        text = textwrap.fill(text, shutil.get_terminal_size().columns, break_on_hyphens=False)
    print(text)


def show_json(value: object) -> None:
    """JSON, every character of it in ASCII: no text from a bot can act on a terminal."""
    print(json.dumps(value, indent=2))
