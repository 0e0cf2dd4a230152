"""A search tree by UCT or PUCT in Python: the reference for the compiled one, and for authors' own evaluations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import log, sqrt
from random import Random
from typing import NamedTuple

from arena_engine.patchwork.moves import Move
from arena_engine.patchwork.playout import SplitMix
from arena_engine.patchwork.quilt import FULL, SIDE
from arena_engine.patchwork.state import State

_NOT_LAST_COLUMN = sum((1 << SIDE - 1) - 1 << SIDE * row for row in range(SIDE))

CLEAR_LEAD = 30
"""A lead of so many points counts in full."""


class Line(NamedTuple):
    """What the search thinks of a move.

    Attributes:
        visits: how many playouts began with it.
        value: the sum of their results for the seat that makes it, each from 0 to 1.
    """

    move: Move
    visits: int
    value: float


def result(last: State) -> float:
    """Seat a's result of a finished game from 0 to 1: winning counts most, the margin a little."""
    a, b = last.scores()
    margin = max(-1.0, min(1.0, (a - b) / CLEAR_LEAD))
    return 0.5 + 0.1 * margin + (0.4 if last.winner == "a" else -0.4)


def tidiest(state: State, width: int) -> list[Move]:
    """Advance, and of each patch (or the leather) so many placements that leave the empty cells most together."""
    patches: dict[str, list[Move]] = {}
    for move in state.legal_moves():
        patches.setdefault(move.patch, []).append(move)
    quilt = state.quilt(state.seat_to_move) if patches else 0
    return [
        move
        for moves in patches.values()
        for move in sorted(moves, key=lambda move: -joints(FULL ^ (quilt | move.cells)))[:width]
    ]


def joints(empty: int) -> int:
    """How many neighbouring cells are both empty."""
    return (empty & empty >> 1 & _NOT_LAST_COLUMN).bit_count() + (empty & empty >> SIDE).bit_count()


class Playout:
    """The built-in evaluation: a random game to the end.

    Args:
        random: gives one 64-bit seed.
        policy: see ``arena_engine.patchwork.playout``.
    """

    def __init__(self, random: Random, policy: str) -> None:
        self._source = SplitMix(random.getrandbits(64))
        self._policy = policy

    def __call__(self, state: State) -> float:
        """Seat a's result."""
        return result(state.play_out(self._policy, self._source))


Evaluate = Callable[[State], float]
"""Seat a's chances from 0 to 1."""

Candidates = Callable[[State], Sequence[Move]]
"""The moves to consider, the best first."""

Priors = Callable[[State, Sequence[Move]], Sequence[float]]
"""How likely each of these moves is the best."""


class _Node:
    """A position in the tree; its state is made when it is first visited."""

    __slots__ = ("children", "move", "prior", "seat", "state", "untried", "value", "visits")

    def __init__(self, state: State | None, move: Move | None, prior: float = 1.0) -> None:
        self.state = state
        self.move = move
        self.prior = prior
        self.untried: Iterator[Move] | None = None
        self.children: list[_Node] = []
        self.visits = 0
        self.value = 0.0


class Tree:
    """UCT, or PUCT where there are priors.

    Args:
        state: the root.
        evaluate: judges a position new to the tree.
        candidates: the moves of a position.
        priors: their weights; None for UCT, which tries each move once before any of them twice.
        c: how much to explore.
        nodes: the tree does not grow beyond so many positions.
    """

    def __init__(  # noqa: PLR0913 - what can be plugged in
        self,
        state: State,
        evaluate: Evaluate,
        candidates: Candidates,
        priors: Priors | None,
        *,
        c: float,
        nodes: int,
    ) -> None:
        self._root = _Node(state, None)
        self._evaluate = evaluate
        self._candidates = candidates
        self._priors = priors
        self._c = c
        self._most = nodes
        self._count = 1

    @property
    def visits(self) -> int:
        """Playouts from the root."""
        return self._root.visits

    def children(self) -> list[Line]:
        """The moves tried at the root, in the order of their first trial."""
        return [Line(child.move, child.visits, child.value) for child in self._root.children if child.move]

    def grow(self, playouts: int) -> None:
        """Adds so many playouts."""
        for _ in range(playouts):
            self._improve()

    def advance(self, move: Move) -> None:
        """Goes on from the position after a legal move, with all that is known of it."""
        state = self._state(self._root).after(move)
        known = (child for child in self._root.children if child.move is move)
        self._root = next(known, _Node(state, None))
        self._root.state = state
        self._count = _size(self._root)

    def _state(self, node: _Node) -> State:
        assert node.state is not None
        return node.state

    def _improve(self) -> None:
        path = self._descend()
        won = self._evaluate(self._state(path[-1]))
        self._root.visits += 1
        for parent, child in pairwise(path):
            child.visits += 1
            child.value += won if self._state(parent).seat_to_move == "a" else 1 - won

    def _descend(self) -> list[_Node]:
        """The way to a position new to the tree, or to the end of a game: the root first."""
        path = [self._root]
        step = self._step_by_value if self._priors is None else self._step_by_prior
        while not self._state(path[-1]).is_over:
            child, is_new = step(path[-1])
            if child is None:
                break
            if child.state is None:
                assert child.move is not None
                child.state = self._state(path[-1]).after_unchecked(child.move)
            path.append(child)
            if is_new:
                break
        return path

    def _step_by_value(self, node: _Node) -> tuple[_Node | None, bool]:
        """UCT: the next untried move, then the child with the highest upper confidence bound."""
        if node.untried is None:
            node.untried = iter(self._candidates(self._state(node)))
        move = next(node.untried, None) if self._count < self._most else None
        if move is not None:
            self._count += 1
            node.children.append(_Node(None, move))
            return node.children[-1], True
        if not node.children:
            return None, False
        wide = self._c * sqrt(log(node.visits))
        return max(node.children, key=lambda child: child.value / child.visits + wide / sqrt(child.visits)), False

    def _step_by_prior(self, node: _Node) -> tuple[_Node | None, bool]:
        """PUCT: children are weighted by their priors; one not yet visited is valued as its siblings are on average."""
        if not node.children and self._count < self._most:
            assert self._priors is not None
            moves = self._candidates(self._state(node))
            priors = self._priors(self._state(node), moves)
            node.children = [_Node(None, move, prior) for move, prior in zip(moves, priors, strict=True)]
            self._count += len(node.children)
        if not node.children:
            return None, False
        seen = sum(child.visits for child in node.children)
        usual = sum(child.value for child in node.children) / seen if seen else 0.5
        wide = self._c * sqrt(seen + 1)

        def promise(child: _Node) -> float:
            value = child.value / child.visits if child.visits else usual
            return value + wide * child.prior / (1 + child.visits)

        chosen = max(node.children, key=promise)
        return chosen, chosen.visits == 0


def _size(top: _Node) -> int:
    count, nodes = 0, [top]
    while nodes:
        node = nodes.pop()
        count += 1
        nodes += node.children
    return count
