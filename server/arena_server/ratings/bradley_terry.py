"""Bradley-Terry with a seat term: strengths that do not depend on the order of the games, with honest errors.

The odds that one does better than another are exp(its strength + its seat - the other's strength - the other's seat);
a draw is half a win. Every strength and every seat has one more, imagined game: drawn against an average one. So
whoever won all games has a finite strength, and bots that no chain of games links can still be listed.

Only differences of strengths are known. Anchors are entrants whose values somebody has fixed, so that fits of other
games compare: one anchor moves the whole scale, several also keep their distances, whatever they played. Errors are
then of the difference to the anchors.

Games of one pairing share a deal and are not independent. How much the results of whole pairings scatter, compared
with independent games of these probabilities, is measured over all of them, and scales every error (``Fit.scatter``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena_server.ratings.estimates import Estimate
from arena_server.ratings.matrices import backward, cholesky, dot, forward, inverse, transposed
from arena_server.ratings.pairs import Cell, Pair

ELO = 400 / math.log(10)
"""Elo points in one unit of log odds."""
_STEPS = 100
_LONGEST_STEP = 2.0
_EXACT = 1e-10
_EXPECTED_SCATTER = 2.0  # variance of games' results that speaks for a scatter of 1, before any was seen


@dataclass(frozen=True, slots=True)
class Fit:
    """Strengths of entrants and advantages of seats.

    Attributes:
        logits: entrants' strengths, then the seats', as log odds.
        entrants: how many there are.
        met: indices of the entrants that were compared with any.
        unknowns: of each of the logits, which unknown it moves with: anchors share one.
        columns: of the lower triangle whose square is the information about the unknowns, see ``matrices.transposed``.
        covariance: of ``logits``, the scatter included.
        scatter: variance of pairings' results over that of independent games, for strengths and for seats.
        anchors: values that are fixed, in Elo, by entrant; none: the mean of those that met any is 0.
    """

    logits: tuple[float, ...]
    entrants: int
    met: tuple[int, ...]
    unknowns: Sequence[int]
    columns: Sequence[Sequence[float]]
    covariance: Sequence[Sequence[float]]
    scatter: tuple[float, float]
    anchors: Mapping[int, float]

    def strengths(self) -> tuple[Estimate | None, ...]:
        """In Elo, on the scale of the anchors, else above the mean of those that met any; None for the others."""
        level = self._level
        count = len(level) or 1
        shared = [math.fsum(row[place] for place in level) / count for row in self.covariance]
        common = math.fsum(shared[place] for place in level) / count
        found: list[Estimate | None] = [None] * self.entrants
        for place, value in self.on_scale(self.logits).items():
            variance = self.covariance[place][place] - 2 * shared[place] + common
            found[place] = Estimate(value, ELO * math.sqrt(variance))
        return tuple(found)

    def on_scale(self, logits: Sequence[float]) -> dict[int, float]:
        """Logits in Elo as ``strengths`` gives them, of each entrant that met any."""
        level = self._level
        middle = math.fsum(logits[place] for place in level) / (len(level) or 1)
        start = self.anchors[level[0]] if self.anchors else 0.0
        return {place: self.anchors.get(place, start + ELO * (logits[place] - middle)) for place in self.met}

    @property
    def _level(self) -> Sequence[int]:
        """The entrants whose mean all others are measured from: an anchor, which stands for all of them."""
        return self.met if not self.anchors else (min(self.anchors),)

    def drawn(self, normals: Sequence[float]) -> list[float]:
        """Strengths as they may be, in logits, from as many standard normal numbers as there are unknowns."""
        spread = math.sqrt(self.scatter[0])
        off = backward(self.columns, normals)
        moved = zip(self.logits, self.unknowns, strict=True)
        return [logit + spread * off[unknown] for logit, unknown in moved][: self.entrants]

    def difference(self, one: int, other: int) -> Estimate:
        """In Elo, of the one above the other."""
        return self._combined({one: 1.0, other: -1.0})

    def seat(self, seat: int) -> Estimate:
        """In Elo, above the mean of the other seats."""
        seats = len(self.logits) - self.entrants
        return self._combined(
            {self.entrants + other: 1.0 if other == seat else -1 / (seats - 1) for other in range(seats)}
        )

    def surprises(self, pair: Pair) -> dict[int, float]:
        """By how much the results of a pairing exceed their expectation, by place in ``logits``."""
        return _surprises(pair, self.logits, self.entrants)

    def moved(self, gradient: Sequence[float]) -> list[float]:
        """The entrants' strengths in logits, one step of Newton's method from here."""
        roots = _roots(self.scatter, self.entrants, len(self.logits))
        scaled = [change / root for change, root in zip(gradient, roots, strict=True)]
        rows = self.covariance[: self.entrants]
        return [logit + dot(row, scaled) / root for logit, row, root in zip(self.logits, rows, roots, strict=False)]

    def _combined(self, weights: Mapping[int, float]) -> Estimate:
        places, shares = list(weights), list(weights.values())
        value = dot([self.logits[place] for place in places], shares)
        rows = ([self.covariance[row][place] for place in places] for row in places)
        variance = dot([dot(row, shares) for row in rows], shares)
        return Estimate(ELO * value, ELO * math.sqrt(variance))


def fit(pairs: Sequence[Pair], entrants: int, seats: int, anchors: Mapping[int, float] | None = None) -> Fit:
    """The most likely strengths, by Newton's method.

    Args:
        pairs: every comparison, by pairing.
        entrants: how many there are.
        seats: of a game.
        anchors: values that are fixed, in Elo, of entrants that were compared with any.
    """
    cells, fixed = _cells(pairs), dict(anchors or {})
    logits, unknowns = _beginning(entrants + seats, fixed)
    for _ in range(_STEPS):
        gradient, information = _joined(*_derivatives(cells, logits, entrants), unknowns)
        factor = cholesky(information)
        columns = transposed(factor)
        step = backward(columns, forward(factor, gradient))
        longest = max(map(abs, step))
        if longest < _EXACT:
            break
        shorter = min(1.0, _LONGEST_STEP / longest)
        logits = [logit + shorter * step[unknown] for logit, unknown in zip(logits, unknowns, strict=True)]
    scatter = _scatter(pairs, logits, entrants, free=len(set(unknowns)) - seats)
    met = sorted({place for one, _, other, _ in cells for place in (one, other)})
    joint = inverse(factor)
    covariance = _scaled([[joint[row][column] for column in unknowns] for row in unknowns], entrants, scatter)
    return Fit(tuple(logits), entrants, tuple(met), unknowns, columns, covariance, scatter, fixed)


def _beginning(size: int, anchors: Mapping[int, float]) -> tuple[list[float], list[int]]:
    """Logits to begin with, level but for anchors, and which unknown each moves with: anchors with the first one."""
    middle = math.fsum(anchors.values()) / (len(anchors) or 1)
    logits = [(anchors[place] - middle) / ELO if place in anchors else 0.0 for place in range(size)]
    heads = [min(anchors) if place in anchors else place for place in range(size)]
    numbers = {head: number for number, head in enumerate(sorted(set(heads)))}
    return logits, [numbers[head] for head in heads]


def _joined(
    gradient: Sequence[float], information: Sequence[Sequence[float]], unknowns: Sequence[int]
) -> tuple[list[float], list[list[float]]]:
    """The derivatives by the unknowns: what moves together is added up."""
    size = max(unknowns) + 1
    slopes, curves = [0.0] * size, [[0.0] * size for _ in range(size)]
    for row, slope, values in zip(unknowns, gradient, information, strict=True):
        slopes[row] += slope
        for column, value in zip(unknowns, values, strict=True):
            curves[row][column] += value
    return slopes, curves


def _cells(pairs: Sequence[Pair]) -> dict[Cell, tuple[int, float]]:
    """Games and score of the one, sorted: the order of the games shall not matter to the last bit."""
    cells: dict[Cell, tuple[int, float]] = {}
    for met in (met for pair in pairs for met in pair):
        cell, score = met.cell, met.score
        if met.one > met.other:
            cell, score = (met.other, met.other_seat, met.one, met.one_seat), 1 - score
        games, total = cells.get(cell, (0, 0.0))
        cells[cell] = games + 1, total + score
    return dict(sorted(cells.items()))


def _expected(logits: Sequence[float], cell: Cell, entrants: int) -> float:
    one, one_seat, other, other_seat = cell
    return _probability(logits[one] + logits[entrants + one_seat] - logits[other] - logits[entrants + other_seat])


def _probability(logit: float) -> float:
    return 0.5 + 0.5 * math.tanh(0.5 * logit)


def _derivatives(
    cells: Mapping[Cell, tuple[int, float]], logits: Sequence[float], entrants: int
) -> tuple[list[float], list[list[float]]]:
    """Gradient and information (the negative second derivatives) of the log likelihood."""
    gradient, information = _imagined(logits)
    for cell, (games, score) in cells.items():
        probability = _expected(logits, cell, entrants)
        surprise, weight = score - games * probability, games * probability * (1 - probability)
        signed = _signed(cell, entrants)
        for place, sign in signed:
            gradient[place] += sign * surprise
            row = information[place]
            for column, other_sign in signed:
                row[column] += sign * other_sign * weight
    return gradient, information


def _imagined(logits: Sequence[float]) -> tuple[list[float], list[list[float]]]:
    """What the imagined games add: each drawn against an average one."""
    probabilities = [_probability(logit) for logit in logits]
    information = [[0.0] * len(logits) for _ in logits]
    for place, probability in enumerate(probabilities):
        information[place][place] = probability * (1 - probability)
    return [0.5 - probability for probability in probabilities], information


def _signed(cell: Cell, entrants: int) -> tuple[tuple[int, float], ...]:
    one, one_seat, other, other_seat = cell
    return (one, 1.0), (other, -1.0), (entrants + one_seat, 1.0), (entrants + other_seat, -1.0)


def _scatter(pairs: Sequence[Pair], logits: Sequence[float], entrants: int, free: int) -> tuple[float, float]:
    """Observed over expected squares of the pairings' surprises, for strengths (so many are free) and for seats."""
    expected, observed = 0.0, [0.0, 0.0]
    for pair in pairs:
        probabilities = [_expected(logits, met.cell, entrants) for met in pair]
        expected += sum(2 * probability * (1 - probability) for probability in probabilities)
        for place, surprise in _surprises(pair, logits, entrants).items():
            observed[place >= entrants] += surprise**2
    others = len(logits) - entrants - 1  # of a seat
    freedom = len(pairs) * others
    strengths, seats = (
        (seen + _EXPECTED_SCATTER) / (expected * max(0.0, 1 - fitted / (freedom or 1)) + _EXPECTED_SCATTER)
        for seen, fitted in zip(observed, (free - 1, others), strict=True)
    )
    return strengths, seats


def _surprises(pair: Pair, logits: Sequence[float], entrants: int) -> dict[int, float]:
    surprises: dict[int, float] = {}
    for met in pair:
        surprise = met.score - _expected(logits, met.cell, entrants)
        for place, sign in _signed(met.cell, entrants):
            surprises[place] = surprises.get(place, 0.0) + sign * surprise
    return surprises


def _roots(scatter: tuple[float, float], entrants: int, size: int) -> list[float]:
    return [math.sqrt(scatter[place >= entrants]) for place in range(size)]


def _scaled(covariance: Sequence[Sequence[float]], entrants: int, scatter: tuple[float, float]) -> list[list[float]]:
    roots = _roots(scatter, entrants, len(covariance))
    return [
        [value * root * other for value, other in zip(row, roots, strict=True)]
        for row, root in zip(covariance, roots, strict=True)
    ]
