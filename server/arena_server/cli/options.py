"""Options that several commands share, and what follows from them."""

from __future__ import annotations

import os
from typing import Annotated

import typer

DEFAULT_DATABASE = "arena.db"

Db = Annotated[
    str | None,
    typer.Option("--db", metavar="PATH|URL", help="The database.  [default: ARENA_DB, else ./arena.db]"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OfTournament = Annotated[
    str | None, typer.Option("--tournament", metavar="NAME", help="Which one.  [default: the one started last]")
]


def database_url(given: str | None) -> str:
    """The database that is meant: the one given, else ARENA_DB, else ./arena.db."""
    return given or os.environ.get("ARENA_DB") or DEFAULT_DATABASE
