"""Clocks of seats: pure arithmetic over what was measured (design, decision 4)."""

from __future__ import annotations

from typing import NamedTuple

from arena_server.model import TimeControl

WALL_TIMES, WALL_EXTRA_US = 3, 1_000_000
"""Where CPU time counts, an answer must come within three times the allowance and a second by the clock on the wall."""
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
        cpu_us: CPU time, where the clock counts that and it is known.
    """

    used_us: int
    credit_us: int
    overrun: bool
    excused: bool = False
    cpu_us: int | None = None

    @property
    def charged_us(self) -> int:
        """What is taken off the bank."""
        return self.used_us - self.credit_us if self.cpu_us is None else self.cpu_us


class SeatClock:
    """The clock of one seat.

    Args:
        margin_us: overrun that is forgiven.

    Attributes:
        due: the instant after which the running ply is an overrun, as far as was known when last looked at.
    """

    __slots__ = ("bank_us", "control", "cpu_us", "due", "margin_us", "started")

    def __init__(self, control: TimeControl, margin_us: int) -> None:
        self.control = control
        self.margin_us = margin_us
        self.bank_us = control.bank_us
        self.started: Now | None = None
        self.due: float | None = None
        self.cpu_us: int | None = None  # of the bot when it was asked

    @property
    def allowance_us(self) -> int | None:
        """What the seat may use for the next ply, without the margin; None is untimed."""
        limit = self.control.limit_us
        if self.bank_us is None or limit is None:
            return limit if self.bank_us is None else self.bank_us
        return min(self.bank_us, limit)

    @property
    def wall_us(self) -> int | None:
        """After which an answer is too late in any case, without the margin."""
        allowed = self.allowance_us
        return WALL_TIMES * allowed + WALL_EXTRA_US if self.control.cpu and allowed is not None else allowed

    def start(self, now: Now, cpu_us: int | None = None) -> None:
        """The request goes out, when the bot has used so much CPU time in all."""
        self.started = now
        self.cpu_us = cpu_us
        self.due = self.deadline(now)

    def read(self, now: Now, cpu_us: int | None = None) -> Reading:
        """What the running ply has cost until now, when the bot has used so much CPU time in all."""
        if self.started is None:
            return Reading(0, 0, overrun=False)
        used = now.us_since(self.started)
        stalled = credit = 0
        if now.stalled > self.started.stalled:
            stalled = min(now.stalled_us_since(self.started), used)
            credit = min(stalled, MAX_CREDIT_US)
        spent = None if cpu_us is None or self.cpu_us is None else max(0, cpu_us - self.cpu_us)
        if spent is not None and spent > (self.allowance_us or 0) + self.margin_us:
            return Reading(used, credit, overrun=True, cpu_us=spent)
        wall = self.wall_us
        if wall is None or used - credit <= wall + self.margin_us:
            return Reading(used, credit, overrun=False, cpu_us=spent)
        return Reading(used, credit, overrun=True, excused=used - stalled <= wall + self.margin_us, cpu_us=spent)

    def left_us(self, now: Now) -> int | None:
        """What is left for the running or next ply, never negative; None is untimed."""
        allowed = self.allowance_us
        if allowed is None or self.started is None:
            return allowed
        return max(0, allowed - self.read(now).charged_us)

    def deadline(self, now: Now) -> float | None:
        """The instant at which the seat has had its time, all our own stalls apart, as far as is known now."""
        wall = self.wall_us
        if self.started is None or wall is None:
            return None
        return self.started.at + (wall + self.margin_us) / 1e6 + max(0.0, now.stalled - self.started.stalled)

    def stop(self, reading: Reading) -> None:
        """The ply is answered: charges the bank and adds the increment."""
        self.started = self.due = None
        if self.bank_us is not None:
            self.bank_us = max(0, self.bank_us - reading.charged_us) + self.control.increment_us
