"""What a bot's author imports: ``Bot`` to derive from, and what its methods are given."""

from arena_sdk.bot import RESIGN, Bot, Result
from arena_sdk.clock import Clock

__all__ = ["RESIGN", "Bot", "Clock", "Result"]
