"""MCTS: plays whole games from the positions that look best so far, for as long as its clock allows.

Monte Carlo tree search with UCT. A patch fits in hundreds of places, so the tree holds only the tidiest few of each;
playouts buy at random and place a patch into the first corner where it fits.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, compress, pairwise
from math import inf, log, sqrt
from random import Random

from arena_engine.patchwork import Move, State
from arena_engine.patchwork.moves import ADVANCE, BUYS, LEATHER
from arena_engine.patchwork.patches import PATCHES
from arena_engine.patchwork.quilt import FULL, SIDE, flags
from arena_sdk import Bot, Clock

NOT_LAST_COLUMN = sum((1 << SIDE - 1) - 1 << SIDE * row for row in range(SIDE))
CLEAR_LEAD = 30
"""A lead of so many points counts in full."""


class Mcts(Bot):
    """The more time, the better it plays. All but the number of playouts follows from the seat's seed."""

    def on_start(self) -> None:
        """Reads the options once; bot.toml says what they mean."""
        self.c = float(self.options["c"])
        self.tries = max(1, int(self.options["tries"]))
        self.limit = int(self.options["playouts"]) or inf

    def choose(self, state: State, clock: Clock) -> Move:
        """The move that was tried most; ``clock.budget`` ends the search well before the bot loses on time."""
        root = Node(state, self.tries)
        self.improve(root)
        while root.visits < self.limit and clock.budget > 0 and not root.is_forced:
            self.improve(root)
        best = max(root.children, key=lambda child: child.visits)
        self.log(f"{root.visits} playouts, won {best.value / best.visits:.0%}")
        assert best.move is not None
        return best.move

    def improve(self, root: Node) -> None:
        """One round: walk down to a new position, play from there to the end, tell all positions on the way."""
        path = root.descend(self.c)
        result = playout(path[-1].state, self.random)
        root.visits += 1
        for parent, child in pairwise(path):
            child.visits += 1
            child.value += result if parent.state.seat_to_move == "a" else 1 - result


class Node:
    """A position in the tree.

    Attributes:
        move: led here; None for the root.
        untried: moves without a child.
        visits: playouts that came through here.
        value: sum of their results, each 0 to 1, for the seat that made ``move``.
    """

    def __init__(self, state: State, tries: int, move: Move | None = None) -> None:
        self.state = state
        self.move = move
        self.tries = tries
        self.untried = candidates(state, tries)
        self.children: list[Node] = []
        self.visits = 0
        self.value = 0.0

    @property
    def is_forced(self) -> bool:
        """Whether there is nothing to choose."""
        return len(self.untried) + len(self.children) == 1

    def descend(self, c: float) -> list[Node]:
        """The way to a position that is not in the tree yet, or to the end of a game: this node first."""
        path = [self]
        while path[-1].children and not path[-1].untried:
            path.append(path[-1].most_promising(c))
        if path[-1].untried:
            path.append(path[-1].expand())
        return path

    def most_promising(self, c: float) -> Node:
        """The child with the highest upper confidence bound: good so far, or hardly known."""
        width = c * sqrt(log(self.visits))
        return max(self.children, key=lambda child: child.value / child.visits + width / sqrt(child.visits))

    def expand(self) -> Node:
        """A new child, after the next untried move."""
        move = self.untried.pop(0)
        self.children.append(Node(self.state.after_unchecked(move), self.tries, move))
        return self.children[-1]


def candidates(state: State, tries: int) -> list[Move]:
    """Advance, and each patch that can be bought (or the leather) at its tidiest places; nothing in a finished game."""
    if state.is_over:
        return []
    me = state.player(state.seat_to_move)
    if state.leather_due:
        return tidy(state.legal_moves(), me.quilt, tries)
    offered = [patch for patch in state.offered if PATCHES[patch].cost <= me.buttons]
    return [ADVANCE, *(move for patch in offered for move in tidy_places(patch, me.quilt, tries))]


@lru_cache(maxsize=10_000)
def tidy_places(patch: str, quilt: int, tries: int) -> list[Move]:
    """The tidiest placements of a patch; the tree meets the same quilt many times."""
    empty = FULL ^ quilt
    places = (compress(moves, flags(look.fits(empty))) for look, moves in BUYS[patch])
    return tidy(chain.from_iterable(places), quilt, tries)


def tidy(moves: Iterable[Move], quilt: int, tries: int) -> list[Move]:
    """Those that leave the fewest edges, best first."""
    return sorted(moves, key=lambda move: edges(quilt | move.cells))[:tries]


def edges(quilt: int) -> int:
    """How many sides of empty cells touch a covered cell or the border: few where the empty cells lie together."""
    empty = FULL ^ quilt
    joints = (empty & empty >> 1 & NOT_LAST_COLUMN).bit_count() + (empty & empty >> SIDE).bit_count()
    return 4 * empty.bit_count() - 2 * joints


def playout(state: State, random: Random) -> float:
    """Plays quickly to the end; seat a's result from 0 to 1: winning counts most, the margin a little."""
    while not state.is_over:
        state = state.after_unchecked(quick_move(state, random))
    a, b = state.scores()
    margin = max(-1.0, min(1.0, (a - b) / CLEAR_LEAD))
    return 0.5 + 0.1 * margin + (0.4 if state.outcome.ranks[0] == 1 else -0.4)


def quick_move(state: State, random: Random) -> Move:
    """A purchase at random; an advance if none is possible."""
    me = state.player(state.seat_to_move)
    empty = FULL ^ me.quilt
    if state.leather_due:
        return LEATHER[lowest(empty)]
    for patch in random.sample(state.offered, len(state.offered)):
        move = first_fit(patch, empty) if PATCHES[patch].cost <= me.buttons else None
        if move:
            return move
    return ADVANCE


def first_fit(patch: str, empty: int) -> Move | None:
    """The placement nearest to the top, then to the left, over all orientations: it keeps a quilt fairly tidy."""
    fits = [(anchors, places) for look, places in BUYS[patch] if (anchors := look.fits(empty))]
    anchors, places = min(fits, key=lambda fit: lowest(fit[0]), default=(0, ()))
    return places[lowest(anchors)] if anchors else None


def lowest(mask: int) -> int:
    """The first cell of a mask."""
    return (mask & -mask).bit_length() - 1


if __name__ == "__main__":
    Mcts.main()
