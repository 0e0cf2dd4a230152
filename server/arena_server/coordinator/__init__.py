"""The one loop that plans, gives out games, records, rates and reports."""

from arena_server.coordinator.coordinator import Coordinator, Interrupted
from arena_server.coordinator.watching import Snapshot, Watcher

__all__ = ["Coordinator", "Interrupted", "Snapshot", "Watcher"]
