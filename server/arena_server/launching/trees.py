"""Which processes belong to which bot, by /proc. Standard library only: the keeper runs this."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

PASS_S = 0.005
"""Between two looks at what is being killed."""
MARK = "ARENA_TREE"
"""The variable that marks a bot's processes: ``<keeper's token>.<number>``."""


class Seen:
    """One line of the process table."""

    __slots__ = ("alive", "group", "parent", "pid", "session")

    def __init__(self, pid: int, stat: bytes) -> None:
        state, parent, group, session = stat[stat.rindex(b")") + 2 :].split(None, 4)[:4]  # the name may hold anything
        self.pid = pid
        self.alive = state not in (b"Z", b"X")
        self.parent, self.group, self.session = int(parent), int(group), int(session)


def members(leaders: Mapping[int, int], token: str) -> dict[int, list[Seen]]:
    """The living descendants of this process by their tree's number; 0 for those that hide whose they are.

    An orphan becomes our child, since we are a subreaper: so all descendants are found by parent links, and an
    orphan's tree by its session, its group or its mark. An orphan of a tree that is no more counts as hiding.

    Args:
        leaders: from the pid of each bot to its number.
        token: of this keeper.
    """
    table = {seen.pid: seen for seen in _table()}
    found: dict[int, list[Seen]] = {}
    owners: dict[int, int] = {}
    for seen in table.values():
        top = _top(seen, table)
        if top is None or not seen.alive:
            continue
        if top.pid not in owners:
            owners[top.pid] = _owner(top, leaders, token)
        found.setdefault(owners[top.pid], []).append(seen)
    return found


def kill(processes: list[Seen]) -> None:
    """SIGKILL to each, and to their groups: what forks faster than we look cannot leave its group by that."""
    for group in {seen.group for seen in processes} - {0, os.getpgrp()}:
        _signal(os.killpg, group)
    for seen in processes:
        _signal(os.kill, seen.pid)


def sweep(token: str) -> bool:
    """Kills all that bears the mark of a keeper that is no more; False if something does not die."""
    for _ in range(100):
        left = [seen for seen in _table() if seen.alive and (mark(seen.pid) or "").startswith(f"{token}.")]
        if not left:
            return True
        kill(left)
        time.sleep(PASS_S)
    return False


def mark(pid: int) -> str | None:
    """The mark of a process; None if it has none or does not show it."""
    prefix = MARK.encode() + b"="
    for entry in _read(pid, "environ").split(b"\0"):
        if entry.startswith(prefix):
            return entry[len(prefix) :].decode("ascii", "replace")
    return None


def _top(seen: Seen, table: Mapping[int, Seen]) -> Seen | None:
    """Its ancestor among our own children; itself if it is one."""
    for _ in range(len(table)):  # a table read in pieces could hold a ring
        if seen.parent == os.getpid():
            return seen
        if seen.parent not in table:
            return None
        seen = table[seen.parent]
    return None


def _owner(top: Seen, leaders: Mapping[int, int], token: str) -> int:
    for pid in (top.pid, top.session, top.group):
        if pid in leaders:
            return leaders[pid]
    bearer, _, number = (mark(top.pid) or "").partition(".")
    known = bearer == token and number.isdecimal() and int(number) in leaders.values()
    return int(number) if known else 0


def _table() -> Iterator[Seen]:
    for name in os.listdir("/proc"):  # noqa: PTH208 - as below
        if name.isdecimal() and (stat := _read(int(name), "stat")):
            yield Seen(int(name), stat)


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:  # noqa: PTH123 - pathlib costs the keeper 10 ms
            return file.read()
    except OSError:
        return b""


def _signal(send: Callable[[int, int], None], target: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it is gone, or another user's by now
        send(target, signal.SIGKILL)
