"""How doubtful an order is, computed alike on every machine.

A C library's ``erfc`` and ``exp`` differ in the last bit between machines, and a table that was chosen by that bit
would not verify on another one. Here are additions, multiplications and divisions alone, which IEEE 754 rounds alike
everywhere.
"""

from __future__ import annotations

_FACTORS = (
    0.17087277,
    -0.82215223,
    1.48851587,
    -1.13520398,
    0.27886807,
    -0.18628806,
    0.09678418,
    0.37409196,
    1.00002368,
    -1.26551223,
)
_LEAST = -700.0  # e to that power is next to nothing
_SQUARINGS = 10
_PARTS = 1024  # 2 to that power


def doubt(gap: float) -> float:
    """The complementary error function of 0 or more, to 2e-7 of its value up to 10 (Numerical Recipes, ``erfcc``)."""
    near = 1 / (1 + gap / 2)
    power = 0.0
    for factor in _FACTORS:
        power = power * near + factor
    return near * _exponential(power - gap * gap)


def _exponential(power: float) -> float:
    """E to a power of 0 or less: by Pade of a small part of it, squared again and again."""
    if power < _LEAST:
        return 0.0
    part = power / _PARTS
    even, odd = 1 + part * part / 10, part / 2 + part * part * part / 120
    found = (even + odd) / (even - odd)
    for _ in range(_SQUARINGS):
        found *= found
    return found
