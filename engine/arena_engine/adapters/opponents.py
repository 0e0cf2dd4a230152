"""Who sits opposite in an environment for one learner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from random import Random
from typing import Any

from arena_engine.game import GameError
from arena_engine.patchwork import IllegalMoveError, Move, State

Choose = Callable[[State], Move | str]
"""Chooses a move in a position."""

Opponent = Choose | type | str | None
"""A function, a bot's class, a BOT as the command line takes it, or None for uniformly random moves."""

GROUP = "arena.opponents"
"""The entry points that make a ``Choose`` of a bot: ``class`` and ``text``, called as ``(bot, game, seat, seed)``.

The engine knows no bots: whoever installs them says how they are seated.
"""


def pool(opponent: Opponent | Sequence[Opponent]) -> tuple[Opponent, ...]:
    """The opponents to draw from; raises GameError for what is none."""
    found = tuple(opponent) if isinstance(opponent, Sequence) and not isinstance(opponent, str) else (opponent,)
    for one in found:
        if one is not None and not isinstance(one, str) and not callable(one):
            raise GameError(one, "", "an opponent is a function, a bot's class, a BOT as text, or None")
    if not found:
        raise GameError(opponent, "", "a list of opponents has at least one")
    return found


def label(opponent: Opponent) -> str:
    """A name for people."""
    return opponent if isinstance(opponent, str) else getattr(opponent, "__name__", type(opponent).__name__)


def seated(opponent: Opponent, game: str, seat: str, source: Random) -> Choose:
    """An opponent ready for one game.

    Args:
        opponent: one of a pool.
        game: the game's name.
        seat: where it sits.
        source: its seed, or its moves, are drawn from it.

    Raises:
        GameError: nothing that is installed can seat it.
    """
    if opponent is None:
        return lambda state: state.random_move(source)
    if isinstance(opponent, str):
        return _provider("text")(opponent, game, seat, source.getrandbits(63))
    if isinstance(opponent, type):
        return _provider("class")(opponent, game, seat, source.getrandbits(63))
    return opponent


def reply(choose: Choose, state: State) -> Move:
    """The opponent's move; raises IllegalMoveError, which then is the opponent's mistake."""
    choice = choose(state)
    try:
        move = choice if isinstance(choice, Move) else state.parse_move(str(choice))
        if not state.is_legal(move):
            state.after(move)  # says why not
    except IllegalMoveError as error:
        error.add_note("the opponent chose this move")
        raise
    return move


@cache
def _provider(kind: str) -> Callable[[Any, str, str, int], Choose]:
    for point in entry_points(group=GROUP, name=kind):
        provider: Callable[[Any, str, str, int], Choose] = point.load()
        return provider
    raise GameError(kind, "", f"nothing installed seats bots: no entry point {kind!r} of the group {GROUP}")
