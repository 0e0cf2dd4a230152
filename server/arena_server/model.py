"""The frozen values that the parts of the arena hand to each other.

Times inside are whole microseconds (``..._us``); monotonic instants are float seconds (``at``).

Exceptions that a person can act on::

    ArenaError(what, value, fix)      exit code 3: ours or the machine's
     +-- UserError                    exit code 2: the user's mistake
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

from arena_engine.game import SEATS, Outcome

Option = str | int | float | bool
"""The value of one option of a bot."""

MARGIN_LAUNCHED_US = 50_000
MARGIN_REMOTE_US = 500_000
"""Overrun that is forgiven: what a message may take on its way (design, decision 4)."""
MAX_ATTEMPTS = 3
"""Void attempts after which a game is abandoned."""


class ArenaError(Exception):
    """Trouble of ours or of the machine, told so that a person can act on it.

    Args:
        what: what was wrong.
        value: the value at fault; empty where there is none.
        fix: what to do.
        key: of a spec file, if the value can come from one: names of tables and keys, places in lists.
    """

    exit_code = 3

    def __init__(self, what: str, value: object = "", fix: str = "", *, key: tuple[str | int, ...] = ()) -> None:
        self.what = what
        self.value = value
        self.fix = fix
        self.key = key
        super().__init__(what, value, fix)

    def __str__(self) -> str:
        value = f": {self.value}" if self.value != "" else ""
        return f"{self.what}{value}" + (f" - {self.fix}" if self.fix else "")


class UserError(ArenaError):
    """A mistake in what the user gave."""

    exit_code = 2


class Ending(StrEnum):
    """Why a game ended (design, decision 3)."""

    NORMAL = "normal"
    ILLEGAL_MOVE = "illegal_move"
    TIMEOUT = "timeout"
    CRASH = "crash"
    DISCONNECT = "disconnect"
    PROTOCOL_ERROR = "protocol_error"
    START_FAILURE = "start_failure"
    RESIGN = "resign"
    FORFEIT = "forfeit"
    VOID = "void"
    ABANDONED = "abandoned"

    @property
    def rated(self) -> bool:
        """Whether the game counts."""
        return self not in (Ending.VOID, Ending.ABANDONED)


FAILURES = (
    Ending.ILLEGAL_MOVE,
    Ending.TIMEOUT,
    Ending.CRASH,
    Ending.DISCONNECT,
    Ending.PROTOCOL_ERROR,
    Ending.START_FAILURE,
    Ending.RESIGN,
    Ending.FORFEIT,
)
"""The endings that are a seat's own, in the order of reports."""

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m)")
_UNIT_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000}


_CPU = " cpu"


def _duration_us(text: str) -> int:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return round(float(match[1]) * _UNIT_US[match[2]])


def _seconds_text(us: int) -> str:
    return f"{us / 1e6:.6f}".rstrip("0").rstrip(".") + "s"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """How time is given, in microseconds; None is no such limit.

    Attributes:
        limit_us: at most this for one ply.
        bank_us: time for the whole game.
        increment_us: added to the bank after each ply.
        cpu: whether CPU time counts, that of the bot's process and its children, and not the time on the wall. Only for
            bots that the arena launches itself: nobody can read the CPU clock of a bot elsewhere.
    """

    limit_us: int | None = None
    bank_us: int | None = None
    increment_us: int = 0
    cpu: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads ``100ms``, ``10s+0.1s``, ``10s+0.1s/1s``, each with `` cpu`` behind it for CPU time, or ``none``.

        Raises:
            UserError: it is none of these (design, decision 4).
        """
        if text == "none":
            return cls()
        if text.endswith(_CPU):
            wall = cls.parse(text.removesuffix(_CPU))
            if wall != cls():
                return replace(wall, cpu=True)
        bank, slash, limit = text.partition("/")
        bank, plus, increment = bank.partition("+")
        try:
            if not plus and not slash:
                control = cls(limit_us=_duration_us(bank))
            else:
                control = cls(
                    limit_us=_duration_us(limit) if slash else None,
                    bank_us=_duration_us(bank),
                    increment_us=_duration_us(increment) if plus else 0,
                )
        except ValueError:
            raise UserError("not a time control", repr(text), cls._suggestion(text)) from None
        if 0 in (control.limit_us, control.bank_us):
            raise UserError("a time control of no time", repr(text), "give each ply some time: 100ms")
        return control

    @staticmethod
    def _suggestion(text: str) -> str:
        guess = re.sub(r"(\d)(?=[+/]|$)", r"\1s", text)
        try:
            TimeControl.parse(guess) if guess != text else _duration_us("")
        except (ValueError, ArenaError):
            return "write 100ms (each ply), 10s+0.1s (bank and increment), 10s+0.1s/1s (both) or none"
        return f"did you mean {guess}?"

    def __str__(self) -> str:
        return self._wall_text() + (_CPU if self.cpu else "")

    def _wall_text(self) -> str:
        if self.bank_us is None:
            limit = self.limit_us
            if limit is None:
                return "none"
            return _seconds_text(limit) if limit >= _UNIT_US["s"] else f"{limit / 1e3:g}ms"
        bank = f"{_seconds_text(self.bank_us)}+{_seconds_text(self.increment_us)}"
        return bank if self.limit_us is None else f"{bank}/{_seconds_text(self.limit_us)}"


@dataclass(frozen=True, slots=True)
class Entrant:
    """Who plays: the identity that a rating belongs to.

    Attributes:
        digest: SHA-256 of the bot's files, in hex.
        options: every option with its value, sorted by name.
    """

    name: str
    version: str
    digest: str
    options: tuple[tuple[str, Option], ...] = ()

    @property
    def label(self) -> str:
        """Name and version: ``mcts 0.3``; ``labels`` tell entrants of one version apart."""
        return f"{self.name} {self.version}"

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two entrants the same one: the name counts without regard to case."""
        return (self.name.casefold(), self.version, self.digest, self.options)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"bot": self.name, "version": self.version, "digest": self.digest, "options": dict(self.options)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Reads ``as_dict`` back."""
        return cls(data["bot"], data["version"], data["digest"], tuple(sorted(data["options"].items())))


def labels(entrants: Sequence[Entrant]) -> tuple[str, ...]:
    """What people read, different for all: ``mcts 0.3``; of one version also the options that differ, or the digest."""
    alike: dict[str, list[Entrant]] = {}
    for entrant in entrants:
        alike.setdefault(entrant.label.casefold(), []).append(entrant)
    return tuple(_label(entrant, alike[entrant.label.casefold()]) for entrant in entrants)


def _label(entrant: Entrant, namesakes: Sequence[Entrant]) -> str:
    """Of one among those of its name and version, itself included."""
    if len(namesakes) == 1:
        return entrant.label
    others = [dict(other.options) for other in namesakes]
    told = [
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in entrant.options
        if any(other.get(name) != value for other in others)
    ]
    if others.count(dict(entrant.options)) > 1:
        told.append(f"digest={entrant.digest[:8]}")
    return " ".join([entrant.label, *told])


@dataclass(frozen=True, slots=True)
class Identity:
    """Who has a token of the registry.

    Attributes:
        owner: number of the bot's owner.
        versions: those that may play, the newest last.
    """

    bot: str
    owner: int
    versions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class About:
    """What is said of an entrant and shapes nothing; None is what was not said.

    Attributes:
        owner: whose it is.
        group: what it belongs to: a class, a team.
        tags: words to choose it by.
    """

    owner: str | None = None
    group: str | None = None
    tags: tuple[str, ...] | None = None


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
            **plain,
        )

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


@dataclass(frozen=True, slots=True)
class Pairing:
    """Entrants who meet over one deal, once with every rotation of the seats.

    Attributes:
        entrants: their indices in the spec, in seat order of the first game.
    """

    entrants: tuple[int, ...]

    def rotations(self) -> list[tuple[int, ...]]:
        """The seatings of its games."""
        return [self.entrants[shift:] + self.entrants[:shift] for shift in range(len(self.entrants))]


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """A game of the schedule.

    Attributes:
        number: place in the schedule order, from 1.
        pairing: number of its pairing in the tournament, from 1; names the deal.
        seats: the entrants' indices in the spec, in seat order.
    """

    tournament: str
    number: int
    stage: int
    pairing: int
    seats: tuple[int, ...]
    deal: Mapping[str, str]

    @property
    def letters(self) -> str:
        """The seat letters of this game."""
        return SEATS[: len(self.seats)]


@dataclass(frozen=True, slots=True)
class Token:
    """Under which a game is given out; a result under another one is refused (design, the way of one game, 2)."""

    epoch: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """A planned game as it is given out to be played.

    Attributes:
        entrants: who sits there, in seat order.
        seeds: each seat's own seed, in seat order.
        alone: whether no other game may run beside it (a retry after a stall).
        anonymous: whether bots are not told whom they play.
    """

    planned: PlannedGame
    token: Token
    spec: Spec
    seeds: tuple[int, ...]
    alone: bool = False
    anonymous: bool = False

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """Who sits there, in seat order."""
        return tuple(self.spec.entrants[index] for index in self.planned.seats)

    @property
    def labels(self) -> tuple[str, ...]:
        """What people call those who sit there, in seat order."""
        known = self.spec.labels
        return tuple(known[index] for index in self.planned.seats)

    @property
    def game_id(self) -> str:
        """The game's public id."""
        return f"{self.planned.tournament}/{self.planned.number}"


@dataclass(frozen=True, slots=True)
class Played:
    """One accepted move with its evidence.

    Attributes:
        used_us: elapsed at the referee, before credit.
        credit_us: measured stalls of our own that were not charged.
        own_us: the bot's own measure.
        stolen_us: CPU time that the machine's own host took from it meanwhile, where that can be read.
        cpu_us: CPU time of the bot, where the clock counts that.
    """

    ply: int
    seat: str
    move: str
    used_us: int
    credit_us: int = 0
    own_us: int = 0
    log: tuple[str, ...] = ()
    stolen_us: int = 0
    cpu_us: int | None = None

    @property
    def charged_us(self) -> int:
        """What it cost the seat."""
        return max(0, self.used_us - self.credit_us) if self.cpu_us is None else self.cpu_us


@dataclass(frozen=True, slots=True)
class BlackBox:
    """What was known of a seat that failed; kept on faults alone, bounded, and as bots gave it: not fit to print.

    Attributes:
        limit_us: what it might use for the ply, without the margin; None where there was no limit.
        own_us: its own measure, from an answer that came too late; None where none came.
        late_us: how long after the request that answer came.
        spent_us: CPU time that was charged for the ply, where the clock counts that and an answer came.
        stolen_us: CPU time that the machine's own host took meanwhile; None where that cannot be read.
        waited_us: for how long meanwhile some process of this machine waited for a core; None likewise.
        cpu_us: CPU time of its process in this game; None where unknown.
        max_rss_kb: the largest size of its process; None where unknown.
        exit: how its process ended, in words; empty while it ran.
        stderr: the end of what its process said, unless that is the failure's evidence.
        messages: the last ones to and from it, the oldest first.
        bot: how to name it in a command.
    """

    limit_us: int | None = None
    margin_us: int = 0
    own_us: int | None = None
    late_us: int | None = None
    spent_us: int | None = None
    stolen_us: int | None = None
    waited_us: int | None = None
    cpu_us: int | None = None
    max_rss_kb: int | None = None
    exit: str = ""
    stderr: str = ""
    messages: tuple[str, ...] = ()
    bot: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """What one seat did that ended the game.

    Attributes:
        reply: what it answered, as given; None where it gave no answer.
        reason: in words.
        position: text of the position it was asked in; empty before the first.
        evidence: traceback, or the end of its standard error.
        box: what else was known; None in records of older versions.
    """

    seat: str
    ending: Ending
    ply: int
    reason: str
    used_us: int = 0
    credit_us: int = 0
    reply: str | None = None
    position: str = ""
    evidence: str = ""
    box: BlackBox | None = None

    @property
    def charged_us(self) -> int:
        """What the ply had cost the seat by then."""
        if self.box is not None and self.box.spent_us is not None:
            return self.box.spent_us
        return max(0, self.used_us - self.credit_us)

    def command(self, game_id: str, db: str = "") -> str:
        """What asks the bot once more in that position, or shows the position where the bot is not known.

        Args:
            game_id: of the game.
            db: the database where it is; empty for the one that commands look into anyway.
        """
        words = ["arena", "replay", game_id, "--at", str(self.ply)]
        if self.box is not None and self.box.bot:
            words += ["--bot", self.box.bot, "--seat", self.seat]
        if db:
            words += ["--db", db]
        return shlex.join(words)


@dataclass(frozen=True, slots=True)
class Result:
    """How an attempt at a game ended.

    Attributes:
        outcome: None for a void attempt.
        position: text of the last position.
        started: UTC, ISO 8601 with seconds.
        duration_us: from the first Ready to the end.
        stalled_us: our own stalls while it ran.
        reason: why a void attempt is void.
    """

    assignment: Assignment
    ending: Ending
    outcome: Outcome | None
    moves: tuple[Played, ...]
    failures: tuple[Failure, ...]
    position: str
    started: str
    duration_us: int
    stalled_us: int = 0
    reason: str = ""

    @property
    def blamed(self) -> tuple[str, ...]:
        """The seats to blame, in seat order."""
        return tuple(failure.seat for failure in self.failures)


def canonical_json(value: object) -> bytes:
    """The one byte form of a JSON value: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
