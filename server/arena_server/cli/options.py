"""Options that several commands share, and what follows from them."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
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
Socket = Annotated[
    str | None,
    typer.Option("--server", metavar="unix:PATH", help="Ask the server with this socket instead of a database."),
]
Ca = Annotated[
    Path | None,
    typer.Option("--ca", metavar="FILE", help="With --server: who vouches for it, as PEM.  [default: ARENA_CA]"),
]
Insecure = Annotated[
    bool, typer.Option("--insecure", help="With --server: plain wire beyond this machine.  [default: ARENA_INSECURE]")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OfTournament = Annotated[
    str | None, typer.Option("--tournament", metavar="NAME", help="Which one.  [default: the one started last]")
]


# Settings of a tournament, where a command plays one.
Name = Annotated[str | None, typer.Option(help="Name of the tournament.")]
Seed = Annotated[str | None, typer.Option(help="Public seed: the same deals again; else they are secret.")]
Time = Annotated[str | None, typer.Option(help="100ms a ply, 10s+0.1s, or 10s+0.1s/1s.  [default: 100ms]")]
Concurrency = Annotated[int | None, typer.Option(help="Games at once.  [default: cores - 1]")]
Edition = Annotated[str | None, typer.Option(help="original or revised.  [default: original]")]
New = Annotated[bool, typer.Option("--new", help="Start afresh, even if the same was played before.")]


class Progress(StrEnum):
    """How a run is shown."""

    AUTO = "auto"
    LINES = "lines"
    JSON = "json"
    NONE = "none"


def group(told: str) -> typer.Typer:
    """A command with commands below it; `told` is what ``--help`` says of it."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, help=told)


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


def again(db: str | None, server: str | None, ca: Path | None, *, insecure: bool) -> Sequence[str]:
    """The options with which another command asks the same."""
    if server is not None:
        return ["--server", server, *(["--ca", str(ca)] if ca else ()), *(["--insecure"] if insecure else ())]
    place = elsewhere(db)
    return ["--db", place] if place else []
