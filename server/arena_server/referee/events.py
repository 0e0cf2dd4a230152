"""What can happen to a match (events), and what it wants done (effects)."""

from __future__ import annotations

from dataclasses import dataclass

from arena_server.model import Result


@dataclass(frozen=True, slots=True)
class Seated:
    """A session for the seat is there; it has until `ready_by` (monotonic seconds) to say Ready."""

    seat: str
    ready_by: float


@dataclass(frozen=True, slots=True)
class NotSeated:
    """No session for the seat could be had: the bot did not start."""

    seat: str
    reason: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Ready:
    """The seat is prepared."""

    seat: str


@dataclass(frozen=True, slots=True)
class Replied:
    """The seat answered a request."""

    seat: str
    ply: int
    move: str
    own_us: int = 0
    log: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """The bot's own code failed."""

    seat: str
    traceback: str


@dataclass(frozen=True, slots=True)
class Resigned:
    """The seat gives up."""

    seat: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """The seat sent what makes no sense."""

    seat: str
    reason: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The seat's stream broke; its process may live."""

    seat: str


@dataclass(frozen=True, slots=True)
class Returned:
    """The seat has a stream again."""

    seat: str


@dataclass(frozen=True, slots=True)
class Exited:
    """The seat's process is gone."""

    seat: str
    reason: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Ticked:
    """Time has passed."""


Event = Seated | NotSeated | Ready | Replied | Failed | Resigned | Malformed | Lost | Returned | Exited | Ticked


@dataclass(frozen=True, slots=True)
class Begin:
    """Send GameStarted to the seat, with all plies so far."""

    seat: str
    plies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """Send MoveRequest to the seat, then tell the match with `asked`."""

    seat: str
    ply: int
    plies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Over:
    """The match has ended."""

    result: Result


Effect = Begin | Ask | Over
