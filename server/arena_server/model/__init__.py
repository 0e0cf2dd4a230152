"""The frozen values that the parts of the arena hand to each other.

Times inside are whole microseconds (``..._us``); monotonic instants are float seconds (``at``).
"""

from arena_server.model.canonical import canonical_json
from arena_server.model.endings import FAILURES, MAX_ATTEMPTS, Ending
from arena_server.model.entrants import About, Entrant, Identity, Option, labels
from arena_server.model.errors import ArenaError, BreakdownError, UserError
from arena_server.model.games import Assignment, Pairing, PlannedGame, Token
from arena_server.model.results import BlackBox, Failure, Played, Result
from arena_server.model.spec import Probation, Purpose, Spec
from arena_server.model.time_control import MARGIN_LAUNCHED_US, MARGIN_REMOTE_US, TimeControl

__all__ = [
    "FAILURES",
    "MARGIN_LAUNCHED_US",
    "MARGIN_REMOTE_US",
    "MAX_ATTEMPTS",
    "About",
    "ArenaError",
    "Assignment",
    "BlackBox",
    "BreakdownError",
    "Ending",
    "Entrant",
    "Failure",
    "Identity",
    "Option",
    "Pairing",
    "PlannedGame",
    "Played",
    "Probation",
    "Purpose",
    "Result",
    "Spec",
    "TimeControl",
    "Token",
    "UserError",
    "canonical_json",
    "labels",
]
