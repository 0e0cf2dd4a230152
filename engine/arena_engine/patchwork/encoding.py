"""Dense action ids, for arrays only, never on the wire.

``0`` advance; ``1 + cell`` leather; ``82 + slot * 648 + orientation * 81 + cell`` buy, where slot is 0 to 2 from the
neutral token. Moves listed by ``State.legal_moves`` have rising ids. For numpy see ``arena_engine.patchwork.arrays``.
"""

from __future__ import annotations

from operator import index
from typing import SupportsIndex

from arena_engine.game import GameError, IllegalMoveError
from arena_engine.patchwork.moves import ADVANCE, BUYS, LEATHER, Move
from arena_engine.patchwork.quilt import CELL_OF, CELLS, FULL, SQUARES
from arena_engine.patchwork.state import OFFERED, State

FIRST_LEATHER = 1
FIRST_BUY = FIRST_LEATHER + CELLS
SLOT = 8 * CELLS
"""Ids of one slot: every orientation at every cell."""

ACTIONS = FIRST_BUY + OFFERED * SLOT
"""How many ids there are: 2,026."""


class EncodingError(GameError):
    """An array or mask of the wrong shape or kind."""


def action_id(state: State, move: Move) -> int:
    """The id of a move in a position, legal or not; raises IllegalMoveError for a patch that is not for sale."""
    if move.kind == "advance":
        return 0
    if move.kind == "leather":
        return FIRST_LEATHER + CELL_OF[move.square]
    slot = state.offered.find(move.patch)
    if slot < 0:
        raise IllegalMoveError(move.text, state.text, f"patch {move.patch} is not for sale, so it has no action id")
    return FIRST_BUY + slot * SLOT + move.orientation * CELLS + CELL_OF[move.square]


def action_move(state: State, action: SupportsIndex) -> Move:
    """The move of an id, legal or not; raises IllegalMoveError where there is none."""
    number = _checked(state, action)
    if number == 0:
        return ADVANCE
    if number < FIRST_BUY:
        return LEATHER[number - FIRST_LEATHER]
    slot, rest = divmod(number - FIRST_BUY, SLOT)
    if slot >= len(state.offered):
        why = f"slot {slot} is empty, {len(state.offered)} patches are for sale"
        raise IllegalMoveError(number, state.text, f"no move has this id: {why}")
    orientation, cell = divmod(rest, CELLS)
    return Move.parse(f"{state.offered[slot]}{orientation}{SQUARES[cell]}")


def _checked(state: State, action: SupportsIndex) -> int:
    try:
        number = index(action)
    except TypeError:
        raise IllegalMoveError(action, state.text, "an action id is a whole number") from None
    if not 0 <= number < ACTIONS:
        raise IllegalMoveError(number, state.text, f"action ids are 0 to {ACTIONS - 1}")
    return number


def legal_actions(state: State) -> int:
    """The ids of the legal moves as one integer: bit ``id`` is set; 0 when the game is over."""
    if state.is_over:
        return 0
    me = state.player(state.seat_to_move)
    empty = FULL ^ me.quilt
    if state.leather_due:
        return empty << FIRST_LEATHER
    found = 1
    for slot, letter in enumerate(state.offered):
        looks = BUYS[letter]
        if looks[0][1][0].cost <= me.buttons:
            fitting = 0
            for orientation, _ in looks:
                fitting |= orientation.fits(empty) << orientation.number * CELLS
            found |= fitting << FIRST_BUY + slot * SLOT
    return found
