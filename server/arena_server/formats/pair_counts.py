"""A number for each two entrants."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field


@dataclass
class PairCounts:
    """A number for each two entrants, the lower index first; 0 at first.

    Four bytes each, whether the two have met or not: what a season remembers does not grow with its games.
    """

    _rows: list[array[int]] = field(default_factory=list)  # of each entrant those with the lower ones

    def __getitem__(self, pair: tuple[int, int]) -> int:
        """That of two entrants."""
        lower, upper = pair
        return self._rows[upper][lower] if upper < len(self._rows) else 0

    def __setitem__(self, pair: tuple[int, int], number: int) -> None:
        lower, upper = pair
        while len(self._rows) <= upper:
            self._rows.append(array("I", bytes(4 * len(self._rows))))
        self._rows[upper][lower] = number
