"""Bootstrap over pairs: how far strengths move when the pairs are drawn again, with replacement, from those played."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from hashlib import shake_256
from itertools import chain

from arena_server.ratings.bradley_terry import Fit
from arena_server.ratings.estimates import middle95
from arena_server.ratings.pairs import Pair

RESAMPLES = 1000


def resampled(fit: Fit, pairs: Sequence[Pair], seed: bytes) -> dict[int, tuple[float, float]]:
    """Bounds of 95 % of the resampled strengths, in Elo as ``Fit.strengths``, of each entrant that met any.

    It assumes nothing about the results, but needs many: where few pairs were played, or all ended alike, it is too
    narrow. Each resample moves the strengths by one step of Newton's method.

    Args:
        fit: of the pairs.
        pairs: at least one.
        seed: the same one draws the same pairs.
    """
    surprises = [list(fit.surprises(pair).items()) for pair in pairs]
    together = [0.0] * len(fit.logits)
    for place, surprise in chain.from_iterable(surprises):
        together[place] += surprise
    seen: dict[int, list[float]] = {place: [] for place in fit.met}
    for drawn in _draws(seed, len(pairs)):
        gradient = [-surprise for surprise in together]
        for number in drawn:
            for place, surprise in surprises[number]:
                gradient[place] += surprise
        for place, strength in fit.on_scale(fit.moved(gradient)).items():
            seen[place].append(strength)
    return {place: middle95(strengths) for place, strengths in seen.items()}


def _draws(seed: bytes, count: int) -> Iterator[list[int]]:
    data = shake_256(seed + b"resampling").digest(4 * count * RESAMPLES)
    for numbers in struct.iter_unpack(f"<{count}I", data):
        yield [number * count >> 32 for number in numbers]
