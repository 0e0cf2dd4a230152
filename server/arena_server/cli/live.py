"""What `arena run-tournament` shows while it plays: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from arena_server.cli.tables import standings_table
from arena_server.coordinator.watching import Snapshot
from arena_server.model import Ending, Result

LINE_EVERY = 5.0
"""Seconds between two plain lines."""


class LiveTable:
    """The standings, redrawn in place."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def stands(self, snapshot: Snapshot) -> None:
        """Draws the standings and what is beside them."""
        table = standings_table(snapshot.standings, self._live.console.width)
        lines = [Text(progress_line(snapshot), "dim"), *([Text(snapshot.question)] if snapshot.question else [])]
        self._live.update(Group(table, *lines), refresh=True)

    def ended(self, result: Result) -> None:
        """Failures scroll by above the table."""
        for line in failure_lines(result):
            self._live.console.print(Text(line, "yellow"))

    def notes(self, line: str) -> None:
        """Above the table, too."""
        self._live.console.print(Text(line, "bold yellow"))


class PlainLines:
    """One line now and then."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def stands(self, snapshot: Snapshot) -> None:
        """A line, unless there was one a moment ago."""
        if time.monotonic() - self._last >= LINE_EVERY:
            self._last = time.monotonic()
            leader = snapshot.standings[0].label if snapshot.progress.folded else ""
            self.notes(progress_line(snapshot) + (f", {leader} leads" if leader else ""))
            if snapshot.question:
                self.notes(snapshot.question)

    def ended(self, result: Result) -> None:
        """Failures are always told."""
        for line in failure_lines(result):
            self.notes(line)

    def notes(self, line: str) -> None:
        """Prints it."""
        print(line, file=sys.stderr, flush=True)


def progress_line(snapshot: Snapshot) -> str:
    """How far it is, how quick, how long still."""
    progress = snapshot.progress
    parts = [f"{progress.planned - progress.open} of {progress.planned} games"]
    if progress.waiting:
        parts.append(f"{progress.waiting} wait for an earlier one to be rated")
    if progress.abandoned:
        parts.append(f"{progress.abandoned} abandoned")
    if snapshot.rate is not None and snapshot.left is not None:
        parts += [f"{snapshot.rate:.1f} games/s", f"{duration(snapshot.left)} left"]
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """In the units a person would use: ``8 s``, ``3 min``, ``2.5 h``."""
    if seconds < 90:  # noqa: PLR2004 - up to there seconds read better
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"  # noqa: PLR2004 - likewise


def failure_lines(result: Result) -> list[str]:
    """One line for each seat that failed, or for a void attempt."""
    assignment = result.assignment
    if result.ending is Ending.VOID:
        return [f"game {assignment.planned.number} is void and will be played again: {result.reason}"]
    labels = dict(zip(assignment.planned.letters, assignment.labels, strict=True))
    return [
        f"game {assignment.planned.number}: {labels[failure.seat]} ({failure.seat}) loses by "
        f"{failure.ending.replace('_', ' ')}: {failure.reason}"
        for failure in result.failures
    ]
