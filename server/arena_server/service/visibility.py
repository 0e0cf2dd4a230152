"""Who may see what. Results are for everybody; what is still played, and what bots say of themselves, need not be."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol


class Visibility(Protocol):
    """A policy, asked for every game that is not over and for every journal entry; it must not block.

    A game is over here once all games of its pairing are: they share a deal and the bots.
    """

    def hides(self, tournament: str) -> bool:
        """Whether games of it may be hidden from anybody: only then is looked what is not over."""

    def shows_running(self, tournament: str, seats: Sequence[str]) -> bool:
        """Whether readers may see a game that is not over: that it is played, by whom (labels), and its moves.

        They may where they may see it of each of its seats alone.
        """

    def shows_evidence(self, tournament: str) -> bool:
        """Whether readers may see what bots logged, how they crashed, and what else was known of them then."""


class Everything:
    """Everybody sees everything, as who has the database does."""

    def hides(self, tournament: str) -> bool:  # noqa: ARG002 - an answer for all
        """No."""
        return False

    def shows_running(self, tournament: str, seats: Sequence[str]) -> bool:  # noqa: ARG002 - an answer for all
        """Yes."""
        return True

    def shows_evidence(self, tournament: str) -> bool:  # noqa: ARG002 - likewise
        """Yes."""
        return True


@dataclass(slots=True)
class FairPlay:
    """Of what a server plays: nobody sees its games before they are over, or what bots said; who has the database does.

    A bot that knew its opponent, or could read along, could play otherwise against it. Owners may allow it: a game
    whose bots are all open is shown.

    Attributes:
        served: names of the server's tournaments, as they count.
        open: names of the bots, as they count, whose owners allow it.
    """

    served: Collection[str]
    open: Collection[str] = ()

    def hides(self, tournament: str) -> bool:
        """The server's own."""
        return tournament.casefold() in self.served

    def shows_running(self, tournament: str, seats: Sequence[str]) -> bool:
        """Of the server's own only where all owners allow it."""
        return not self.hides(tournament) or all(label.split()[0].casefold() in self.open for label in seats)

    def shows_evidence(self, tournament: str) -> bool:
        """Not of the server's own."""
        return not self.hides(tournament)
