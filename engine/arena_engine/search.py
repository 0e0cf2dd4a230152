"""Tree search for bot authors: UCT or PUCT that can be stopped at any time.

    search = Search(state, bot.random)
    move = search.run(stop=lambda: clock.budget <= 0)
    search.move_to(state)                # when asked again: keeps what is known of the new position

Without functions of your own the whole search runs in the compiled core, or in Python where there is none: the same
moves from the same seed and number of playouts, only slower.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from operator import attrgetter
from random import Random
from typing import Protocol

from arena_engine.game import GameError, GameOverError
from arena_engine.patchwork import Move, State
from arena_engine.patchwork.core import ENGINE
from arena_engine.patchwork.notation import SEATS
from arena_engine.patchwork.playout import check_policy
from arena_engine.patchwork.tree import Candidates, Evaluate, Line, Playout, Priors, Tree, tidiest

__all__ = ["Line", "Search"]

BATCH = 32
"""Compiled playouts between two looks at ``stop``, about a millisecond."""


class _Tree(Protocol):
    @property
    def visits(self) -> int: ...
    def grow(self, playouts: int, /) -> None: ...
    def children(self) -> Sequence[tuple[Move, int, float]]: ...
    def advance(self, move: Move, /) -> None: ...


class Search:
    """A search of one game, from a position onwards.

    Args:
        state: where it begins.
        random: gives one 64-bit seed; all else follows from it and from the number of playouts.
        c: how much it explores: 0 trusts what looked best so far.
        width: how many placements of each patch it considers, the tidiest ones, at most 64; 0 for all of them.
        policy: how playouts choose moves, see ``arena_engine.patchwork.playout``.
        evaluate: judges a position in place of a playout: seat a's chances from 0 to 1.
        candidates: the moves to consider in a position, in place of ``width``; at least one.
        priors: a weight for each of them, about 1 in sum; with it the search is PUCT.
        nodes: the tree does not grow beyond so many positions (about 40 bytes each in the compiled core).

    Raises:
        GameError: no such policy, width or number of nodes.
    """

    def __init__(  # noqa: PLR0913 - what a search depends on, by name
        self,
        state: State,
        random: Random,
        *,
        c: float = 0.4,
        width: int = 2,
        policy: str = "first_fit",
        evaluate: Evaluate | None = None,
        candidates: Candidates | None = None,
        priors: Priors | None = None,
        nodes: int = 4_000_000,
    ) -> None:
        _check(width, 0, 64, "a width is 0 to 64")
        _check(nodes, 1, 100_000_000, "a tree has 1 to 100000000 nodes")
        check_policy(policy)
        self._state = state
        own = evaluate or candidates or priors
        self._batch = 1 if own or ENGINE == "pure" else BATCH

        def plant(root: State) -> _Tree:
            if self._batch == BATCH:
                from arena_engine.patchwork import _core  # noqa: PLC0415 - it is there

                return _core.Tree(root, random, c, width, policy, nodes)
            consider = candidates or (lambda state: tidiest(state, width) if width else state.legal_moves())
            return Tree(root, evaluate or Playout(random, policy), consider, priors, c=c, nodes=nodes)

        self._plant = plant
        self._tree = plant(state)

    @property
    def state(self) -> State:
        """The position that is searched."""
        return self._state

    @property
    def visits(self) -> int:
        """How many playouts went through this position."""
        return self._tree.visits

    def run(self, playouts: int | None = None, stop: Callable[[], bool] | None = None) -> Move:
        """Searches on.

        Args:
            playouts: how many more; None for as many as ``stop`` allows.
            stop: asked about once a millisecond whether to end: ``lambda: monotonic() > deadline``.

        Returns:
            The best move so far; at least one playout is made.

        Raises:
            GameOverError: there is nothing to choose in a finished game.
            GameError: neither a number nor a stop was given, or the number is below 1.
        """
        if self._state.is_over:
            raise GameOverError("search", self._state.text, "the game is over")
        if playouts is None and stop is None:
            raise GameError(None, "", "a search needs a number of playouts, or stop to end it")
        if playouts is not None and playouts < 1:
            raise GameError(playouts, "", "at least 1 playout")
        left = inf if playouts is None else playouts
        while left > 0:
            batch = int(min(left, self._batch))
            self._tree.grow(batch)
            left -= batch
            if stop is not None and stop():
                break
        return self.best

    @property
    def best(self) -> Move:
        """The move most playouts went through, the first of them if several; raises GameError before any."""
        lines = self.lines()
        if not lines:
            raise GameError("best", self._state.text, "nothing was searched yet: run() first")
        return max(lines, key=attrgetter("visits")).move

    def lines(self) -> list[Line]:
        """The moves tried in this position, in the order of their first trial."""
        return [Line(*line) for line in self._tree.children() if line[1]]

    def advance(self, move: Move) -> None:
        """Goes on from the position after a move of either seat, with all that is known of it.

        Raises:
            IllegalMoveError: the rules refuse it here.
            GameOverError: the game is over.
        """
        self._state = self._state.after(move)
        self._tree.advance(move)

    def move_to(self, state: State) -> None:
        """Goes on from a later position, with all that is known of it; from one of another game it begins anew."""
        moves = _way(self._state, state)
        if moves is None:
            self._state, self._tree = state, self._plant(state)
        for move in moves or ():
            self.advance(move)


def _way(state: State, target: State) -> list[Move] | None:
    """The moves that lead from one position to another, None where there are none."""
    if state == target:
        return []
    if state.is_over or any(state.time(seat) > target.time(seat) for seat in SEATS):
        return None
    wanted = target.player(state.seat_to_move).letters
    for move in state.legal_moves():
        cells = move.letters // ord(move.patch or ">") * 0xFF
        if wanted & cells == move.letters:
            rest = _way(state.after(move), target)
            if rest is not None:
                return [move, *rest]
    return None


def _check(number: int, least: int, most: int, why: str) -> None:
    if not least <= number <= most:
        raise GameError(number, "", why)
