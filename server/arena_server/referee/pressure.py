"""What the machine says of its own load: evidence for games lost on time."""

from __future__ import annotations

import os
from contextlib import suppress

_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_STEAL = 8  # user, nice, system, idle, iowait, irq, softirq, steal behind the word cpu


class Pressure:
    """Counters of the kernel; each stays 0 where the machine does not have it.

    Attributes:
        has_stolen: whether the first one can be read.
        has_waited: whether the second can.
    """

    def __init__(self) -> None:
        self._stat = _opened("/proc/stat")
        self._cpu = _opened("/proc/pressure/cpu")
        self.has_stolen = self._stat is not None
        self.has_waited = self._cpu is not None

    def stolen(self) -> float:
        """CPU seconds that the host of this virtual machine gave to others, of all cores, by its ticks of 10 ms."""
        if self._stat is None:
            return 0.0
        return int(os.pread(self._stat, 256, 0).split(None, _STEAL + 1)[_STEAL]) / _TICK

    def waited(self) -> float:
        """Seconds in which some process had to wait for a core."""
        if self._cpu is None:
            return 0.0
        return int(os.pread(self._cpu, 256, 0).split(b"total=", 1)[1].split(None, 1)[0]) / 1e6

    def close(self) -> None:
        """Lets go of the files."""
        for fd in (self._stat, self._cpu):
            if fd is not None:
                os.close(fd)
        self._stat = self._cpu = None


def _opened(path: str) -> int | None:
    """A descriptor of a file whose first reading succeeds."""
    fd = None
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        if os.pread(fd, 256, 0):
            return fd
    if fd is not None:
        os.close(fd)
    return None
