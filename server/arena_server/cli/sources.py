"""Where a game comes from: the database, a server, a record file, or standard input."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from arena_engine.game import RecordError
from arena_engine.record import SUFFIX, GameRecord
from arena_server.model import UserError

if TYPE_CHECKING:
    from arena_server.service.reading import Reader

RECORD_SUFFIXES = (SUFFIX, ".json", ".jsonl")
"""What shows that GAME is a file, even if it does not exist."""


def read_game(text: str, source: AbstractContextManager[Reader]) -> GameRecord:
    """The record that GAME names.

    Args:
        text: a file that exists, ``-``, else what ``queries.find_game`` knows.
        source: where to look for the latter; it is opened only then.

    Raises:
        UserError: there is none, or several.
    """
    if text == "-":
        return parse(_decoded(sys.stdin.buffer.read(), "standard input"), "standard input")
    if Path(text).is_file() or Path(text).suffix in RECORD_SUFFIXES:
        return parse(_decoded(_content(Path(text)), text), text)
    with source as opened:
        return opened.game(text)[0]


def parse(text: str, source: str) -> GameRecord:
    """Reads either form of a record; raises UserError."""
    text = text.strip()
    if not text:
        raise UserError("no game record", f"{source} is empty", "`arena games export` writes records")
    if text.startswith("{") and "\n{" in text:
        fix = f"pick one: sed -n 1p {source} | arena replay -"
        raise UserError("several game records", f"{source} holds {len(text.splitlines())}", fix)
    try:
        return GameRecord.from_json(text) if text.startswith("{") else GameRecord.from_text(text)
    except RecordError as error:
        raise UserError(f"no game record in {source}", repr(error.value), error.why) from None


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError("cannot read the game record", f"{path}: {error.strerror}", "check the path") from None


def _decoded(content: bytes, source: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise UserError("not a game record", source, "a record is text in UTF-8, as of `arena games export`") from None
