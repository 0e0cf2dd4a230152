"""Where games run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from arena_server.model import Assignment, Result


@dataclass(frozen=True, slots=True)
class Running:
    """A game that is being played, at the moment it was looked at.

    Attributes:
        ply: that is being played, from 0.
        asked: letters of the seats whose answers are awaited; none while bots are being started.
        seconds: since it was given out.
        plies: those played so far, in the notation of the game.
    """

    assignment: Assignment
    ply: int
    asked: str
    seconds: float
    plies: tuple[str, ...] = ()


class Executor(Protocol):
    """Plays assignments; how many at once is its `capacity`."""

    @property
    def capacity(self) -> int:
        """Games that it plays at the same time."""

    def running(self) -> Sequence[Running]:
        """The games that it plays now; looked at now and then, so that a move costs nothing."""

    async def play(self, assignment: Assignment) -> Result:
        """Plays one attempt to its end; raises ArenaError when it cannot play at all."""
