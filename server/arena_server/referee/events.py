"""What can happen to a match (events), and what it wants done (effects)."""

from __future__ import annotations

from typing import NamedTuple

from arena_server.model import Result


class Seated(NamedTuple):
    """A session for the seat is there; it has until `ready_by` (monotonic seconds) to say Ready."""

    seat: str
    ready_by: float


class NotSeated(NamedTuple):
    """No session for the seat could be had: the bot did not start."""

    seat: str
    reason: str
    evidence: str = ""


class Unseated(NamedTuple):
    """The seat's process was gone before it was given this game: it will be seated once more."""

    seat: str


class Ready(NamedTuple):
    """The seat is prepared."""

    seat: str


class Replied(NamedTuple):
    """The seat answered a request, when it had used so much CPU time in all (None: that does not count)."""

    seat: str
    ply: int
    move: str
    own_us: int = 0
    log: tuple[str, ...] = ()
    cpu_us: int | None = None


class Failed(NamedTuple):
    """The bot's own code failed."""

    seat: str
    traceback: str


class Resigned(NamedTuple):
    """The seat gives up."""

    seat: str


class Malformed(NamedTuple):
    """The seat sent what makes no sense."""

    seat: str
    reason: str


class Lost(NamedTuple):
    """The seat's stream broke; its process may live."""

    seat: str


class Returned(NamedTuple):
    """The seat has a stream again."""

    seat: str


class Exited(NamedTuple):
    """The seat's process is gone."""

    seat: str
    reason: str
    evidence: str = ""


class Dismissed(NamedTuple):
    """We took the seat's process away: nobody's fault."""

    seat: str


class Ticked(NamedTuple):
    """Time has passed."""


class GivenUp(NamedTuple):
    """Nobody wants the result any more."""


Event = (
    Seated
    | NotSeated
    | Unseated
    | Ready
    | Replied
    | Failed
    | Resigned
    | Malformed
    | Lost
    | Returned
    | Exited
    | Dismissed
    | Ticked
    | GivenUp
)


class Begin(NamedTuple):
    """Send GameStarted to the seat, with all plies so far."""

    seat: str
    plies: tuple[str, ...]


class Ask(NamedTuple):
    """Send MoveRequest to the seat, then tell the match with `asked`."""

    seat: str
    ply: int
    plies: tuple[str, ...]


class Over(NamedTuple):
    """The match has ended."""

    result: Result


Effect = Begin | Ask | Over
