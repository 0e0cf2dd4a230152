"""Tournaments, games and ratings on disk: what was played, written once and checkable."""

from arena_server.store.lock import Lock
from arena_server.store.store import Store
from arena_server.store.views import (
    Entered,
    GameStatus,
    Progress,
    Recorded,
    Standing,
    Status,
    Terms,
    Tournament,
)

__all__ = [
    "Entered",
    "GameStatus",
    "Lock",
    "Progress",
    "Recorded",
    "Standing",
    "Status",
    "Store",
    "Terms",
    "Tournament",
]
