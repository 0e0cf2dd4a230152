"""What a run shows while it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from arena_server.executors import Running
from arena_server.model import Result
from arena_server.store import Progress, Standing


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How a tournament stands.

    Attributes:
        rate: games a second in this run; None before the first one ends.
        left: seconds until the plan is done at this rate; None where there is no rate.
        question: how that of the stop rule stands, in words; empty where there is none.
        running: the games being played.
    """

    standings: Sequence[Standing]
    progress: Progress
    rate: float | None = None
    left: float | None = None
    question: str = ""
    running: Sequence[Running] = ()


class Watcher(Protocol):
    """Shows a run to a person or a program; called on the event loop, so it must not block."""

    def stands(self, snapshot: Snapshot) -> None:
        """The standings have changed."""

    def ended(self, result: Result) -> None:
        """A game is on record."""

    def notes(self, line: str) -> None:
        """Something that the user should read."""
