"""What a process of this machine has used, by its clock and /proc."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

_CPU_CLOCK = 2
"""Of the clocks that every Linux process has: CPU time, scheduled by the nanosecond."""


def cpu_us(pid: int) -> int | None:
    """CPU time of a running process, all its threads; None where it is gone."""
    try:
        return time.clock_gettime_ns(~pid << 3 | _CPU_CLOCK) // 1000
    except OSError:
        return None


def peak_rss_kb(pid: int) -> int | None:
    """The largest resident size of a running process; None where it is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return None
