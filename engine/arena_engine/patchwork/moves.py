"""Moves: one object for each text, so ``is``, ``==`` and the text agree, also after pickling."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from arena_engine.game import MoveSyntaxError
from arena_engine.patchwork.patches import PATCHES, Orientation, Patch
from arena_engine.patchwork.quilt import CELL_OF, SQUARES

_SYNTAX = re.compile(r"(?P<patch>[A-Za-g])(?P<orientation>[0-7])(?P<square>[a-i][1-9])|\*(?P<leather>[a-i][1-9])")
_HELP = "a move is > (advance), like K6c4 (patch, orientation 0-7, square a1-i9) or like *e5 (leather)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Move:
    """A move, apart from any position.

    Attributes:
        text: the move in notation, as ``str(move)``.
        kind: ``"advance"``, ``"buy"`` or ``"leather"``.
        patch: the patch's letter, ``"*"`` for leather, empty for an advance.
        orientation: 0..7; 0 where there is nothing to turn.
        square: the top-left corner of the bounding box, like ``"c4"``; empty for an advance.
        cells: mask of the covered cells; 0 for an advance and for what no position allows (outside the quilt, or an
            orientation that has a lower number).
        letters: the covered cells as bytes of the patch's letter, cell 0 lowest (see ``Player.letters``).
        cost: buttons to pay.
        time: spaces a purchase moves the token; 0 for an advance, whose length depends on the position.
        income: buttons it adds to each later income.
    """

    text: str
    kind: Literal["advance", "buy", "leather"]
    patch: str = ""
    orientation: int = 0
    square: str = ""
    cells: int = 0
    letters: int = 0
    cost: int = 0
    time: int = 0
    income: int = 0

    @staticmethod
    def parse(text: str) -> Move:
        """The move of that text, whether or not some position allows it; raises MoveSyntaxError."""
        move = _MOVES.get(text)
        return move if move is not None else _MOVES.setdefault(text, _make(text))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Move.parse({self.text!r})"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Move.parse, (self.text,)


def _make(text: str) -> Move:
    """A placement asked for the first time, or a move that follows the syntax but that no position allows."""
    match = _SYNTAX.fullmatch(text)
    if match is None:
        raise MoveSyntaxError(text, "", _HELP)
    patch = PATCHES[match["patch"]]
    if BUYS[patch.letter] and text in _MOVES:  # the former fills the latter
        return _MOVES[text]
    return Move(
        text,
        "buy",
        patch.letter,
        int(match["orientation"]),
        match["square"],
        cost=patch.cost,
        time=patch.time,
        income=patch.income,
    )


def _placements(patch: Patch, orientation: Orientation) -> tuple[Move, ...]:
    """The placements of one look, by cell; those outside the quilt are never selected and hold an advance."""
    mask = sum(1 << offset for offset in orientation.offsets)
    letters = sum(ord(patch.letter) << 8 * offset for offset in orientation.offsets)
    name = f"{patch.letter}{orientation.number}"
    return tuple(
        Move(
            name + square,
            "buy",
            patch.letter,
            orientation.number,
            square,
            mask << cell,
            letters << 8 * cell,
            patch.cost,
            patch.time,
            patch.income,
        )
        if orientation.anchors >> cell & 1
        else ADVANCE
        for cell, square in enumerate(SQUARES)
    )


ADVANCE = Move(">", "advance")

LEATHER = tuple(
    Move("*" + square, "leather", "*", 0, square, 1 << cell, ord("*") << 8 * cell) for square, cell in CELL_OF.items()
)
"""The leather placements, by cell."""

_MOVES = {move.text: move for move in (ADVANCE, *LEATHER)}


class _Buys(dict[str, tuple[tuple[Orientation, tuple[Move, ...]], ...]]):
    """Made for a patch when first asked for: all at once would take longer than all else at import."""

    def __missing__(self, letter: str) -> tuple[tuple[Orientation, tuple[Move, ...]], ...]:
        patch = PATCHES[letter]
        looks = tuple((orientation, _placements(patch, orientation)) for orientation in patch.orientations)
        for _, moves in looks:
            _MOVES.update((move.text, move) for move in moves if move is not ADVANCE)
        return self.setdefault(letter, looks)


BUYS = _Buys()
"""For each patch, by ``BUYS[letter]``, its orientations, each with its placements by cell."""
