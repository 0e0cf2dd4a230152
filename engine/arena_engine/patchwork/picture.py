"""Positions as boards for a page: both quilts, the track, the patches for sale."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from arena_engine.patchwork.drawing import cells_of, colour_of, headline, symbols_of
from arena_engine.patchwork.notation import SEATS
from arena_engine.patchwork.patches import LETTERS, PATCHES
from arena_engine.patchwork.quilt import SIDE
from arena_engine.patchwork.state import State
from arena_engine.picture import EMPTY, NO_CELL, Board, Look

INCOME = "$"
LEATHER = "*"
_TRACK_WIDTH = 18
_TRACK_SCALE = 0.8
_MARKET_SCALE = 0.7


def looks() -> Mapping[str, Look]:
    """Of the patches, the leather and the track's income."""
    patches = {letter: Look(colour_of(letter)) for letter in LETTERS}
    return {**patches, LEATHER: Look("#c39a6b", joined=False), INCOME: Look("#8fb8de", joined=False)}


def picture(state: State) -> tuple[tuple[Board, ...], ...]:
    """The quilts, the track, the patches for sale."""
    return tuple(_quilt(state, seat) for seat in SEATS), (_track(state),), (*_market(state), _rest(state))


def _quilt(state: State, seat: str) -> Board:
    bonus = " · 7×7 tile" if state.bonus == seat else ""  # noqa: RUF001 - a sign for people
    return Board(
        cells_of(state, seat),
        SIDE,
        title=headline(state, seat),
        note=f"{state.score(seat)} points · {state.buttons(seat)} buttons · income {state.income(seat)}{bonus}",
        seat=seat,
        columns="abcdefghi",
        rows="123456789",
    )


def _track(state: State) -> Board:
    times = {seat: state.time(seat) for seat in SEATS}
    told = " · ".join(f"{seat} at {time}" for seat, time in times.items())
    marks = tuple(
        (space, "".join(seat for seat in SEATS if times[seat] == space)) for space in sorted(set(times.values()))
    )
    return Board(symbols_of(state), _TRACK_WIDTH, title="time", note=told, marks=marks, scale=_TRACK_SCALE)


def _market(state: State) -> list[Board]:
    return [_patch(letter) for letter in state.offered]


@cache
def _patch(letter: str) -> Board:
    patch = PATCHES[letter]
    rows = patch.orientations[0].rows
    cells = "".join(rows).replace("#", letter).replace(EMPTY, NO_CELL)
    note = f"cost {patch.cost} · time {patch.time} · income {patch.income}"
    return Board(cells, len(rows[0]), title=letter, note=note, scale=_MARKET_SCALE)


def _rest(state: State) -> Board:
    rest = state.circle[len(state.offered) :]
    return Board("", 0, title="then" if rest else "", note=rest)
