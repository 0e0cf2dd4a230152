"""How much is measured: the issue's numbers, unless the environment says less."""

from __future__ import annotations

import os


def size(name: str, usual: int) -> int:
    """The number that the environment gives, or the usual one."""
    return int(os.environ.get(name, "") or usual)
