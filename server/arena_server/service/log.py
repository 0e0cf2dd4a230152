"""The log of a server: a line of JSON for each event."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from queue import Full, Queue
from threading import Thread
from typing import Any

MAX_WAITING = 10_000
"""Lines that wait for who reads; what comes beyond is left out, and counted."""
CLOSE_S = 2.0
"""Seconds that who reads has at the end."""


class Log:
    """Writes in a thread of its own: who reads slowly holds up nothing, and who reads no more ends nothing.

    Args:
        descriptor: of a file, which is left open.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines = Queue[bytes | None](MAX_WAITING)
        self._lost = 0
        self._thread = Thread(target=self._write, name="log", daemon=True)
        self._thread.start()

    def tell(self, event: str, **fields: Any) -> None:
        """Adds a line."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        more = {"lost": self._lost} if self._lost else {}
        try:
            self._lines.put_nowait(json.dumps({"at": at, "event": event, **fields, **more}).encode() + b"\n")
        except Full:
            self._lost += 1
        else:
            self._lost = 0

    def close(self) -> None:
        """Waits until all is written, not for long."""
        with suppress(Full):
            self._lines.put(None, timeout=CLOSE_S)
            self._thread.join(CLOSE_S)

    def _write(self) -> None:
        """Past the buffers of standard output, whose lock would be held while nobody reads."""
        reads = True
        while (line := self._lines.get()) is not None:
            try:
                while reads and line:
                    line = line[os.write(self._descriptor, line) :]
            except OSError:
                reads = False
