"""Whether this machine can keep the clocks fair: a short look before a run, and what the run then suffered."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from arena_server.model import Ending, Result, TimeControl

LOOK_S = 0.2
"""Seconds of the trial load."""
BOT_MB = 64
"""What a small bot in Python takes; larger ones are the organiser's to know."""
ENOUGH = 0.75
"""Share of a core below which a busy process does not really have one."""
LATE_SHARE = 0.25
"""Of a ply's time: more than that must not go by until the referee wakes up."""

_SPIN = f"""
import time
wall, cpu = time.monotonic(), time.process_time()
while time.monotonic() - wall < {LOOK_S}:
    pass
print((time.process_time() - cpu) / (time.monotonic() - wall))
"""


@dataclass(frozen=True, slots=True)
class Look:
    """What was found.

    Attributes:
        cores: that we may use.
        share: of a core that each of ``cores - 1`` busy processes got, at least one.
        late_ms: by how much a process beside them woke up too late, at worst.
        memory_mb: that is free for bots; None where the system does not tell.
    """

    cores: int
    share: float
    late_ms: float
    memory_mb: int | None

    def capacity(self, seats: int) -> int:
        """Games at once that get their cores, one left for the referee, and their memory."""
        by_cores = round((self.cores - 1) * self.share)
        by_memory = by_cores if self.memory_mb is None else self.memory_mb // (seats * BOT_MB)
        return max(1, min(by_cores, by_memory))

    def warnings(self, capacity: int, seats: int, control: TimeControl) -> Iterator[str]:
        """What is not as it should be for so many games at once under that time control."""
        if capacity > self.cores and not control.cpu:
            share = self.cores / capacity
            yield (
                f"{capacity} games at once on {self.cores} cores: bots that think all the time get {share:.0%} of a "
                "core each and lose time to each other - play fewer at once, or with --clock cpu"
            )
        if self.share < ENOUGH:
            yield (
                f"this machine is busy with other work: a process gets {self.share:.0%} of a core, so bots think less "
                "in their time - stop the other work, or play with --clock cpu"
            )
        ply_ms = _shortest_us(control) / 1e3
        if self.late_ms > LATE_SHARE * ply_ms:
            yield (
                f"the referee wakes up as much as {self.late_ms:.0f} ms late here, which is a lot beside {ply_ms:g} ms "
                "a ply - give more time, or play fewer games at once"
            )
        if self.memory_mb is not None and self.memory_mb < capacity * seats * BOT_MB:
            yield (
                f"{capacity * seats} bots may not fit into the {self.memory_mb} MB of memory that are free "
                "- play fewer games at once"
            )


def look() -> Look:
    """Looks for a fifth of a second, with as many busy processes as games would keep busy by default."""
    cores = len(os.sched_getaffinity(0))
    command = [sys.executable, "-I", "-S", "-c", _SPIN]
    load = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(max(1, cores - 1))]  # noqa: S603 - ours
    late = _lateness(LOOK_S)
    shares = [float(process.communicate()[0] or 0) for process in load]
    return Look(cores, min(1.0, sum(shares) / len(shares)), late * 1e3, _memory_mb())


def _lateness(seconds: float) -> float:
    """By how much a sleep was too long, at worst."""
    end, worst = time.monotonic() + seconds, 0.0
    while (begun := time.monotonic()) < end:
        time.sleep(0.005)
        worst = max(worst, time.monotonic() - begun - 0.005)
    return worst


def _memory_mb() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) >> 10 for line in lines if line.startswith("MemAvailable:")), None)


def _shortest_us(control: TimeControl) -> int:
    """The least time that a ply may have to do with."""
    if control.bank_us is None:
        return control.limit_us or 0
    return min(control.limit_us or control.bank_us, control.increment_us or control.bank_us)


class Strain:
    """What a run suffered from this machine."""

    def __init__(self) -> None:
        self._moves = self._credited = self._credit_us = self._voids = 0

    def note(self, result: Result) -> None:
        """Takes a played attempt into account."""
        self._voids += result.ending is Ending.VOID
        self._moves += len(result.moves)
        credits_us = [move.credit_us for move in result.moves if move.credit_us]
        self._credited += len(credits_us)
        self._credit_us += sum(credits_us)

    def lines(self) -> Iterator[str]:
        """What to tell at the end; nothing where nothing was amiss."""
        if self._credited or self._voids:
            games = "1 game was" if self._voids == 1 else f"{self._voids} games were"
            voids = f", and {games} void and to be played again" if self._voids else ""
            yield (
                f"the arena itself stalled at times: {self._credited} of {self._moves} moves got credit for it, "
                f"{self._credit_us / 1e6:.1f} s in all{voids}; play fewer games at once if that is much"
            )
