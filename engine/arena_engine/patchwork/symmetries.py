"""The eight symmetries of a quilt: what is turned or mirrored plays on as before.

Symmetries are numbered as orientations are: ``0..7`` = 4 x mirrored + clockwise quarter turns, the quilt being mirrored
left-right first. Each seat's quilt may be turned alone, for no rule compares the two.
"""

from __future__ import annotations

from functools import cache

from arena_engine.game import GameError
from arena_engine.patchwork.encoding import ACTIONS, FIRST_BUY, FIRST_LEATHER, SLOT
from arena_engine.patchwork.notation import SEATS, parse_position
from arena_engine.patchwork.patches import PATCHES, Orientation
from arena_engine.patchwork.quilt import CELLS, SIDE
from arena_engine.patchwork.state import State

SYMMETRIES = range(8)
IDENTITY = 0


@cache
def cells(symmetry: int) -> tuple[int, ...]:
    """Where each of the 81 cells goes; raises GameError for an unknown symmetry."""
    if symmetry not in SYMMETRIES:
        raise GameError(symmetry, "", "symmetries are 0 to 7")
    mirrored, turns = divmod(symmetry, 4)
    places = [(row, SIDE - 1 - column if mirrored else column) for row in range(SIDE) for column in range(SIDE)]
    for _ in range(turns):
        places = [(column, SIDE - 1 - row) for row, column in places]
    return tuple(SIDE * row + column for row, column in places)


@cache
def inverse(symmetry: int) -> int:
    """The symmetry that undoes it."""
    there = cells(symmetry)
    return next(back for back in SYMMETRIES if all(cells(back)[there[cell]] == cell for cell in range(CELLS)))


@cache
def permutation(offered: str, symmetry: int) -> tuple[int, ...]:
    """Where each action id goes when the mover's quilt is turned.

    Args:
        offered: the patches for sale, whose shapes decide; see ``State.offered``.
        symmetry: 0 to 7.

    Returns:
        2,026 different ids: move ``i`` on the quilt is move ``permutation[i]`` on the turned quilt. Ids that no
        position allows stay where they are.

    Raises:
        GameError: no such patch or symmetry.
    """
    ids = list(range(ACTIONS))
    ids[FIRST_LEATHER:FIRST_BUY] = [FIRST_LEATHER + cell for cell in cells(symmetry)]
    for slot, letter in enumerate(offered):
        first = FIRST_BUY + slot * SLOT
        ids[first : first + SLOT] = [first + place for place in _placements(letter, symmetry)]
    return tuple(ids)


@cache
def _placements(letter: str, symmetry: int) -> tuple[int, ...]:
    """Where each of the 648 ``orientation * 81 + cell`` of a patch goes."""
    if letter not in PATCHES:
        raise GameError(letter, "", "no such patch: A-Z and a-g")
    going = cells(symmetry)
    looks = PATCHES[letter].orientations
    ids = {place: look.number * CELLS + cell for look in looks for cell, place in _covered(look)}
    turned = list(range(SLOT))
    for place, action in ids.items():
        turned[action] = ids[frozenset(going[cell] for cell in place)]
    return tuple(turned)


def _covered(look: Orientation) -> list[tuple[int, frozenset[int]]]:
    """Each corner at which the look lies inside the quilt, with the cells it covers there."""
    corners = [cell for cell in range(CELLS) if look.anchors >> cell & 1]
    return [(corner, frozenset(corner + offset for offset in look.offsets)) for corner in corners]


def turned(state: State, seat: str, symmetry: int) -> State:
    """The position with one seat's quilt turned; raises GameError for an unknown seat or symmetry."""
    letters = state.player(seat).letters.to_bytes(CELLS, "little")
    going = bytearray(CELLS)
    for cell, there in enumerate(cells(symmetry)):
        going[there] = letters[cell]
    quilt = sum(1 << cell for cell, letter in enumerate(going) if letter)
    fields = parse_position(state.text)
    players = [
        player._replace(quilt=quilt, letters=int.from_bytes(going, "little")) if owner == seat else player
        for owner, player in zip(SEATS, fields.players, strict=True)
    ]
    return State(*fields._replace(players=(players[0], players[1])))
