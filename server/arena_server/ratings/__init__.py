"""From results to ratings: pure, and the same to the last bit wherever it is computed."""

from arena_server.ratings.fold import Finished, Tally, counted, fold
from arena_server.ratings.trueskill import (
    INITIAL,
    Rating,
    Update,
    check_draw_probability,
    conservative,
    update,
    version,
)

__all__ = [
    "INITIAL",
    "Finished",
    "Rating",
    "Tally",
    "Update",
    "check_draw_probability",
    "conservative",
    "counted",
    "fold",
    "update",
    "version",
]
