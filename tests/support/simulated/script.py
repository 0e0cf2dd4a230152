"""Scripts: what the bots of a tournament do, and what befalls the arena; drawn from a seed, printable, shrinkable."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena_server.launching.bots import Bot
from arena_server.launching.manifest import Manifest
from arena_server.model import Spec, TimeControl

LIMIT, MARGIN = 0.1, 0.05
"""Seconds that a bot has for a ply, and that are forgiven."""
JITTER = 0.032
"""Seconds of a stall that the watch may not see: its period and its tolerance."""
SEEDS_PER_CAST = 25
"""Seeds that share the same bots, and so the run without faults that theirs are compared with."""

HARMLESS = ("slow", "brink", "duplicate", "stale", "early", "foreign", "reset", "reset waiting")
FATAL = (
    "silence",
    "overrun",
    "gone",
    "crash",
    "crash after",
    "failure",
    "resign",
    "illegal",
    "malformed",
)


@dataclass(frozen=True, slots=True)
class Deed:
    """What a bot does in one game when that ply is asked, in every attempt; what becomes of it depends on nothing else.

    A game that is ``hopeless`` stalls the referee for so long each time that it is abandoned. A bot that is ``absent``
    never starts; its number is the entrant's.
    """

    kind: str
    number: int
    seat: str = ""
    ply: int = 0
    amount: float = 0.0


@dataclass(frozen=True, slots=True)
class Strike:
    """What befalls the arena once.

    Attributes:
        kind: ``stall``, ``kill`` and ``stop`` at a step of the loop, the others at a write of the store.
        at: the step or the write, counted over all commands.
    """

    kind: str
    at: int
    amount: float = 0.0


@dataclass(frozen=True, slots=True)
class Script:
    """All that makes a run.

    Attributes:
        kind: of the tournament: a key of ``SPECS``.
        quiet: without the strikes: what the run is compared with.
    """

    seed: int
    kind: str
    deeds: tuple[Deed, ...]
    strikes: tuple[Strike, ...]

    @property
    def games_at_once(self) -> int:
        """Of one process: a bot whose process or stream may end takes its other games with it, so it has none."""
        return 1 if any(deed.kind in FATAL or deed.kind.startswith("reset") for deed in self.deeds) else 2

    @property
    def quiet(self) -> Script:
        return replace(self, seed=0, strikes=())

    def shorter(self) -> Iterator[Script]:
        """Scripts with one thing less."""
        for place in range(len(self.strikes)):
            yield replace(self, strikes=self.strikes[:place] + self.strikes[place + 1 :])
        for place in range(len(self.deeds)):
            yield replace(self, deeds=self.deeds[:place] + self.deeds[place + 1 :])

    def lines(self) -> Iterator[str]:
        """For a person."""
        yield f"seed {self.seed}: {self.kind}"
        for deed in self.deeds:
            yield f"  {deed}"
        for strike in self.strikes:
            yield f"  {strike}"


def bots(count: int, games_at_once: int = 1) -> list[Bot]:
    """Bots on paper."""
    return [
        Bot(Manifest(f"bot{n}", "1.0", ("bot",), games_at_once=games_at_once), Path("/"), f"{n:064x}")
        for n in range(count)
    ]


_TINY: dict[str, Any] = {"game": "tiny", "seats": 3, "draw_probability": 0.2}
_PATCHWORK: dict[str, Any] = {"deals": (("edition", "original"),)}
SPECS: dict[str, tuple[int, dict[str, Any]]] = {
    "round-robin of 3": (3, {"games": 6, **_TINY}),
    "round-robin of 4": (4, {"games": 3, **_TINY}),
    "ladder": (4, {"games": 3, "format": "ladder", "rounds": 2, **_TINY}),
    "patchwork": (2, {"games": 2, **_PATCHWORK}),
}


def spec(kind: str) -> Spec:
    """Of the tournament."""
    count, more = SPECS[kind]
    entrants = tuple(bot.entrant for bot in bots(count))
    return Spec(entrants, seed="7", time_control=TimeControl.parse("100ms"), **more)


def draw(seed: int) -> Script:
    """The script of a seed."""
    cast = random.Random(f"cast {seed // SEEDS_PER_CAST}")
    kind = cast.choices(list(SPECS), (10, 2, 6, 1))[0]
    deeds = tuple(_deeds(cast, kind))
    return Script(seed, kind, deeds, tuple(_strikes(random.Random(f"strikes {seed}"), deeds)))


def _deeds(dice: random.Random, kind: str) -> Iterator[Deed]:
    seats, plies = ("ab", 30) if kind == "patchwork" else ("abc", 5)
    for _ in range(dice.randrange(10)):
        deed = dice.choice(HARMLESS if dice.random() < 0.6 else FATAL)
        amount = {"slow": dice.uniform(0.06, 0.085), "overrun": dice.uniform(1.2, 2.5), "reset": dice.uniform(0, 0.03)}
        # What comes after an answer comes while the game goes on: after the last one it would hit the bot's next game.
        ply = dice.randrange(2 if deed in ("crash after", "reset waiting") else plies)
        yield Deed(deed, dice.randint(1, 9), dice.choice(seats), ply, amount.get(deed, 0.0))
    if dice.random() < 0.2:
        yield Deed("hopeless", dice.randint(1, 6), "a", dice.randrange(3))
    if dice.random() < 0.1:
        yield Deed("absent", dice.randrange(3))


def _strikes(dice: random.Random, deeds: tuple[Deed, ...]) -> Iterator[Strike]:
    kinds = {deed.kind for deed in deeds}
    if "brink" not in kinds and "hopeless" not in kinds:
        for _ in range(dice.randrange(3)):
            yield Strike("stall", dice.randint(100, 1500), dice.uniform(0.03, 0.4))
    if "brink" not in kinds and dice.random() < 0.3:
        yield Strike("stall", dice.randint(100, 1500), dice.uniform(2.1, 3.0))
    for _ in range(dice.choice((0, 1, 1, 2, 3))):
        yield Strike(dice.choice(("kill", "kill", "stop")), _step(dice))
    for _ in range(dice.choice((0, 0, 1, 2))):
        yield Strike(dice.choice(("kill before", "kill after", "disk full")), dice.randint(1, 16))
    if dice.random() < 0.3:
        yield Strike(dice.choice(("away before", "away after")), dice.randint(1, 8))
    for _ in range(dice.choice((0, 1, 2))):
        yield Strike("delivered again", dice.randint(1, 12), dice.uniform(0, 1))


def _step(dice: random.Random) -> int:
    """Early ones more often: the beginning and recoveries are short."""
    return round(10 ** dice.uniform(0, 3.4))
