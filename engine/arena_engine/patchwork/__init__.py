"""Patchwork for two, with all rules of both editions.

>>> state = State.new("UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA")
>>> state = state.after(state.parse_move("D0e4"))
>>> state.seat_to_move, state.offered, len(state.legal_moves())
('b', 'eZX', 749)
"""

from __future__ import annotations

from arena_engine.game import (
    DealError,
    GameError,
    GameNotOverError,
    GameOverError,
    IllegalMoveError,
    MoveSyntaxError,
    PositionError,
)
from arena_engine.patchwork.moves import Move
from arena_engine.patchwork.rules import GAME, Patchwork
from arena_engine.patchwork.state import State

__all__ = [
    "GAME",
    "DealError",
    "GameError",
    "GameNotOverError",
    "GameOverError",
    "IllegalMoveError",
    "Move",
    "MoveSyntaxError",
    "Patchwork",
    "PositionError",
    "State",
]
