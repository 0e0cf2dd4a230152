"""Clocks of seats: pure arithmetic over what was measured (design, decision 4)."""

from __future__ import annotations

from typing import NamedTuple

from arena_server.model import TimeControl

MAX_CREDIT_US = 1_000_000
"""Credit for our own stalls in one move; more than that voids the game soon enough."""


class Now(NamedTuple):
    """An instant of the referee.

    Attributes:
        at: monotonic, in seconds.
        stalled: how long our own loop has stalled in all until then, in seconds.
        stolen: CPU seconds that the machine's own host has taken in all.
        waited: how long in all some process of this machine has waited for a core, in seconds.
    """

    at: float
    stalled: float = 0.0
    stolen: float = 0.0
    waited: float = 0.0

    def running_since(self, then: Now) -> float:
        """Elapsed seconds without our own stalls."""
        return (self.at - then.at) - (self.stalled - then.stalled)

    def us_since(self, then: Now) -> int:
        """Elapsed microseconds."""
        return max(0, round((self.at - then.at) * 1e6))

    def stalled_us_since(self, then: Now) -> int:
        """Microseconds of our own stalls in between."""
        return max(0, round((self.stalled - then.stalled) * 1e6))

    def stolen_us_since(self, then: Now) -> int:
        """Microseconds of CPU time that the machine's host took in between."""
        return round((self.stolen - then.stolen) * 1e6) if self.stolen > then.stolen else 0

    def waited_us_since(self, then: Now) -> int:
        """Microseconds in between in which some process waited for a core."""
        return round((self.waited - then.waited) * 1e6) if self.waited > then.waited else 0


class Reading(NamedTuple):
    """What one ply cost a seat.

    Attributes:
        used_us: elapsed, before credit.
        credit_us: our own stalls, not charged.
        overrun: whether the seat lost on time.
        excused: whether that was by our own stalls alone, those beyond the credit.
    """

    used_us: int
    credit_us: int
    overrun: bool
    excused: bool = False

    @property
    def charged_us(self) -> int:
        """What is taken off the bank."""
        return self.used_us - self.credit_us


class SeatClock:
    """The clock of one seat.

    Args:
        margin_us: overrun that is forgiven.

    Attributes:
        due: the instant after which the running ply is an overrun, as far as was known when last looked at.
    """

    __slots__ = ("bank_us", "control", "due", "margin_us", "started")

    def __init__(self, control: TimeControl, margin_us: int) -> None:
        self.control = control
        self.margin_us = margin_us
        self.bank_us = control.bank_us
        self.started: Now | None = None
        self.due: float | None = None

    @property
    def allowance_us(self) -> int | None:
        """What the seat may use for the next ply, without the margin; None is untimed."""
        limit = self.control.limit_us
        if self.bank_us is None or limit is None:
            return limit if self.bank_us is None else self.bank_us
        return min(self.bank_us, limit)

    def start(self, now: Now) -> None:
        """The request goes out."""
        self.started = now
        self.due = self.deadline(now)

    def read(self, now: Now) -> Reading:
        """What the running ply has cost until now."""
        if self.started is None:
            return Reading(0, 0, overrun=False)
        used = now.us_since(self.started)
        stalled = credit = 0
        if now.stalled > self.started.stalled:
            stalled = min(now.stalled_us_since(self.started), used)
            credit = min(stalled, MAX_CREDIT_US)
        allowed = self.allowance_us
        if allowed is None or used - credit <= allowed + self.margin_us:
            return Reading(used, credit, overrun=False)
        return Reading(used, credit, overrun=True, excused=used - stalled <= allowed + self.margin_us)

    def left_us(self, now: Now) -> int | None:
        """What is left for the running or next ply, never negative; None is untimed."""
        allowed = self.allowance_us
        if allowed is None or self.started is None:
            return allowed
        return max(0, allowed - self.read(now).charged_us)

    def deadline(self, now: Now) -> float | None:
        """The instant at which the seat has had its time, all our own stalls apart, as far as is known now."""
        allowed = self.allowance_us
        if self.started is None or allowed is None:
            return None
        return self.started.at + (allowed + self.margin_us) / 1e6 + max(0.0, now.stalled - self.started.stalled)

    def stop(self, reading: Reading) -> None:
        """The ply is answered: charges the bank and adds the increment."""
        self.started = self.due = None
        if self.bank_us is not None:
            self.bank_us = max(0, self.bank_us - reading.charged_us) + self.control.increment_us
