"""Positions of any game for a terminal."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec

from arena_engine.game import State


def drawn(state: State) -> str:
    """The picture that the game's package gives of it (``drawing.draw_text``); else the position's text."""
    package = sys.modules[type(state).__module__].__package__
    if not package or find_spec(f"{package}.drawing") is None:
        return state.text
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    picture: str = import_module(f"{package}.drawing").draw_text(state, colour=colour)
    return picture
