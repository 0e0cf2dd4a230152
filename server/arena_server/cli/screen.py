"""What the live screen says: lines that fit a terminal of any size, without the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena_server.cli.grids import Column, Grid
from arena_server.cli.tables import standings_grid
from arena_server.coordinator.watching import Snapshot
from arena_server.executors import Running
from arena_server.model import MAX_ATTEMPTS, Ending, Result
from arena_server.text import clean

RECENT = 3
"""Last results that are shown."""
_TALL = 14  # rows from which there is room for them
_LEAST = 4  # rows of the standings, its heading included, before games are shown


def screen(snapshot: Snapshot, recent: Sequence[str], width: int, height: int) -> list[str]:
    """At most so many lines, as wide as they are: who shows them cuts them.

    Args:
        snapshot: how the tournament stands.
        recent: the last results, as ``result_line`` gives them, the newest last.
        width: of the terminal, in characters.
        height: lines that may be used.
    """
    foot = [progress_line(snapshot), *([clean(snapshot.question)] if snapshot.question else [])][: max(1, height)]
    rest = height - len(foot)
    last = list(recent[-RECENT:]) if rest >= _TALL else []
    rest -= len(last)
    board = standings_grid(snapshot.standings).fitted(width).lines()
    running = _first(_running(snapshot.running, width), max(rest - len(board), (rest - _LEAST) // 2, 0))
    return [*_first(board, rest - len(running)), *running, *last, *foot]


def progress_line(snapshot: Snapshot) -> str:
    """How far it is, how quick, how long still."""
    progress = snapshot.progress
    if not progress.planned:
        return "the first games are being planned"
    parts = [f"{progress.planned - progress.open} of {progress.planned} games"]
    if progress.waiting:
        parts.append(f"{progress.waiting} wait for an earlier one to be rated")
    if progress.abandoned:
        parts.append(f"{progress.abandoned} abandoned")
    if snapshot.rate is not None and snapshot.left is not None:
        parts[1:1] = [f"{duration(snapshot.left)} left", f"{snapshot.rate:.1f} games/s"]
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """In the units a person would use: ``8 s``, ``3 min``, ``2.5 h``."""
    if seconds < 90:  # noqa: PLR2004 - up to there seconds read better
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"  # noqa: PLR2004 - likewise


def result_line(result: Result) -> str:
    """``game 12: mcts 0.3 - greedy 0.1 21:14``."""
    assignment = result.assignment
    if result.outcome is None:
        return failure_lines(result)[0]
    ending = "" if result.ending is Ending.NORMAL else f", {result.ending.replace('_', ' ')}"
    scores = ":".join(map(str, result.outcome.scores))
    return clean(f"game {assignment.planned.number}: {' - '.join(assignment.labels)} {scores}{ending}")


def failure_lines(result: Result) -> list[str]:
    """One line for each seat that failed, or for a void attempt."""
    assignment = result.assignment
    if result.ending is Ending.VOID:
        again = assignment.token.attempt < MAX_ATTEMPTS
        then = "will be played again" if again else "abandoned: nobody is rated for it"
        return [clean(f"game {assignment.planned.number} is void and {then}: {result.reason}")]
    labels = dict(zip(assignment.planned.letters, assignment.labels, strict=True))
    return [
        clean(
            f"game {assignment.planned.number}: {labels[failure.seat]} ({failure.seat}) loses by "
            f"{failure.ending.replace('_', ' ')}: {failure.reason}"
        )
        for failure in result.failures
    ]


def _running(games: Sequence[Running], width: int) -> list[str]:
    """A row a game, the one that runs longest first."""
    columns = (
        Column("game"),
        Column("plays", left=True),
        Column("ply", spare=2),
        Column("to move", left=True, spare=3),
        Column("for"),
    )
    rows = list(_rows(sorted(games, key=lambda game: -game.seconds)))
    return Grid(columns, rows).fitted(width).lines()[1:] if rows else []


def _rows(games: Sequence[Running]) -> Iterator[Sequence[str]]:
    for game in games:
        planned = game.assignment.planned
        labels = game.assignment.labels
        asked = [label for letter, label in zip(planned.letters, labels, strict=True) if letter in game.asked]
        ply = f"ply {game.ply + 1}" if asked or game.ply else "starts"
        yield f"#{planned.number}", " - ".join(labels), ply, ", ".join(asked), duration(game.seconds)


def _first(lines: Sequence[str], most: int) -> list[str]:
    """The first of them; where not all fit, the last line says how many there are still."""
    if len(lines) <= most:
        return list(lines)
    return [*lines[: most - 1], f"... {len(lines) - most + 1} more"] if most > 0 else []
