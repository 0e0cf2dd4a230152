"""Game records on their way out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from pathlib import Path

from arena_engine.record import GameRecord
from arena_server.model import UserError


def print_records(records: Iterable[GameRecord], *, lines: bool) -> None:
    """Prints them, in UTF-8 whatever the terminal's encoding is."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    for text in _texts(records, lines=lines):
        sys.stdout.write(text)


def write_records(records: Iterable[GameRecord], path: Path, *, lines: bool) -> int:
    """Writes them to a file and says how many there were; raises UserError where that cannot be."""
    try:
        file = path.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        what = f"cannot write there ({error.strerror})"
        raise UserError(what, path, "give another --output FILE, in a folder that you may write to") from None
    number = 0
    with file:
        for text in _texts(records, lines=lines):
            file.write(text)
            number += 1
    return number


def _texts(records: Iterable[GameRecord], *, lines: bool) -> Iterator[str]:
    """One record each: a line of JSON, or text with an empty line before the next."""
    for number, record in enumerate(records):
        if lines:
            yield _harmless(record.to_json()) + "\n"
        else:
            yield "\n" * bool(number) + record.to_text()


def _harmless(text: str) -> str:
    r"""JSON of the same value in which every character prints: ``\u009b`` instead of a terminal's control."""
    return "".join(symbol if symbol.isprintable() else json.dumps(symbol)[1:-1] for symbol in text)
