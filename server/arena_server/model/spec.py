"""What is to be played, and its contract: the form that is stored and compared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

from arena_server.model.canonical import canonical_json
from arena_server.model.entrants import Entrant, labels
from arena_server.model.errors import UserError
from arena_server.model.time_control import TimeControl


@dataclass(frozen=True, slots=True)
class Probation:
    """When an entrant is parked: it plays no more. One that does not start three times in a row always is.

    Attributes:
        failures: parked once it has failed so often, ...; None: never for that.
        share: ... and in more than this share of its games so far.
        then: what becomes of its remaining games: lost (``forfeit``), or taken off (``cancel``).
    """

    failures: int | None = None
    share: float = 0.1
    then: str = "forfeit"

    def __post_init__(self) -> None:
        """Raises UserError for what makes no sense."""
        if self.failures is not None and self.failures < 1:
            raise UserError("not a number of failures", self.failures, "give 1 or more", key=("probation", "failures"))
        if not 0 <= self.share < 1:
            fix = "give a number from 0 to less than 1: 0.1"
            raise UserError("not a share of games", self.share, fix, key=("probation", "share"))
        if self.then not in ("forfeit", "cancel"):
            fix = "known: forfeit, cancel"
            raise UserError("no such end of a probation", repr(self.then), fix, key=("probation", "then"))


class Purpose(StrEnum):
    """What a tournament is played for."""

    EVENT = "event"
    SEASON = "season"
    CHALLENGE = "challenge"
    CLOSING = "closing"

    @property
    def beside(self) -> bool:
        """Whether a server plays it beside its season (a side event)."""
        return self in (Purpose.CHALLENGE, Purpose.CLOSING)

    @property
    def served(self) -> bool:
        """Whether a server plays it. Its games count pairing by pairing: nobody is to know who plays the second one."""
        return self is not Purpose.EVENT


@dataclass(frozen=True)  # without slots, so that it keeps its labels
class Spec:
    """What is to be played: all that shapes the result of a tournament.

    Attributes:
        deals: the game's deal options, complete: ``{"edition": "original"}`` as sorted pairs.
        games: games between each two entrants who meet, a multiple of the seats.
        rounds: of the formats that have a number of rounds.
        challengers: of a gauntlet: so many entrants, from the first, meet all the others.
        probation: when an entrant plays no more.
        seed: text of a public seed; None for a secret one.
        stop: text of a stop rule, as ``ratings.stopping.canonical`` gives it; None: every game is played.
        late: entrants by index who came later, each with its first stage.
        withdrawn: entrants by index who were taken out, each with the first stage it is out of.
        suite: listed deals as sorted pairs, which are played in turn; empty where they are shuffled.
        variants: deal options like ``deals``, which shuffled deals have in turn; empty where all have the same.
        beside: what a server plays it for beside its season; None where it does not.
        owners: a number for each entrant, equal ones do not meet; empty where everybody may meet.
        frozen: of a season: number of its last game, from when on there are no new ones; None while it goes on.
    """

    entrants: tuple[Entrant, ...]
    game: str = "patchwork"
    rules: str = "1"
    seats: int = 2
    deals: tuple[tuple[str, str], ...] = ()
    format: str = "round-robin"
    games: int = 10
    time_control: TimeControl = field(default_factory=lambda: TimeControl(limit_us=100_000))
    seed: str | None = None
    draw_probability: float = 0.0
    rounds: int | None = None
    challengers: int = 1
    stop: str | None = None
    late: tuple[tuple[int, int], ...] = ()
    withdrawn: tuple[tuple[int, int], ...] = ()
    suite: tuple[tuple[tuple[str, str], ...], ...] = ()
    variants: tuple[tuple[tuple[str, str], ...], ...] = ()
    probation: Probation = Probation()
    beside: Purpose | None = None
    owners: tuple[int, ...] = ()
    frozen: int | None = None

    @property
    def purpose(self) -> Purpose:
        """What it is played for."""
        return self.beside or (Purpose.SEASON if self.format == Purpose.SEASON else Purpose.EVENT)

    def present(self, stage: int) -> tuple[int, ...]:
        """The entrants, by index, who take part in a stage."""
        late, withdrawn = dict(self.late), dict(self.withdrawn)
        everyone = range(len(self.entrants))
        return tuple(one for one in everyone if late.get(one, stage) <= stage < withdrawn.get(one, stage + 1))

    def contract(self) -> dict[str, Any]:
        """The JSON form that is stored and compared (design, decision 14).

        What came later is absent where it is default: a contract keeps its bytes, and so its name.
        """
        later: dict[str, tuple[object, object]] = {
            "rounds": (self.rounds, None),
            "challengers": (self.challengers, 1),
            "stop": (self.stop, None),
            "late": (_lists(self.late), []),
            "withdrawn": (_lists(self.withdrawn), []),
            "suite": ([dict(deal) for deal in self.suite], []),
            "variants": ([dict(options) for options in self.variants], []),
            "probation": (asdict(self.probation), asdict(Probation())),
            "purpose": (self.beside, None),
            "owners": (list(self.owners), []),
            "frozen": (self.frozen, None),
        }
        return {
            "game": self.game,
            "rules": self.rules,
            "seats": self.seats,
            "deals": dict(self.deals),
            "format": self.format,
            "games": self.games,
            "time_control": str(self.time_control),
            "seed": self.seed,
            "draw_probability": self.draw_probability,
            "entrants": [entrant.as_dict() for entrant in self.entrants],
            **{key: value for key, (value, default) in later.items() if value != default},
        }

    @classmethod
    def from_contract(cls, data: Mapping[str, Any]) -> Self:
        """Reads ``contract`` back."""
        plain = {key: data[key] for key in ("game", "rules", "seats", "format", "games", "seed", "draw_probability")}
        return cls(
            entrants=tuple(Entrant.from_dict(entrant) for entrant in data["entrants"]),
            deals=tuple(sorted(data["deals"].items())),
            time_control=TimeControl.parse(data["time_control"]),
            rounds=data.get("rounds"),
            challengers=data.get("challengers", 1),
            stop=data.get("stop"),
            late=tuple((entrant, stage) for entrant, stage in data.get("late", ())),
            withdrawn=tuple((entrant, stage) for entrant, stage in data.get("withdrawn", ())),
            suite=tuple(tuple(sorted(deal.items())) for deal in data.get("suite", ())),
            variants=tuple(tuple(sorted(options.items())) for options in data.get("variants", ())),
            probation=Probation(**data.get("probation", {})),
            owners=tuple(data.get("owners", ())),
            frozen=data.get("frozen"),
            beside=Purpose(data["purpose"]) if "purpose" in data else None,
            **plain,
        )

    @cached_property
    def places(self) -> Mapping[Entrant, int]:
        """The entrants' indices."""
        return {entrant: place for place, entrant in enumerate(self.entrants)}

    @cached_property
    def newest(self) -> frozenset[int]:
        """The entrants, by index, of the version of their bot that was entered last and is not withdrawn."""
        out = dict(self.withdrawn)
        versions = {
            place: (name, entrant.version, entrant.digest)
            for place, (name, entrant) in enumerate(zip(self.name_keys, self.entrants, strict=True))
            if place not in out
        }
        newest = {version[0]: version for version in versions.values()}
        return frozenset(place for place, version in versions.items() if newest[version[0]] == version)

    @cached_property
    def name_keys(self) -> tuple[str, ...]:
        """Of the entrants, in their order: their names as they are compared."""
        return tuple(entrant.name.casefold() for entrant in self.entrants)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Of the entrants, in their order."""
        return labels(self.entrants)

    @property
    def default_name(self) -> str:
        """The tournament's name where none is given: the same contract has the same name."""
        return f"{self.format}-{hashlib.sha256(canonical_json(self.contract())).hexdigest()[:8]}"


def _lists(pairs: tuple[tuple[int, int], ...]) -> list[list[int]]:
    """As JSON has them."""
    return [list(pair) for pair in pairs]
