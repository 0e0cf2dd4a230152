"""What a person can act on.

::

    ArenaError(what, value, fix)      exit code 3: ours or the machine's
     +-- UserError                    exit code 2: the user's mistake
"""

from __future__ import annotations


class ArenaError(Exception):
    """Trouble of ours or of the machine, told so that a person can act on it.

    Args:
        what: what was wrong.
        value: the value at fault; empty where there is none.
        fix: what to do.
        key: of a spec file, if the value can come from one: names of tables and keys, places in lists.
    """

    exit_code = 3

    def __init__(self, what: str, value: object = "", fix: str = "", *, key: tuple[str | int, ...] = ()) -> None:
        self.what = what
        self.value = value
        self.fix = fix
        self.key = key
        super().__init__(what, value, fix)

    def __str__(self) -> str:
        value = f": {self.value}" if self.value != "" else ""
        return f"{self.what}{value}" + (f" - {self.fix}" if self.fix else "")


class UserError(ArenaError):
    """A mistake in what the user gave."""

    exit_code = 2


class BreakdownError(ArenaError):
    """What every tournament here rests on has failed - disk, database, keeper: none can go on."""
