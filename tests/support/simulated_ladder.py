"""Ladders and round-robins without games: after how many games does the order of the bots stay right?

Both are read alike: by Bradley-Terry, after every few games, against the true order. The results are those of
``simulated_results``: a first seat that is worth something, and deals that both games of a pair depend on.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import NDArray
from simulated_results import Setting

from arena_server.formats import plan
from arena_server.formats.matchmaking import NOBODY, Call, Past, Rules, tables
from arena_server.formats.tables import Table
from arena_server.model import Entrant, Spec
from arena_server.ratings.pairs import Pair
from arena_server.ratings.trueskill import INITIAL, update

LEVEL = 0.95
"""Kendall's tau that is to be reached and kept."""
_CLOSE = 1e-7
_LONGEST_STEP = 2.0
_DAY = 25


@dataclass
class Reading:
    """Strengths as ``ratings.bradley_terry`` finds them, quick to find again after a few more games."""

    bots: int
    games: NDArray[np.float64] = field(init=False)
    won: NDArray[np.float64] = field(init=False)
    logits: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.games = np.zeros((self.bots, self.bots))  # of the row in the first seat against the column
        self.won = np.zeros((self.bots, self.bots))
        self.logits = np.zeros(self.bots + 2)

    def add(self, pair: Pair) -> None:
        for met in pair:
            assert (met.one_seat, met.other_seat) == (0, 1)
            self.games[met.one, met.other] += 1
            self.won[met.one, met.other] += met.score

    def strengths(self) -> NDArray[np.float64]:
        """In logits."""
        longest = math.inf
        while longest > _CLOSE:
            step = self._step()
            longest = float(np.abs(step).max())
            self.logits += step * min(1.0, _LONGEST_STEP / longest)
        return self.logits[: self.bots]

    def _step(self) -> NDArray[np.float64]:
        """Of Newton's method."""
        bots, seats = self.logits[: self.bots], self.logits[self.bots :]
        chances = 1 / (1 + np.exp(bots[None, :] - bots[:, None] + seats[1] - seats[0]))
        surprise, weight = self.won - self.games * chances, self.games * chances * (1 - chances)
        imagined = 1 / (1 + np.exp(-self.logits))
        gradient = 0.5 - imagined
        gradient[: self.bots] += surprise.sum(axis=1) - surprise.sum(axis=0)
        gradient[self.bots :] += surprise.sum(), -surprise.sum()
        size = self.bots + 2
        information = np.zeros((size, size))
        information[: self.bots, : self.bots] = -weight - weight.T
        of_first = weight.sum(axis=1) - weight.sum(axis=0)
        for seat, sign in (self.bots, 1.0), (self.bots + 1, -1.0):
            information[seat, : self.bots] = information[: self.bots, seat] = sign * of_first
        seated = weight.sum()
        information[self.bots :, self.bots :] = (seated, -seated), (-seated, seated)
        own = np.concatenate([weight.sum(axis=1) + weight.sum(axis=0), (seated, seated)])
        information[np.diag_indices(size)] = own + imagined * (1 - imagined)
        return np.asarray(np.linalg.solve(information, gradient), np.float64)


def tau(one: Sequence[float] | NDArray[np.float64], other: Sequence[float] | NDArray[np.float64]) -> float:
    """Kendall's, of two lists without ties."""
    first, second = np.asarray(one), np.asarray(other)
    alike = np.sign(first[:, None] - first[None, :]) * np.sign(second[:, None] - second[None, :])
    return float(alike.sum() / (len(first) * (len(first) - 1)))


@dataclass(frozen=True, slots=True)
class Race:
    """A ladder and a round-robin of the same bots.

    Attributes:
        setting: of the bots, their results, and how many pairs each two play in the round-robin: the horizon.
        room: tables that the server has room for.
        rules: of the ladder.
    """

    setting: Setting
    room: int
    rules: Rules = field(default_factory=Rules)

    def needed(self, seed: int) -> tuple[int, int]:
        """Games of the ladder and of the round-robin, until tau was reached for good.

        More than the horizon where it was below at the end.
        """
        ladder, round_robin = (
            max((number for number, value in enumerate(taus, 1) if value < LEVEL), default=0) + 1
            for taus in self.taus(seed)
        )
        return 2 * self.setting.bots * ladder, 2 * self.setting.bots * round_robin

    def taus(self, seed: int) -> tuple[list[float], list[float]]:
        """Kendall's tau of the ladder and of the round-robin, each time that as many tables as bots were played."""
        dice = random.Random(seed)
        real = self.setting.strengths(dice)
        horizon = self.setting.pairs * self.setting.bots * (self.setting.bots - 1) // 2
        return (
            self._taus(real, self._ladder(real, horizon, random.Random(f"ladder {seed}"))),
            self._taus(real, self._round_robin(real, random.Random(f"round-robin {seed}"))),
        )

    def _taus(self, real: Sequence[float], pairs: Iterable[Pair]) -> list[float]:
        reading, found = Reading(self.setting.bots), []
        for number, pair in enumerate(pairs, 1):
            reading.add(pair)
            if number % self.setting.bots == 0:
                found.append(tau(reading.strengths(), real))
        return found

    def _round_robin(self, real: Sequence[float], dice: random.Random) -> Iterator[Pair]:
        entrants = tuple(Entrant(f"bot{number}", "1", "00") for number in range(self.setting.bots))
        pairings = plan(Spec(entrants, games=2 * self.setting.pairs), ())
        assert pairings
        for pairing in pairings:
            yield self._played(pairing.entrants, real, dice)

    def _ladder(self, real: Sequence[float], horizon: int, dice: random.Random) -> Iterator[Pair]:
        owners = (NOBODY,) * self.setting.bots
        return ladder(owners, lambda table: self._played(table, real, dice), horizon, self.room, self.rules, dice)

    def _played(self, table: Table, real: Sequence[float], dice: random.Random) -> Pair:
        one, other = table
        return self.setting.pair(one, other, real[one] - real[other], dice)


def ladder(  # noqa: PLR0917 - a world and its chances
    owners: Sequence[int], play: Callable[[Table], Pair], most: int, room: int, rules: Rules, dice: random.Random
) -> Iterator[Pair]:
    """The results of so many tables, which take as long as chance will have it; a day is 25 tables for each bot."""
    ratings, past = [INITIAL] * len(owners), Past()
    going_on: list[tuple[float, int, Table]] = []
    clock, order = 0.0, count()
    for over in range(most):
        busy = frozenset(one for _, _, table in going_on for one in table)
        strengths, day = [rating.mu for rating in ratings], 2 * over // (_DAY * len(owners))
        planned = tables(Call(dict(enumerate(owners)), strengths, day, room - len(going_on), busy), past, rules)
        past.add(planned, day)
        for table in planned:
            heapq.heappush(going_on, (clock + dice.expovariate(1), next(order), table))
        clock, _, table = heapq.heappop(going_on)
        yield (pair := play(table))
        for met in pair:
            ranks = (1, 2) if met.score else (2, 1)
            rated = update([ratings[met.one], ratings[met.other]], ranks, draw_probability=0)
            ratings[met.one], ratings[met.other] = rated.ratings
