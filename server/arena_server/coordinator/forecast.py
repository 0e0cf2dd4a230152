"""What a tournament will take: games, starts of bots, time, memory, disk. Nothing is started or stored for it.

The figures of a process and of a game were measured with the example bots on SQLite; a bot that loads more needs more.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Self

from arena_engine import deals
from arena_engine.game import SEATS, Game
from arena_server.coordinator.event import Event
from arena_server.formats.length import length
from arena_server.model import MARGIN_LAUNCHED_US, Spec, TimeControl

OURS_MB = 115
"""Resident size of the command and the keeper."""
BOT_MB = 48
"""Resident size of a connected Python bot that has loaded the engine."""
GAME_KB = 4
"""On disk, for a game of some 45 plies, with all indices."""
START_S = 0.15
"""To start a Python bot and hear from it."""
REQUEST_S = 0.0005
"""To ask and record, besides the thinking."""
LIKELY_SHARE = 0.5
"""Of their time that bots are taken to use; some use all of it, and some next to nothing."""
SAMPLES = 20


@dataclass(frozen=True, slots=True)
class Playout:
    """Games of random moves over deals of a tournament.

    Attributes:
        requests: moves asked of all seats in a game, on average.
        most: of one seat in one game, at most.
    """

    requests: float
    most: int

    @classmethod
    def of(cls, game: Game, spec: Spec) -> Self:
        """Plays some, always the same."""
        counts = [_requests(game, spec, number) for number in range(SAMPLES)]
        return cls(sum(map(sum, counts)) / SAMPLES, max(map(max, counts)))


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a whole tournament will take; pairs are the least and the most.

    Attributes:
        games: equal where results do not matter.
        starts: of bot processes.
        likely_h: where bots use half of their time.
        longest_h: where all bots use all of their time in the longest games.
        memory_mb: of all processes at the same time.
        disk_mb: what the database grows by.
    """

    games: tuple[int, int]
    starts: tuple[int, int]
    likely_h: tuple[float, float]
    longest_h: float
    memory_mb: int
    disk_mb: tuple[float, float]

    @classmethod
    def of(cls, event: Event) -> Self:
        """Foresees a tournament from its beginning to its end."""
        spec, capacity = event.spec, event.capacity
        games = length(spec)
        starts = _starts(event, games)
        playout = Playout.of(event.game, spec)
        longest = _seat_time(spec.time_control, playout.most, share=1.0) * spec.seats
        likely = _seat_time(spec.time_control, playout.requests / spec.seats, LIKELY_SHARE) * spec.seats
        likely += playout.requests * REQUEST_S
        hours = [
            (count * likely + begun * START_S) / capacity / 3600 for count, begun in zip(games, starts, strict=True)
        ]
        processes = min(len(spec.entrants) * capacity, max(2 * capacity * spec.seats, len(spec.entrants)))
        return cls(
            games=games,
            starts=starts,
            likely_h=(hours[0], hours[1]),
            longest_h=(games[1] * longest + starts[1] * START_S) / capacity / 3600,
            memory_mb=OURS_MB + BOT_MB * processes,
            disk_mb=(games[0] * GAME_KB / 1024, games[1] * GAME_KB / 1024),
        )


def _requests(game: Game, spec: Spec, number: int) -> list[int]:
    """Moves asked of each seat in one game of random moves."""
    dice = Random(number)  # noqa: S311 - a sample
    shuffle = deals.shuffler(deals.public_secret("forecast"), spec.game, number)
    state = game.start(game.deal(dict(spec.deals), spec.seats, shuffle), spec.seats)
    counts = dict.fromkeys(SEATS[: spec.seats], 0)
    while not state.is_over:
        for seat in state.to_move:
            counts[seat] += 1
        state = state.play({seat: dice.choice(state.legal_moves(seat)) for seat in state.to_move})
    return list(counts.values())


def _seat_time(control: TimeControl, requests: float, share: float) -> float:
    """Seconds that a seat thinks in a game, if it uses that share of what it may."""
    limits = []
    if control.limit_us is not None:
        limits.append(requests * control.limit_us)
    if control.bank_us is not None:
        limits.append(control.bank_us + requests * control.increment_us)
    late = requests * MARGIN_LAUNCHED_US if share == 1.0 and control.bank_us is None else 0
    return (share * min(limits) + late) / 1e6


def _starts(event: Event, games: tuple[int, int]) -> tuple[int, int]:
    """A process for each game of the bots that want it so, else one for each bot, or as many as play at once."""
    bots = event.bots.values()
    fresh = sum(bot.manifest.restart == "per_game" for bot in bots)
    kept = len(event.bots) - fresh
    sittings = [count * event.spec.seats / len(event.bots) for count in games]
    least = kept + round(fresh * sittings[0])
    return least, kept * min(event.capacity, max(1, round(sittings[1]))) + round(fresh * sittings[1])
