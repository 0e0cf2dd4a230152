"""Who may see what. Results are for everybody; what is still played, and what bots say of themselves, need not be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

Caller = Sequence[tuple[str, str | bytes]]
"""The metadata of a call: what the caller says of itself, its token above all."""


class Visibility(Protocol):
    """A policy, asked for every game that is not over and for every journal entry; it must not block."""

    def shows_running(self, tournament: str, seats: Sequence[str], caller: Caller) -> bool:
        """Whether the caller may see a game that is not over: that it is played, by whom (labels), and its moves."""

    def shows_evidence(self, tournament: str, caller: Caller) -> bool:
        """Whether the caller may see what bots logged, how they crashed, and what else was known of them then."""


class Everything:
    """Everybody sees everything, as who has the database does."""

    def shows_running(self, tournament: str, seats: Sequence[str], caller: Caller) -> bool:  # noqa: ARG002 - an answer for all
        """Yes."""
        return True

    def shows_evidence(self, tournament: str, caller: Caller) -> bool:  # noqa: ARG002 - likewise
        """Yes."""
        return True


@dataclass(frozen=True, slots=True)
class FairPlay:
    """Of a season: nobody sees its games before they are over, or what bots said; who has the database sees all.

    A bot that knew its opponent, or could read along, could play otherwise against it.
    """

    season: str

    def shows_running(self, tournament: str, seats: Sequence[str], caller: Caller) -> bool:  # noqa: ARG002 - likewise
        """Not of the season."""
        return tournament.casefold() != self.season.casefold()

    def shows_evidence(self, tournament: str, caller: Caller) -> bool:  # noqa: ARG002 - likewise
        """Not of the season."""
        return tournament.casefold() != self.season.casefold()
