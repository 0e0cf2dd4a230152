"""The frozen values that the store hands out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple, Self

from arena_server.model import Ending, Entrant, Purpose, Spec
from arena_server.ratings import Rating

_FEW = 10
"""Games that are named one by one."""


class Status(StrEnum):
    """How far a tournament is."""

    PLANNED = "planned"
    RUNNING = "running"
    FINISHED = "finished"


class GameStatus(StrEnum):
    """How far a game is; ``planned`` also between two attempts."""

    PLANNED = "planned"
    FINISHED = "finished"
    ABANDONED = "abandoned"
    CANCELLED = "cancelled"


class Extent(NamedTuple):
    """How much of a contract was there at some time: the lengths of its lists, and its numbers."""

    entrants: int
    late: int
    withdrawn: int
    games: int
    rounds: int | None
    frozen: int | None

    @classmethod
    def of(cls, spec: Spec) -> Self:
        """All of it."""
        return cls(len(spec.entrants), len(spec.late), len(spec.withdrawn), spec.games, spec.rounds, spec.frozen)

    def cut(self, spec: Spec) -> Spec:
        """The contract as it was then."""
        if self == Extent.of(spec):
            return spec  # with the labels that it keeps
        return replace(
            spec,
            entrants=spec.entrants[: self.entrants],
            late=spec.late[: self.late],
            withdrawn=spec.withdrawn[: self.withdrawn],
            games=self.games,
            rounds=self.rounds,
            frozen=self.frozen,
        )


@dataclass(frozen=True, slots=True)
class Terms:
    """What stages are planned and dealt by.

    Attributes:
        stage: the first of them.
        whole: the contract, perhaps as it has grown since: a season has as many amendments as bots, and one copy.
        secret: what deals and bot seeds come from, 32 bytes; empty where the reader must not know it yet.
        commitment: SHA-256 of the secret in hex, known before any of them is played.
        extent: how much of that contract held for these stages; None: all.
    """

    stage: int
    whole: Spec
    secret: bytes = field(repr=False)
    commitment: str
    extent: Extent | None = None

    @property
    def spec(self) -> Spec:
        """The contract."""
        return self.whole if self.extent is None else self.extent.cut(self.whole)


@dataclass(frozen=True, slots=True)
class Tournament:
    """A tournament, as of the moment it was read.

    Attributes:
        terms: those it began with, then those of each amendment; each hold until the next.
        public_seed: whether the secret comes from a seed that everybody knows.
        epoch: raised each time a coordinator takes the lock.
        planned: games in the plan so far.
        ratings: version of the rating library and its parameters.
        chain_head: hash over all closed attempts and amendments in commit order, in hex.
        chain_length: number of them.
        sums: what the stop rule has seen so far; None before, or where there is none.
        stopped: number of the last game that counts, where the stop rule has ended it.
        created: UTC, ISO 8601 with seconds, like the others; None where it has not happened.
        tags: words to find it by.
        anchors: bots by name or label whose Bradley-Terry values are fixed, in Elo.
        called_off: why it ended before its games were played; empty where it did not.
        watermark: number of the last game that the ratings include or pass over.
    """

    id: int
    name: str
    terms: tuple[Terms, ...]
    public_seed: bool
    epoch: int
    status: Status
    planned: int
    ratings: str
    chain_head: str
    chain_length: int
    sums: Mapping[str, Any] | None
    stopped: int | None
    created: str
    started: str | None
    finished: str | None
    tags: tuple[str, ...] = ()
    anchors: Mapping[str, float] = field(default_factory=dict)
    called_off: str = ""
    watermark: int = 0

    @property
    def purpose(self) -> Purpose:
        """What it is played for."""
        return self.terms[0].spec.purpose

    @property
    def spec(self) -> Spec:
        """What holds now; earlier contracts have no entrants that this one has not, and the same ones first."""
        return self.terms[-1].spec

    @property
    def secret(self) -> bytes:
        """Of what is planned from now on."""
        return self.terms[-1].secret

    @property
    def commitment(self) -> str:
        """Of what is planned from now on."""
        return self.terms[-1].commitment

    def at(self, stage: int) -> Terms:
        """What holds for a stage."""
        return self.terms[bisect_right(self.terms, stage, key=attrgetter("stage")) - 1]


@dataclass(frozen=True, slots=True)
class SideEvent:
    """A tournament that is played beside a season, before its contract is read."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Run:
    """One coordinator's time with a tournament.

    Attributes:
        started: UTC, ISO 8601 with seconds.
        facts: what it ran with: versions, machine, concurrency, as ``coordinator.facts`` gives them.
    """

    epoch: int
    started: str
    facts: Mapping[str, Any]


class Phase(StrEnum):
    """How far a season is."""

    OPEN = "open"
    FROZEN = "frozen"
    CLOSING = "closing"
    CLOSED = "closed"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Season:
    """A season, and what decides it.

    Attributes:
        ladder: the season itself.
        progress: of its games.
        closing: the round-robin at its end; None while there is none.
        closing_progress: of its games; None likewise.
    """

    ladder: Tournament
    progress: Progress
    closing: Tournament | None = None
    closing_progress: Progress | None = None

    @property
    def phase(self) -> Phase:
        """How far it is."""
        if self.ladder.status is Status.FINISHED:
            return Phase.ARCHIVED
        if self.closing is not None:
            return Phase.CLOSED if self.closing.status is Status.FINISHED else Phase.CLOSING
        return Phase.OPEN if self.ladder.spec.frozen is None else Phase.FROZEN


@dataclass(frozen=True, slots=True)
class Entered:
    """A tournament found or made.

    Attributes:
        created: False when an earlier command made it.
        notes: lines that the user should see.
    """

    tournament: Tournament
    created: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parked:
    """An entrant that plays no more.

    Attributes:
        entrant: its index in the spec.
        number: of the game that decided it; later ones are forfeited or taken off.
        why: in words.
    """

    entrant: int
    number: int
    why: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of one reported result.

    Attributes:
        status: of the game afterwards; ``planned`` after a void attempt means: give it out again.
        refused: why the result was not recorded; empty when it was.
        stopped: whether the stop rule has ended the tournament: no game is to be played any more.
        needless: whether it was refused because the game was forfeited or taken off meanwhile, which is no error.
        parked: who plays no more since the commit that this result shared; told with one result of a commit.
            Where that was tried again, perhaps not for the first time.
    """

    number: int
    attempt: int
    status: GameStatus
    refused: str = ""
    stopped: bool = False
    needless: bool = False
    parked: tuple[Parked, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """One row of a leaderboard.

    Attributes:
        rank: 1 is best.
        position: the entrant's index in the spec.
        label: what sets the entrant apart from all others, see ``model.labels``.
        games: rated games.
        margin: mean score margin over normally ended games; None when there is none.
        failures: this entrant's own failures, kind to count, in the order of ``model.FAILURES``.
        withdrawn: whether it was taken out.
        parked: since when it plays no more, and why; None while it plays.
    """

    rank: int
    position: int
    entrant: Entrant
    label: str
    rating: Rating
    games: int
    wins: int
    losses: int
    draws: int
    margin: float | None
    failures: Mapping[Ending, int]
    withdrawn: bool = False
    parked: Parked | None = None

    @property
    def mu(self) -> float:
        """TrueSkill mean."""
        return self.rating.mu

    @property
    def sigma(self) -> float:
        """TrueSkill deviation."""
        return self.rating.sigma


@dataclass(frozen=True, slots=True)
class Remarks:
    """Games of which readers should know something, by number.

    Attributes:
        abandoned: given up after too many void attempts: nobody is rated for them.
        approximated: whose ratings are a fallback, as TrueSkill could not calculate them.
    """

    abandoned: tuple[int, ...] = ()
    approximated: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, list[int]]:
        """The JSON form."""
        return {"abandoned": list(self.abandoned), "approximated": list(self.approximated)}

    @property
    def lines(self) -> list[str]:
        """For people, none where there is nothing to say."""
        told = {
            "abandoned after void attempts, rated for nobody": self.abandoned,
            "rated approximately, as TrueSkill could not calculate an upset over so huge a gap": self.approximated,
        }
        return [f"{what}: {_numbers(games)}" for what, games in told.items() if games]


def _numbers(games: tuple[int, ...]) -> str:
    """``games 3, 17``; the first of many."""
    few = ", ".join(map(str, games[:_FEW])) + (f" and {len(games) - _FEW} more" if len(games) > _FEW else "")
    return f"game{'s' if len(games) > 1 else ''} {few}"


@dataclass(frozen=True, slots=True)
class Progress:
    """How many games are where.

    Attributes:
        planned: all games of the plan.
        finished: games with a rated ending.
        folded: finished games that the ratings include.
        abandoned: games given up after too many void attempts.
        cancelled: games that a stop rule made needless, played or not.
    """

    planned: int
    finished: int
    folded: int
    abandoned: int
    cancelled: int

    @property
    def waiting(self) -> int:
        """Finished games that wait for an earlier one before they are rated."""
        return self.finished - self.folded

    @property
    def open(self) -> int:
        """Games still to be played."""
        return self.planned - self.finished - self.abandoned - self.cancelled

    def __str__(self) -> str:
        """``120 games rated``, or what of them is not."""
        if not self.planned:
            return "no games yet"
        rest = {
            "waiting for an earlier one": self.waiting,
            "abandoned": self.abandoned,
            "cancelled": self.cancelled,
            "to play": self.open,
        }
        parts = [f"{number} {what}" for what, number in rest.items() if number]
        rated = f"{self.folded} of {self.planned}" if parts else f"{self.planned}"
        return ", ".join([f"{rated} games rated", *parts])


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The standings at one moment, and how many games they include.

    Attributes:
        hidden: entrants that are left out: of a season earlier versions of its bots, and those that are retired.
    """

    tournament: Tournament
    standings: Sequence[Standing]
    progress: Progress
    remarks: Remarks = field(default_factory=Remarks)
    hidden: int = 0

    @property
    def places(self) -> list[int]:
        """The entrants' indices in the spec, in the order of the standings."""
        return [standing.position for standing in self.standings]
