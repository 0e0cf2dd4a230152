"""Deals: an edition and a circle of all patches."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from arena_engine.game import DealError
from arena_engine.patchwork.patches import LETTERS
from arena_engine.patchwork.track import EDITIONS

LAST = "A"
"""The patch the neutral token stands directly clockwise of."""


def make_circle(shuffle: Callable[[Sequence[str]], Sequence[str]]) -> str:
    """A circle from the neutral token on: the other patches, in the order of ``LETTERS``, shuffled, then ``A``."""
    return "".join(shuffle([letter for letter in LETTERS if letter != LAST])) + LAST


def shuffled_circle(source: random.Random) -> str:
    """A circle from a random generator."""
    return make_circle(lambda letters: source.sample(letters, len(letters)))


def check_circle(circle: str) -> str:
    """The circle itself; raises DealError."""
    for letter in circle:
        if letter not in LETTERS:
            raise DealError(circle, "", f"{letter!r} is no patch: A-Z and a-g")
    for letter in LETTERS:
        if circle.count(letter) != 1:
            raise DealError(
                circle, "", f"a circle has each of the 33 patches once; {letter} {circle.count(letter)} times"
            )
    if circle[-1] != LAST:
        raise DealError(circle, "", f"a circle starts clockwise of patch {LAST}, so {LAST} is last")
    return circle


def check_edition(edition: str) -> str:
    """The edition itself; raises DealError."""
    if edition not in EDITIONS:
        raise DealError(edition, "", f"unknown edition; known: {', '.join(EDITIONS)}")
    return edition
