"""The round-robin that decides a season: its games wait long for whoever is away."""

from __future__ import annotations

from arena_server.coordinator.coordinator import Turn
from arena_server.coordinator.served import Served


class Closing(Served):
    """Plays it on the floor of a server. A game is given up only where a bot of it was away for its whole patience."""

    def _is_left(self, turn: Turn) -> bool:  # noqa: ARG002 - whoever it is
        """Who leaves may come back: this is the last chance of all."""
        return False
