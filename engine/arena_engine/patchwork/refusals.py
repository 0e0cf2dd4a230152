"""Why the rules refuse a move, in words."""

from __future__ import annotations

from arena_engine.patchwork.moves import Move
from arena_engine.patchwork.notation import SEATS, Fields
from arena_engine.patchwork.patches import PATCHES
from arena_engine.patchwork.quilt import squares


def why_not(fields: Fields, move: Move) -> str:
    """The most helpful reason why an illegal move of the seat to move is illegal."""
    seat = SEATS[fields.mover]
    if fields.due and move.kind != "leather":
        return f"seat {seat} must place leather first: * and an empty square, like *e5"
    if move.kind == "leather":
        return _overlap(fields, move) if fields.due else f"seat {seat} has no leather to place now"
    if move.patch in fields.circle[:3]:
        return _purchase(fields, move)
    if move.patch in fields.circle:
        return f"patch {move.patch} is not for sale; for sale: {', '.join(fields.circle[:3])}"
    return f"patch {move.patch} is on a quilt already; for sale: {', '.join(fields.circle[:3]) or 'none'}"


def _purchase(fields: Fields, move: Move) -> str:
    buttons = fields.players[fields.mover].buttons
    if move.cost > buttons:
        return f"patch {move.patch} costs {move.cost}, seat {SEATS[fields.mover]} has {buttons} buttons"
    look = PATCHES[move.patch].looks[move.orientation]
    if look != move.orientation:
        return (
            f"orientation {move.orientation} of patch {move.patch} looks the same as {look}:"
            f" write {move.patch}{look}{move.square}"
        )
    return _overlap(fields, move) if move.cells else _outside(move)


def _outside(move: Move) -> str:
    rows = next(look.rows for look in PATCHES[move.patch].orientations if look.number == move.orientation)
    return (
        f"patch {move.patch} in orientation {move.orientation} is {len(rows[0])} wide and {len(rows)} high:"
        f" from {move.square} it would leave the quilt"
    )


def _overlap(fields: Fields, move: Move) -> str:
    taken = squares(move.cells & fields.players[fields.mover].quilt)
    return f"{', '.join(taken)} {'is' if len(taken) == 1 else 'are'} covered already"
