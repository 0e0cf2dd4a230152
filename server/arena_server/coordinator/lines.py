"""Where in a TOML text a key stands. The standard parser keeps no lines, so it is asked again with less of the text."""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from itertools import product
from typing import Any

Key = tuple[str | int, ...]
"""The way to a value: names of tables and keys, places in arrays from 0."""

_DEPTH = 5
_BRACKETS = ["".join(ends) for depth in range(_DEPTH + 1) for ends in product("]}", repeat=depth)]
_ENDS = [quotes + brackets for brackets in _BRACKETS for quotes in ("", '"""', "'''")]
"""What may end a value that goes on over lines, the likely first: a text or arrays and tables, one in the other."""


def line_of(text: str, key: Key) -> int | None:
    """The line, from 1, in which a key of a valid TOML text (or an item of an array) begins; None: it is not there.

    It is the first line with which the text, ended there, has that key: tokens do not depend on what follows them. A
    key that is there stays there, so halving finds it.
    """
    lines = text.split("\n")
    numbers = range(1, len(lines) + 1)
    found = bisect_left(numbers, 1, key=lambda number: _has(_ended("\n".join(lines[:number])), key))
    return numbers[found] if found < len(numbers) else None


def _ended(text: str) -> Any:
    """What a beginning of a valid text says; None where no end fits."""
    for end in _ENDS:
        try:
            return tomllib.loads(f"{text}\n{end}" if end else text)
        except tomllib.TOMLDecodeError:
            continue
    return None


def _has(value: Any, key: Key) -> bool:
    for part in key:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return value is not None
