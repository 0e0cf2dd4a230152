"""How often each entrant won, and how sure that is."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from arena_server.ratings.estimates import wilson
from arena_server.ratings.pairs import Meeting


@dataclass(frozen=True, slots=True)
class WinRate:
    """Share of games won, a draw being half a win, with its 95 % interval."""

    share: float
    low: float
    high: float


def win_rates(meetings: Sequence[Meeting], entrants: int) -> list[WinRate | None]:
    """By entrant; None for one without a game.

    The interval is Wilson's, over fewer games where those of one deal go together.
    """
    points: list[dict[int, list[float]]] = [defaultdict(list) for _ in range(entrants)]
    for meeting in meetings:
        for seat, entrant in enumerate(meeting.entrants):
            points[entrant][meeting.pairing].append(_points(meeting, seat))
    return [_rate(list(by_deal.values())) for by_deal in points]


def _points(meeting: Meeting, seat: int) -> float:
    """1 for the first rank alone, half for sharing it, 0 for all else: as games are counted as won."""
    result = meeting.result
    if result.ranks[seat] != 1 or result.failures[seat]:
        return 0.0
    return 1.0 if result.ranks.count(1) == 1 else 0.5


def _rate(deals: Sequence[Sequence[float]]) -> WinRate | None:
    count = sum(map(len, deals))
    if not count:
        return None
    share = math.fsum(map(math.fsum, deals)) / count
    return WinRate(share, *wilson(share, count / _design_effect(deals, share, count)))


def _design_effect(deals: Sequence[Sequence[float]], share: float, count: int) -> float:
    """How much more the mean scatters than that of so many independent games; at least 1."""
    alone = share * (1 - share) * count
    if not alone or len(deals) == 1:
        return 1.0
    together = math.fsum((math.fsum(deal) - share * len(deal)) ** 2 for deal in deals)
    return max(1.0, together * len(deals) / (len(deals) - 1) / alone)
