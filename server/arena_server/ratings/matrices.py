"""Symmetric positive definite matrices, in plain Python: 200 rows are inverted in well under a second."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

Vector = Sequence[float]
Matrix = Sequence[Vector]


def dot(one: Vector, other: Vector) -> float:
    """Sum of products, up to the end of the shorter one."""
    total: float = sum(map(mul, one, other))
    return total


def cholesky(matrix: Matrix) -> list[list[float]]:
    """The rows of the lower triangle L with L L' = matrix, each as long as it needs to be."""
    rows: list[list[float]] = []
    for place, given in enumerate(matrix):
        row: list[float] = []
        for column in range(place):
            row.append((given[column] - dot(row, rows[column])) / rows[column][column])
        row.append(math.sqrt(given[place] - dot(row, row)))
        rows.append(row)
    return rows


def transposed(lower: Matrix) -> list[list[float]]:
    """The columns of a lower triangle, each from its end up to the diagonal: what ``backward`` reads."""
    size = len(lower)
    return [[lower[row][column] for row in range(size - 1, column - 1, -1)] for column in range(size)]


def forward(lower: Matrix, vector: Vector) -> list[float]:
    """The x with L x = vector."""
    solved: list[float] = []
    for row, value in zip(lower, vector, strict=True):
        solved.append((value - dot(row, solved)) / row[-1])
    return solved


def backward(columns: Matrix, vector: Vector) -> list[float]:
    """The x with L' x = vector, L given by ``transposed``."""
    solved: list[float] = []
    for column, value in zip(reversed(columns), reversed(vector), strict=True):
        solved.append((value - dot(column, solved)) / column[-1])
    return solved[::-1]


def inverse(lower: Matrix) -> list[list[float]]:
    """The inverse of L L'."""
    columns, size = transposed(lower), len(lower)
    units = ([float(row == place) for row in range(size)] for place in range(size))
    return [backward(columns, forward(lower, unit)) for unit in units]
