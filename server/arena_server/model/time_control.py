"""How time is given, and what of it is forgiven."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Self

from arena_server.model.errors import ArenaError, UserError

MARGIN_LAUNCHED_US = 50_000
MARGIN_REMOTE_US = 500_000
"""Overrun that is forgiven: what a message may take on its way (design, decision 4)."""

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m)")
_UNIT_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000}
_CPU = " cpu"


def _duration_us(text: str) -> int:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return round(float(match[1]) * _UNIT_US[match[2]])


def _seconds_text(us: int) -> str:
    return f"{us / 1e6:.6f}".rstrip("0").rstrip(".") + "s"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """How time is given, in microseconds; None is no such limit.

    Attributes:
        limit_us: at most this for one ply.
        bank_us: time for the whole game.
        increment_us: added to the bank after each ply.
        cpu: whether CPU time counts, that of the bot's process and its children, and not the time on the wall. Only for
            bots that the arena launches itself: nobody can read the CPU clock of a bot elsewhere.
    """

    limit_us: int | None = None
    bank_us: int | None = None
    increment_us: int = 0
    cpu: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads ``100ms``, ``10s+0.1s``, ``10s+0.1s/1s``, each with `` cpu`` behind it for CPU time, or ``none``.

        Raises:
            UserError: it is none of these (design, decision 4).
        """
        if text == "none":
            return cls()
        if text.endswith(_CPU):
            wall = cls.parse(text.removesuffix(_CPU))
            if wall != cls():
                return replace(wall, cpu=True)
        bank, slash, limit = text.partition("/")
        bank, plus, increment = bank.partition("+")
        try:
            if not plus and not slash:
                control = cls(limit_us=_duration_us(bank))
            else:
                control = cls(
                    limit_us=_duration_us(limit) if slash else None,
                    bank_us=_duration_us(bank),
                    increment_us=_duration_us(increment) if plus else 0,
                )
        except ValueError:
            raise UserError("not a time control", repr(text), cls._suggestion(text)) from None
        if 0 in (control.limit_us, control.bank_us):
            raise UserError("a time control of no time", repr(text), "give each ply some time: 100ms")
        return control

    @classmethod
    def _suggestion(cls, text: str) -> str:
        if text.isdecimal() and int(text):
            return f"did you mean {text}ms or {text}s?"
        guess = re.sub(r"(\d)(?=[+/]|$)", r"\1s", text)
        if guess != text:
            with suppress(ArenaError):
                cls.parse(guess)
                return f"did you mean {guess}?"
        return "write 100ms (each ply), 10s+0.1s (bank and increment), 10s+0.1s/1s (both) or none"

    def __str__(self) -> str:
        return self._wall_text() + (_CPU if self.cpu else "")

    def _wall_text(self) -> str:
        if self.bank_us is None:
            limit = self.limit_us
            if limit is None:
                return "none"
            return _seconds_text(limit) if limit >= _UNIT_US["s"] else f"{limit / 1e3:g}ms"
        bank = f"{_seconds_text(self.bank_us)}+{_seconds_text(self.increment_us)}"
        return bank if self.limit_us is None else f"{bank}/{_seconds_text(self.limit_us)}"
