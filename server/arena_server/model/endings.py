"""How games end."""

from __future__ import annotations

from enum import StrEnum

MAX_ATTEMPTS = 3
"""Void attempts after which a game is abandoned."""


class Ending(StrEnum):
    """Why a game ended (design, decision 3)."""

    NORMAL = "normal"
    ILLEGAL_MOVE = "illegal_move"
    TIMEOUT = "timeout"
    CRASH = "crash"
    DISCONNECT = "disconnect"
    PROTOCOL_ERROR = "protocol_error"
    START_FAILURE = "start_failure"
    RESIGN = "resign"
    FORFEIT = "forfeit"
    VOID = "void"
    ABANDONED = "abandoned"

    @property
    def rated(self) -> bool:
        """Whether the game counts."""
        return self not in (Ending.VOID, Ending.ABANDONED)


FAILURES = (
    Ending.ILLEGAL_MOVE,
    Ending.TIMEOUT,
    Ending.CRASH,
    Ending.DISCONNECT,
    Ending.PROTOCOL_ERROR,
    Ending.START_FAILURE,
    Ending.RESIGN,
    Ending.FORFEIT,
)
"""The endings that are a seat's own, in the order of reports."""
