"""The folder of a report: written whole beside its place, then moved there."""

from __future__ import annotations

import html
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena_server.model import UserError
from arena_server.report.page import GENERATOR

REPORT = "report.html"

_HEAD = 10_000  # bytes of a report that hold its meta elements


@contextmanager
def filled(folder: Path, tournament: str) -> Iterator[Path]:
    """A new folder to write to; what is in it at the end goes to its place, and nothing of it before.

    Args:
        folder: the place; there may be an earlier report of the same tournament, whose files are replaced.
        tournament: whose report it is.

    Raises:
        UserError: the place holds something else, or cannot be written.
    """
    check(folder, tournament)
    beside = folder.parent / f".{folder.name}.{os.getpid()}.new"
    try:
        beside.mkdir(parents=True)
        try:
            yield beside
            _move(beside, folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise _unwritable(folder, error) from None


def check(folder: Path, tournament: str | None) -> None:
    """Raises UserError where a report of this tournament, None: of any one, cannot go."""
    try:
        if not folder.exists() and not folder.is_symlink():
            return
        if not folder.is_dir():
            raise UserError("the report needs a folder, this is a file", folder, "choose another folder")
        if any(folder.iterdir()):
            _check_owner(folder, tournament)
    except OSError as error:
        raise _unwritable(folder, error) from None


def _check_owner(folder: Path, tournament: str | None) -> None:
    owner = _owner(folder / REPORT)
    if owner is None:
        raise UserError("the folder holds something that is no report", folder, "choose another folder, or empty it")
    if tournament not in (None, owner):
        raise UserError(f"the folder holds the report of {owner}", folder, "choose another folder, or empty it")


def _owner(page: Path) -> str | None:
    """The tournament whose report that file is; None where it is none of ours."""
    if not page.is_file():
        return None
    with page.open("rb") as file:
        head = file.read(_HEAD).decode("utf-8", "replace")
    name = re.search(r'<meta name="arena-tournament" content="([^"]*)">', head)
    return html.unescape(name[1]) if name and f'name="generator" content="{GENERATOR} ' in head else None


def _move(source: Path, target: Path) -> None:
    """File by file, the page last: until then the old one stands. Each move is whole or not at all."""
    files = [path.relative_to(source) for path in sorted(source.rglob("*")) if path.is_file()]
    for path in sorted(files, key=lambda path: path.name == REPORT):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).replace(target / path)


def _unwritable(folder: Path, error: OSError) -> UserError:
    where = f" {error.filename}" if error.filename else ""
    return UserError(f"cannot write the report ({error.strerror}{where})", folder, "choose another folder")
