"""Dense action ids, for arrays only, never on the wire.

``0`` advance; ``1 + cell`` leather; ``82 + slot * 648 + orientation * 81 + cell`` buy, where slot is 0 to 2 from the
neutral token. Moves listed by ``State.legal_moves`` have rising ids.
"""

from __future__ import annotations

from arena_engine.game import IllegalMoveError
from arena_engine.patchwork.moves import Move
from arena_engine.patchwork.quilt import CELL_OF, CELLS, SQUARES
from arena_engine.patchwork.state import OFFERED, State

_FIRST_BUY = 1 + CELLS
_SLOT = 8 * CELLS
ACTIONS = _FIRST_BUY + OFFERED * _SLOT
"""How many ids there are: 2,026."""


def action_id(state: State, move: Move) -> int:
    """The id of a move in a position; raises IllegalMoveError for a patch that is not for sale."""
    if move.kind == "advance":
        return 0
    if move.kind == "leather":
        return 1 + CELL_OF[move.square]
    slot = state.offered.find(move.patch)
    if slot < 0:
        raise IllegalMoveError(move.text, state.text, f"patch {move.patch} is not for sale, so it has no action id")
    return _FIRST_BUY + slot * _SLOT + move.orientation * CELLS + CELL_OF[move.square]


def action_move(state: State, action: int) -> Move:
    """The move of an id, legal or not; raises IllegalMoveError where there is none."""
    slot, rest = divmod(action - _FIRST_BUY, _SLOT)
    if not 0 <= action < ACTIONS or slot >= len(state.offered):
        raise IllegalMoveError(
            action, state.text, f"no move has this id: 0 to {_FIRST_BUY + len(state.offered) * _SLOT - 1}"
        )
    if action == 0:
        return Move.parse(">")
    if action < _FIRST_BUY:
        return Move.parse(f"*{SQUARES[action - 1]}")
    orientation, cell = divmod(rest, CELLS)
    return Move.parse(f"{state.offered[slot]}{orientation}{SQUARES[cell]}")
