"""Tournaments, games and ratings on disk: what was played, written once and checkable."""

from arena_server.store.database import AwayError
from arena_server.store.lock import Lock
from arena_server.store.store import Store
from arena_server.store.views import (
    Entered,
    GameStatus,
    Parked,
    Phase,
    Progress,
    Recorded,
    Run,
    Season,
    SideEvent,
    Standing,
    Status,
    Terms,
    Tournament,
)

__all__ = [
    "AwayError",
    "Entered",
    "GameStatus",
    "Lock",
    "Parked",
    "Phase",
    "Progress",
    "Recorded",
    "Run",
    "Season",
    "SideEvent",
    "Standing",
    "Status",
    "Store",
    "Terms",
    "Tournament",
]
