"""A whole tournament under a simulated clock and transport, with scripted faults.

Coordinator, recorder, executor, referee, driver, match, sessions, stall watch and store are the real ones. Simulated
are time, the thread of the store, the keeper with its processes, and the streams between referee and bots.
"""

from simulated.checks import Violation
from simulated.search import simulate, tell

__all__ = ["Violation", "simulate", "tell"]
