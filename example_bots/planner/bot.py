"""Planner: looks a few plies ahead, and values time, income and a tidy quilt.

A purchase is two decisions. Where the patch goes matters to its owner alone, so the tidiest place is taken at once.
Which patch is bought decides who moves next and what is for sale then, so that is searched: at most four moves in a
position instead of hundreds.
"""

from functools import lru_cache
from itertools import chain, compress
from math import inf

from arena_engine.patchwork import Move, State
from arena_engine.patchwork.moves import ADVANCE, BUYS
from arena_engine.patchwork.patches import PATCHES
from arena_engine.patchwork.quilt import FULL, SIDE, flags
from arena_engine.patchwork.track import FINAL, INCOME_PASSED
from arena_sdk import Bot, Clock

OTHER = {"a": "b", "b": "a"}
NOT_LAST_COLUMN = sum((1 << SIDE - 1) - 1 << SIDE * row for row in range(SIDE))


class Planner(Bot):
    """Searches the purchases of both seats to a fixed depth, so that it plays the same on every machine."""

    def on_start(self) -> None:
        """Reads the options once; bot.toml says what they mean."""
        self.depth = max(1, int(self.options["depth"]))
        self.space_worth = float(self.options["space_worth"])
        self.edge_cost = float(self.options["edge_cost"])

    def choose(self, state: State, clock: Clock) -> Move:  # noqa: ARG002 - a few milliseconds are enough
        """The move that leads to the best outlook; the first of them if several do."""
        outlooks = {
            move: self.outlook(state.after_unchecked(move), self.seat, self.depth - 1) for move in candidates(state)
        }
        best = max(outlooks, key=outlooks.__getitem__)
        self.log(f"outlook {outlooks[best]:+.1f}")
        return best

    def outlook(self, state: State, seat: str, depth: int, floor: float = -inf, ceiling: float = inf) -> float:
        """A seat's lead after that many more plies if both play their best (negamax, cut off outside the bounds)."""
        if depth == 0 or state.is_over:
            return self.worth(state, seat) - self.worth(state, OTHER[seat])
        if state.seat_to_move != seat:
            return -self.outlook(state, OTHER[seat], depth, -ceiling, -floor)
        for move in candidates(state):
            floor = max(floor, self.outlook(state.after_unchecked(move), seat, depth - 1, floor, ceiling))
            if floor >= ceiling:
                break
        return floor

    def worth(self, state: State, seat: str) -> float:
        """What a seat can expect at the end of the game, in points."""
        me = state.player(seat)
        income = me.income * (INCOME_PASSED[FINAL] - INCOME_PASSED[me.time])
        time = self.space_worth * (FINAL - me.time)
        return state.score(seat) + income + time - self.edge_cost * edges(me.quilt)


def candidates(state: State) -> list[Move]:
    """Advance, and each patch that can be bought (or the leather) at its tidiest place."""
    me = state.player(state.seat_to_move)
    if state.leather_due:
        return [min(state.legal_moves(), key=lambda move: edges(me.quilt | move.cells))]
    places = (tidiest(patch, me.quilt) for patch in state.offered if PATCHES[patch].cost <= me.buttons)
    return [ADVANCE, *(move for move in places if move)]


@lru_cache(maxsize=10_000)
def tidiest(patch: str, quilt: int) -> Move | None:
    """The placement that leaves the fewest edges, the first of them if several do; None where it does not fit."""
    empty = FULL ^ quilt
    places = (compress(moves, flags(look.fits(empty))) for look, moves in BUYS[patch])
    return min(chain.from_iterable(places), key=lambda move: edges(quilt | move.cells), default=None)


def edges(quilt: int) -> int:
    """How many sides of empty cells touch a covered cell or the border: few where the empty cells lie together."""
    empty = FULL ^ quilt
    joints = (empty & empty >> 1 & NOT_LAST_COLUMN).bit_count() + (empty & empty >> SIDE).bit_count()
    return 4 * empty.bit_count() - 2 * joints


if __name__ == "__main__":
    Planner.main()
