"""Which ranks are possible, given how sure the strengths are."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import shake_256

from arena_server.ratings.bradley_terry import Fit
from arena_server.ratings.estimates import STANDARD, middle95

DRAWS = 1000
"""Tables drawn from the joint uncertainty of the strengths."""
_BYTES = 8
_BITS = 53


def rank_ranges(fit: Fit, seed: bytes) -> dict[int, tuple[int, int]]:
    """The best and the worst rank with 95 % between them, of each entrant that met any.

    Args:
        fit: the strengths.
        seed: the same one draws the same tables.
    """
    seen: dict[int, list[int]] = {place: [] for place in fit.met}
    for normals in _normals(seed, DRAWS, len(fit.columns)):
        strengths = fit.drawn(normals)
        for rank, place in enumerate(sorted(fit.met, key=strengths.__getitem__, reverse=True), 1):
            seen[place].append(rank)
    return {place: middle95(ranks) for place, ranks in seen.items()}


def _normals(seed: bytes, rows: int, columns: int) -> Iterator[list[float]]:
    """Standard normal numbers that are the same on every machine and in every version of Python."""
    data = shake_256(seed).digest(_BYTES * rows * columns)
    for start in range(0, len(data), _BYTES * columns):
        yield [_normal(data[place : place + _BYTES]) for place in range(start, start + _BYTES * columns, _BYTES)]


def _normal(data: bytes) -> float:
    return STANDARD.inv_cdf(((int.from_bytes(data) >> (8 * _BYTES - _BITS)) + 0.5) / 2**_BITS)
