"""The failed games of a report, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from arena_server.model import Failure, Result
from arena_server.report.contents import Game
from arena_server.report.evidence import box_lines, time_lines
from arena_server.text import clean, clean_lines

MOST = 100
"""Failures that a page shows, the first ones; all are in the database."""
MAX_CHARACTERS = 4_000
"""Of one failure's evidence, the first ones: `arena games show` has all."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A failure as it is shown.

    Attributes:
        game: the game's id.
        place: of the entrant, in the order of entry.
        text: several lines, fit to be shown once escaped.
    """

    game: str
    place: int
    what: str
    text: str


def shown(game: Game) -> Iterator[Shown]:
    """The failures of a game."""
    if game.result is None:
        return
    planned = game.result.assignment.planned
    for failure in game.result.failures:
        place = planned.seats[planned.letters.index(failure.seat)]
        what = f"{failure.ending.replace('_', ' ')} at ply {failure.ply + 1}"
        text = "\n".join(_lines(game.result, failure))
        more = f"\n... all of it: arena games show {game.summary.id}" if len(text) > MAX_CHARACTERS else ""
        yield Shown(game.summary.id, place, what, text[:MAX_CHARACTERS] + more)


def _lines(result: Result, failure: Failure) -> Iterator[str]:
    yield clean(failure.reason)
    yield from time_lines(result, failure)
    if failure.reply is not None:
        yield f"reply: {failure.reply!r}"
    if failure.position:
        yield clean(f"position: {failure.position}")
    if failure.evidence:
        yield from ("evidence:", *clean_lines(failure.evidence))
    yield from box_lines(failure)
