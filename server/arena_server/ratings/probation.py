"""When an entrant has failed too often to play on: decided from what the fold knows of it, and so in schedule order."""

from __future__ import annotations

from arena_server.model import FAILURES, Ending, Probation
from arena_server.ratings.fold import Tally

STARTS = 3
"""Start failures in a row after which a bot is parked, whatever the spec says: each may cost a whole start limit."""
_ITS_RIGHT = (Ending.RESIGN, Ending.FORFEIT)  # endings of its own that are no failure


def parked(rule: Probation, tally: Tally) -> str:
    """Why an entrant with this tally is parked, in words; empty where it plays on."""
    if tally.unstarted >= STARTS:
        return f"it did not start {STARTS} times in a row"
    failures = {kind: tally.failures[kind] for kind in FAILURES if kind in tally.failures and kind not in _ITS_RIGHT}
    failed = sum(failures.values())
    if rule.failures is None or failed < rule.failures or failed <= rule.share * tally.games:
        return ""
    kinds = ", ".join(f"{kind.replace('_', ' ')} {number}" for kind, number in failures.items())
    return f"it failed in {failed} of {tally.games} games ({kinds})"
