"""Options that several commands share, and what follows from them."""

from __future__ import annotations

import os
import re
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

DEFAULT_DATABASE = "arena.db"

Db = Annotated[
    str | None,
    typer.Option("--db", metavar="PATH|URL", help="The database.  [default: ARENA_DB, else ./arena.db]"),
]
Server = Annotated[
    str | None,
    typer.Option("--server", metavar="HOST:PORT", help="Ask this server instead of a database."),
]
Ca = Annotated[
    Path | None,
    typer.Option("--ca", metavar="FILE", help="With --server: the certificate authority to trust, as PEM."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OfTournament = Annotated[
    str | None, typer.Option("--tournament", metavar="NAME", help="Which one.  [default: the one started last]")
]


class Progress(StrEnum):
    """How a run is shown."""

    AUTO = "auto"
    LINES = "lines"
    JSON = "json"
    NONE = "none"


def program() -> str:
    """How the user can call this command again: a virtual environment's need not be on the path."""
    return "arena" if shutil.which("arena") or not sys.argv[0].endswith("arena") else os.path.relpath(sys.argv[0])


def database_url(given: str | None) -> str:
    """The database that is meant: the one given, else ARENA_DB, else ./arena.db."""
    return given or os.environ.get("ARENA_DB") or DEFAULT_DATABASE


def elsewhere(given: str | None) -> str:
    """How to name that database in another command, without its password; empty where it is ./arena.db."""
    url = database_url(given)
    if "://" not in url:
        return "" if Path(url).absolute() == Path(DEFAULT_DATABASE).absolute() else url
    return re.sub(r"(://[^:/@]*):[^@/]*@", r"\1@", url)
