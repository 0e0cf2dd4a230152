"""Anchors: bots whose Bradley-Terry values somebody has fixed, so that tournaments compare."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from arena_server.model import UserError
from arena_server.ratings.pairs import Meeting
from arena_server.store.lists import find_bot
from arena_server.store.views import Tournament

Anchors = Mapping[str, float]
"""Values in Elo, by name or label of a bot."""

FARTHEST = 5_000.0
"""Elo that an anchor may be away from 0: odds over a few times as much are no numbers."""


def read(texts: Sequence[str]) -> Anchors:
    """Anchors as people write them, ``greedy=0``; raises UserError for what is none."""
    found: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not name.strip() or not abs(value) <= FARTHEST:
            fix = f"write BOT=ELO, as greedy=0, not over {FARTHEST:g}"
            raise UserError("not an anchor", repr(text), fix, key=("anchor",))
        found[name.strip()] = value
    return found


def holding(tournament: Tournament, games: Sequence[Meeting], asked: Anchors) -> dict[int, float]:
    """The values that are fixed, by index of the entrant.

    Args:
        tournament: whose entrants.
        games: that strengths follow from.
        asked: by who wants to know; none: the tournament's own hold, as far as they can by now.

    Raises:
        UserError: what is asked names no bot, several, one twice, or one without a game.
    """
    played = {entrant for game in games for entrant in game.entrants}
    if asked:
        return _all(tournament, played, asked)
    own = ((_place(tournament, name), value) for name, value in tournament.anchors.items())
    return {place: value for place, value in own if place in played}


def told(tournament: Tournament, anchors: Mapping[int, float]) -> Anchors:
    """The same by label, in the order of entry."""
    return {tournament.spec.labels[place]: anchors[place] for place in sorted(anchors)}


def _all(tournament: Tournament, played: set[int], asked: Anchors) -> dict[int, float]:
    found: dict[int, float] = {}
    for name, value in asked.items():
        place = find_bot(tournament, name)
        label = tournament.spec.labels[place]
        if place in found:
            raise UserError("the same anchor twice", label, "give it once", key=("anchor",))
        if place not in played:
            fix = "anchor a bot that has played, or leave the choice of games out"
            raise UserError("an anchor without a game", label, fix, key=("anchor",))
        found[place] = value
    return found


def _place(tournament: Tournament, name: str) -> int:
    """The entrant that is meant; -1 where nobody is, or several are."""
    try:
        return find_bot(tournament, name)
    except UserError:
        return -1
