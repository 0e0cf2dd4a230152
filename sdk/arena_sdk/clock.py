"""The time a bot has for a move."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from time import monotonic
from types import MappingProxyType

OVERHEAD_S = 0.010
OVERHEAD_SHARE = 0.10
"""Kept back of every move, the larger one of both: the way of the message, the garbage collector, other processes."""
GAME_MOVES = 25
LAST_MOVES = 8
"""Own moves that a bank should last for, and for how many more it must last at any time."""
INCREMENT_SHARE = 0.8
"""Spent of an increment; the rest mends the bank."""
UNTIMED_S = 1.0
"""The advice where there is no limit, so that a bot that thinks until its budget ends does end."""


class Clock:
    """The time for one move, in seconds; it began when the request arrived.

    Attributes:
        deadline: the instant of ``time.monotonic()`` at which this bot loses on time; infinite when untimed.
        opponents: the banks of the other seats by letter, in seconds; empty where the time control has none.
    """

    def __init__(
        self,
        left: float = inf,
        budget: float | None = None,
        opponents: Mapping[str, float] = MappingProxyType({}),
        start: float | None = None,
    ) -> None:
        """Starts a clock; bots are given one, their tests make one.

        Args:
            left: seconds until the bot loses; infinite when untimed.
            budget: seconds it should use; None for the SDK's advice for a limit for each ply.
            opponents: the other seats' banks.
            start: the instant of ``time.monotonic()`` at which it began; None for now.
        """
        start = monotonic() if start is None else start
        self.deadline = start + left
        self.opponents = opponents
        self._end = start + min(left, advice(left) if budget is None else budget)

    @property
    def left(self) -> float:
        """Seconds until this bot loses on time, the referee's margin not counted; infinite when untimed."""
        return max(0.0, self.deadline - monotonic())

    @property
    def budget(self) -> float:
        """Seconds that this bot should still use for this move: the SDK's advice, never more than ``left``."""
        return max(0.0, self._end - monotonic())

    def __repr__(self) -> str:
        return f"<Clock left={self.left:.3f} budget={self.budget:.3f}>"


def advice(left: float, bank: float | None = None, increment: float = 0.0, moves: int = 0) -> float:
    """Seconds that a bot should use for a move.

    Args:
        left: seconds until it loses on time; infinite when untimed.
        bank: seconds of its bank; None where there is none.
        increment: seconds added to the bank after each ply.
        moves: moves it has made in this game.
    """
    if left == inf:
        return UNTIMED_S
    usable = max(left - max(OVERHEAD_S, OVERHEAD_SHARE * left), left / 2)
    if bank is None:
        return usable
    share = bank / max(GAME_MOVES - moves, LAST_MOVES)
    return min(usable, share + INCREMENT_SHARE * increment)
