"""What the arena answers over the network beside the games themselves."""

from arena_server.service.leaderboard import Leaderboard

__all__ = ["Leaderboard"]
