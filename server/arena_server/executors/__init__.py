"""Where games run."""

from __future__ import annotations

from typing import Protocol

from arena_server.model import Assignment, Result


class Executor(Protocol):
    """Plays assignments; how many at once is its `capacity`."""

    @property
    def capacity(self) -> int:
        """Games that it plays at the same time."""

    async def play(self, assignment: Assignment) -> Result:
        """Plays one attempt to its end; raises ArenaError when it cannot play at all."""
