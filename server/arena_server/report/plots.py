"""Plots as numbers that a template writes as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from arena_server.ratings import INITIAL, Rating
from arena_server.ratings.estimates import Estimate
from arena_server.ratings.pairs import Meeting
from arena_server.store import Standing

WIDTH, HEIGHT = 760, 320
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 10, 34
POINTS = 150
"""Of one line at most: more are not seen."""

BANDS = 8
"""Bots of which the plot shows sigma, too."""

_TICKS = 5


@dataclass(frozen=True, slots=True)
class Line:
    """One bot's rating over the games; coordinates as SVG has them."""

    place: int
    path: str
    band: str


@dataclass(frozen=True, slots=True)
class Ratings:
    """The rating plot.

    Attributes:
        across: where the marks of the game axis are, and what they say; ``up`` those of mu.
    """

    lines: Sequence[Line]
    across: Sequence[tuple[float, int]]
    up: Sequence[tuple[float, int]]


def ratings(meetings: Sequence[Meeting], standings: Sequence[Standing], order: Sequence[int]) -> Ratings | None:
    """Mu and sigma of each bot after each of its games; None before the first game."""
    if not meetings:
        return None
    tracks = _tracks(meetings, standings, order)
    last = meetings[-1].number
    bands = len(order) <= BANDS
    reach = [
        value
        for track in tracks.values()
        for _, rating in track
        for value in ((rating.mu - rating.sigma, rating.mu + rating.sigma) if bands else (rating.mu,))
    ]
    up = _ticks(min(reach), max(reach))
    scale = _Scale(last, up[0], up[-1])
    lines = [_line(place, tracks[place], scale, bands=bands) for place in order if len(tracks[place]) > 1]
    across = [tick for tick in _ticks(0, last) if tick <= last]
    return Ratings(lines, [(scale.x(tick), tick) for tick in across], [(scale.y(tick), tick) for tick in up])


@dataclass(frozen=True, slots=True)
class _Scale:
    last: float
    low: float
    high: float

    def x(self, number: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * number / self.last, 1)

    def y(self, mu: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (mu - self.low) / (self.high - self.low), 1)


Track = list[tuple[int, Rating]]


def _tracks(meetings: Sequence[Meeting], standings: Sequence[Standing], order: Sequence[int]) -> dict[int, Track]:
    """The rating of each bot from the number of a game on: a game tells those before it, the standings the last."""
    tracks: dict[int, Track] = {place: [] for place in order}
    before = dict.fromkeys(order, 0)
    for meeting in meetings:
        for place, rating in zip(meeting.entrants, meeting.before, strict=True):
            tracks[place].append((before[place], rating))
            before[place] = meeting.number
    for place, standing in zip(order, standings, strict=True):
        tracks[place].append((before[place], standing.rating if before[place] else INITIAL))
    return tracks


def _line(place: int, track: Track, scale: _Scale, *, bands: bool) -> Line:
    thin = _thinned(track)
    upper = [(scale.x(number), scale.y(rating.mu + rating.sigma)) for number, rating in thin]
    lower = [(scale.x(number), scale.y(rating.mu - rating.sigma)) for number, rating in thin]
    middle = [(scale.x(number), scale.y(rating.mu)) for number, rating in thin]
    return Line(place, _path(middle), _path([*upper, *reversed(lower)]) + "Z" if bands else "")


def _thinned(track: Track) -> Track:
    step = max(1, math.ceil(len(track) / POINTS))
    return [*track[:-1:step], track[-1]]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _ticks(low: float, high: float) -> list[int]:
    """Round numbers from below the lowest to above the highest."""
    raw = max((high - low) / _TICKS, 1)
    power = 10 ** math.floor(math.log10(raw))
    step = next(int(power * factor) for factor in (1, 2, 5, 10) if power * factor >= raw)
    return list(range(math.floor(low / step) * step, math.ceil(high / step) * step + 1, step))


@dataclass(frozen=True, slots=True)
class Whiskers:
    """Where an estimate and its interval lie on an axis from 0 to 100, and where the axis has its zero."""

    low: float
    value: float
    high: float
    zero: float


def whiskers(estimates: Sequence[Estimate | None]) -> list[Whiskers | None]:
    """On one axis; none for no estimate."""
    known = [one for one in estimates if one is not None]
    if not known:
        return [None for _ in estimates]
    low, high = min(0.0, *(one.low for one in known)), max(0.0, *(one.high for one in known))

    def at(elo: float) -> float:
        return round(2 + 96 * (elo - low) / (high - low or 1), 1)

    return [None if one is None else Whiskers(at(one.low), at(one.value), at(one.high), at(0)) for one in estimates]
