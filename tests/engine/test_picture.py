"""Pictures: boards of cells that show what the position says, with a look for every symbol."""

from __future__ import annotations

import re
from itertools import chain

import tiny_game
from hypothesis import given, settings
from patchwork_games import positions

from arena_engine.patchwork import GAME, State
from arena_engine.patchwork.patches import LETTERS, PATCHES
from arena_engine.picture import EMPTY, NO_CELL, Pictured


def test_a_game_may_have_pictures_or_none() -> None:
    assert isinstance(GAME, Pictured)
    assert not isinstance(tiny_game.GAME, Pictured)


@given(positions())
@settings(max_examples=40)
def test_boards_are_whole_and_every_symbol_has_a_look(state: State) -> None:
    for board in chain(*GAME.picture(state)):
        assert (len(board.cells) % board.width == 0) if board.width else not board.cells
        assert set(board.cells) <= {*GAME.looks, EMPTY, NO_CELL}
        assert all(0 <= cell < len(board.cells) for cell, _ in board.marks)
        assert len(board.columns) in (0, board.width)
    assert all(re.fullmatch("#[0-9a-f]{6}", look.colour) for look in GAME.looks.values())


@given(positions())
@settings(max_examples=40)
def test_they_show_the_position(state: State) -> None:
    quilts, (track,), market = GAME.picture(state)
    for board in quilts:
        assert len(board.cells) - board.cells.count(EMPTY) == state.quilt(board.seat).bit_count()
        assert board.note.startswith(f"{state.score(board.seat)} points")
    assert {seat: cell for cell, seats in track.marks for seat in seats} == {s: state.time(s) for s in "ab"}
    *offered, rest = market
    assert "".join(board.title for board in offered) + rest.note == state.circle
    for board in offered:
        assert board.cells.count(board.title) == len(PATCHES[board.title].orientations[0].offsets)


def test_patches_differ_in_colour() -> None:
    assert len({GAME.looks[letter].colour for letter in LETTERS}) == len(LETTERS)
