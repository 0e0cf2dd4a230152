"""How far something is that takes longer than a second."""

from __future__ import annotations

import sys
import time
from typing import Self

QUIET = 1.0
"""Seconds without a word."""


class Progress:
    """A line on standard error, rewritten in place on a terminal, once it takes a while.

    Args:
        what: is counted: "attempts replayed".
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._told = time.monotonic()
        self._open = False  # whether a line waits to be finished
        self._end = "\r" if sys.stderr.isatty() else "\n"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open:
            print(file=sys.stderr)

    def tell(self, done: int, total: int) -> None:
        """So many are done, of so many."""
        now = time.monotonic()
        if now - self._told >= QUIET:
            self._told = now
            self._open = self._end == "\r"
            print(f"{done} of {total} {self._what}", end=self._end, file=sys.stderr, flush=True)
