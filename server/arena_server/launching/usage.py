"""What a process of this machine has used, by its clock and /proc."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_CPU_CLOCK = 2
"""Of the clocks that every Linux process has: CPU time, scheduled by the nanosecond."""
_CUTIME = 13
"""Place in /proc/PID/stat behind the name; the children's system time comes next."""
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def cpu_us(pid: int | None) -> int | None:
    """CPU time of a running process, all its threads; None where it is gone, or elsewhere."""
    if pid is None:
        return None
    try:
        return time.clock_gettime_ns(~pid << 3 | _CPU_CLOCK) // 1000
    except OSError:
        return None


def tree_cpu_us(pid: int | None) -> int | None:
    """CPU time of a running process, its living descendants, and those that any of them waited for; None if it is gone.

    A process that leaves its parent is not found: what it burns is bounded by the limit on the wall alone.
    """
    own = cpu_us(pid)
    if own is None or pid is None:
        return None
    return own + _waited_for_us(pid) + sum(tree_cpu_us(child) or 0 for child in _children(pid))


def _waited_for_us(pid: int) -> int:
    """CPU time of the dead children of a process, by the kernel's ticks of 10 ms."""
    stat = _read(f"/proc/{pid}/stat")
    ticks = stat[stat.rfind(b")") + 2 :].split()[_CUTIME : _CUTIME + 2]
    return sum(map(int, ticks)) * 1_000_000 // _TICK


def _children(pid: int) -> Iterator[int]:
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - on the path of a move
            yield from map(int, _read(f"/proc/{pid}/task/{thread}/children").split())


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - likewise
            return file.read()
    except OSError:
        return b""


def peak_rss_kb(pid: int | None) -> int | None:
    """The largest resident size of a running process; None where it is gone, or elsewhere."""
    if pid is None:
        return None
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return None
