"""What `arena run-tournament` shows while it plays: a screen on a terminal, plain lines or JSON lines elsewhere."""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from arena_server.cli.leaderboard import standing_dict
from arena_server.cli.options import Progress
from arena_server.cli.screen import RECENT, failure_lines, progress_line, result_line, screen
from arena_server.coordinator.watching import Snapshot, Watcher
from arena_server.model import Result
from arena_server.text import clean, printable

LINE_EVERY = 5.0
"""Seconds between two plain lines, and between two standings in JSON."""


class Shown(Watcher, Protocol):
    """A watcher that is there while a run goes on."""

    def __enter__(self) -> Self:
        """Begins to show."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends showing."""


def shown(progress: Progress, *, quiet: bool) -> Shown:
    """What shows a run; a screen only on a terminal, and not beside results for a program."""
    console = Console(stderr=True)
    match progress:
        case Progress.NONE:
            return Nothing()
        case Progress.JSON:
            return JsonLines()
        case Progress.AUTO if console.is_terminal and not quiet:
            return Screen(console)
    return PlainLines()


class Nothing:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def stands(self, snapshot: Snapshot) -> None:
        """Nothing."""

    def ended(self, result: Result) -> None:
        """Nothing."""

    def notes(self, line: str) -> None:
        """Nothing."""


class Screen(Nothing):
    """Standings, games and progress, redrawn in place; what should be read scrolls by above."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._recent = deque[str](maxlen=RECENT)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def stands(self, snapshot: Snapshot) -> None:
        """Draws all of it, in one write."""
        width, height = self._live.console.size
        lines = screen(snapshot, list(self._recent), width, height - 1)  # the cursor stands in the last row
        self._live.update(Group(*(_cut(line, width) for line in lines)), refresh=True)

    def ended(self, result: Result) -> None:
        """Failures scroll by above."""
        self._recent.append(result_line(result))
        for line in failure_lines(result):
            self._live.console.print(Text(line, "yellow"))

    def notes(self, line: str) -> None:
        """Above, too."""
        self._live.console.print(Text(clean(line), "bold yellow"))


class PlainLines(Nothing):
    """One line now and then."""

    def __init__(self) -> None:
        self._last = time.monotonic()

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
        print(clean(line), file=sys.stderr, flush=True)


class JsonLines(Nothing):
    """One JSON object a line: every game that ended, every note, now and then the standings, and the end."""

    def __init__(self) -> None:
        self._last = -LINE_EVERY
        self._snapshot: Snapshot | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._snapshot is not None:
            self._tell("standings", _standings(self._snapshot))
        self._tell("end", {"complete": kind is None})

    def stands(self, snapshot: Snapshot) -> None:
        """The standings, unless they were told a moment ago."""
        self._snapshot = snapshot
        if time.monotonic() - self._last >= LINE_EVERY:
            self._last = time.monotonic()
            self._tell("standings", _standings(snapshot))

    def ended(self, result: Result) -> None:
        """One object."""
        self._tell("game", _game(result))

    def notes(self, line: str) -> None:
        """One object."""
        self._tell("note", {"text": line})

    def _tell(self, event: str, fields: Mapping[str, Any]) -> None:
        line = json.dumps({"event": event, **fields}, ensure_ascii=False)
        print(printable(line), file=sys.stderr, flush=True)


def _cut(line: str, width: int) -> Text:
    text = Text(line, no_wrap=True)
    text.truncate(width, overflow="ellipsis")
    return text


def _standings(snapshot: Snapshot) -> dict[str, Any]:
    progress = snapshot.progress
    return {
        "planned": progress.planned,
        "open": progress.open,
        "rated": progress.folded,
        "waiting": progress.waiting,
        "rate": snapshot.rate,
        "left": snapshot.left,
        "question": snapshot.question,
        "running": [game.assignment.planned.number for game in snapshot.running],
        "standings": [standing_dict(standing) for standing in snapshot.standings],
    }


def _game(result: Result) -> dict[str, Any]:
    assignment, outcome = result.assignment, result.outcome
    return {
        "id": assignment.game_id,
        "number": assignment.planned.number,
        "attempt": assignment.token.attempt,
        "seats": list(assignment.labels),
        "ending": result.ending,
        "ranks": None if outcome is None else list(outcome.ranks),
        "scores": None if outcome is None else list(outcome.scores),
        "failures": [
            {"seat": failure.seat, "ending": failure.ending, "reason": failure.reason} for failure in result.failures
        ],
        "reason": result.reason,
    }
