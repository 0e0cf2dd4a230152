"""A stage: the games that a format plans at once."""

from __future__ import annotations

from dataclasses import dataclass

from arena_server.model import Pairing


@dataclass(frozen=True, slots=True)
class Stage:
    """What was planned at once.

    Attributes:
        number: from 1.
        pairings: in schedule order.
    """

    number: int
    pairings: tuple[Pairing, ...]
