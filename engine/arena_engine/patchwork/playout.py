"""Random play, drawn exactly as the compiled core draws it, so that a seed gives one game on every machine.

Three policies. ``uniform``: each legal move as likely as the others. ``slot``: the advance or one of the patches that
can be paid, then one of its placements. ``first_fit``: one of the patches that can be paid, where it lies nearest to
the top, then to the left; an advance only where there is none: quick, and far better play than the other two.
"""

from __future__ import annotations

from functools import cache
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from arena_engine.game import GameError
from arena_engine.patchwork.moves import ADVANCE, BUYS, LEATHER, Move
from arena_engine.patchwork.patches import PATCHES
from arena_engine.patchwork.quilt import CELLS, FULL, flags

if TYPE_CHECKING:
    from arena_engine.patchwork.position import Position

POLICIES = ("uniform", "slot", "first_fit")

TRIES = 4
"""How often a placement is guessed before the fitting ones are counted."""
ROOMY = 40
"""Empty cells above which it is guessed at all."""

_MASK = (1 << 64) - 1


class Tally(NamedTuple):
    """What came of playouts.

    Attributes:
        games: how many were played.
        wins: how many each seat won.
        points: the sum of each seat's scores.
    """

    games: int
    wins: tuple[int, int]
    points: tuple[int, int]


class SplitMix:
    """The generator of the compiled core: splitmix64.

    Args:
        seed: 64 bits.
    """

    def __init__(self, seed: int) -> None:
        self._state = seed

    def draw(self) -> int:
        """64 random bits."""
        self._state = mixed = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _MASK
        return mixed ^ mixed >> 31

    def below(self, n: int) -> int:
        """Uniform in 0 to n - 1: the upper half of draw * n; the few draws that would favour some are repeated."""
        while True:
            product = (self.draw() >> 32) * n
            if product & 0xFFFFFFFF >= (1 << 32) % n:
                return product >> 32


def check_policy(policy: str) -> str:
    """The policy itself; raises GameError."""
    if policy not in POLICIES:
        raise GameError(policy, "", "a policy is uniform, slot or first_fit")
    return policy


def choose(position: Position, policy: str, random: SplitMix) -> Move:
    """A move of the seat to move in an unfinished game."""
    me = position.player(position.seat_to_move)
    if position.leather_due:
        cells = list(compress(range(CELLS), flags(FULL ^ me.quilt)))
        return LEATHER[cells[0 if policy == "first_fit" else random.below(len(cells))]]
    payable = [letter for letter in position.offered if PATCHES[letter].cost <= me.buttons]
    if policy == "uniform":
        return _uniform(position, payable, me.quilt, random)
    while payable:
        n = random.below(len(payable) + (policy == "slot")) - (policy == "slot")
        if n < 0:
            break
        letter = payable.pop(n)
        move = _place(letter, me.quilt, random) if policy == "slot" else _first_fit(letter, me.quilt)
        if move is not None:
            return move
    return ADVANCE


@cache
def _places(letter: str) -> tuple[Move, ...]:
    """The placements of a patch by orientation and cell."""
    return tuple(move for _, moves in BUYS[letter] for move in moves if move is not ADVANCE)


def _is_roomy(quilt: int) -> bool:
    return CELLS - quilt.bit_count() > ROOMY


def _uniform(position: Position, payable: list[str], quilt: int, random: SplitMix) -> Move:
    if not payable:
        return ADVANCE
    if _is_roomy(quilt):
        for _ in range(TRIES):
            guess = _guess([_places(letter) for letter in payable], random)
            if not guess.cells & quilt:
                return guess
    moves = position.legal_moves()
    return moves[random.below(len(moves))] if len(moves) > 1 else ADVANCE


def _guess(places: list[tuple[Move, ...]], random: SplitMix) -> Move:
    """The advance or any of the placements."""
    n = random.below(1 + sum(map(len, places))) - 1
    for moves in places:
        if n < len(moves):
            return moves[n] if n >= 0 else ADVANCE
        n -= len(moves)
    raise AssertionError


def _place(letter: str, quilt: int, random: SplitMix) -> Move | None:
    places = _places(letter)
    if _is_roomy(quilt):
        for _ in range(TRIES):
            guess = places[random.below(len(places))]
            if not guess.cells & quilt:
                return guess
    empty = FULL ^ quilt
    fitting = [move for look, moves in BUYS[letter] for move in compress(moves, flags(look.fits(empty)))]
    return fitting[random.below(len(fitting))] if fitting else None


def _first_fit(letter: str, quilt: int) -> Move | None:
    empty = FULL ^ quilt
    fits = [(anchors & -anchors, moves) for look, moves in BUYS[letter] if (anchors := look.fits(empty))]
    if not fits:
        return None
    corner, moves = min(fits, key=lambda fit: fit[0])
    return moves[corner.bit_length() - 1]
