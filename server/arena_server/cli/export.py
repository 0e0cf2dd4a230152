"""Game records on their way out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from io import TextIOWrapper
from itertools import count
from pathlib import Path

from arena_engine.record import GameRecord
from arena_server.model import UserError
from arena_server.text import printable


class Form(StrEnum):
    """How records are written."""

    JSONL = "jsonl"
    TEXT = "text"
    HTML = "html"


def print_records(records: Iterable[GameRecord], form: Form) -> None:
    """Prints them, in UTF-8 whatever the terminal's encoding is."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    for text in _texts(records, form):
        sys.stdout.write(text)


def write_records(records: Iterable[GameRecord], path: Path, form: Form) -> int:
    """Writes them to a file and says how many there were; raises UserError where that cannot be."""
    try:
        file = path.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        what = f"cannot write there ({error.strerror})"
        raise UserError(what, path, "give another --output FILE, in a folder that you may write to") from None
    counter = count()
    with file:
        file.writelines(_texts((record for record, _ in zip(records, counter, strict=False)), form))
    return next(counter)


def _texts(records: Iterable[GameRecord], form: Form) -> Iterator[str]:
    """One record each: a line of JSON, or text with an empty line before the next; or one page of all."""
    if form is Form.HTML:
        from arena_server.report.sharing import page

        yield page(list(records))
        return
    for number, record in enumerate(records):
        if form is Form.JSONL:
            yield printable(record.to_json()) + "\n"
        else:
            yield "\n" * bool(number) + record.to_text()
