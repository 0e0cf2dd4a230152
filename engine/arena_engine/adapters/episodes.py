"""What the environments share: how an episode starts, what it pays, how it is shown. Needs nothing installed."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from random import Random
from typing import Any

from arena_engine.game import GameError, GameOverError, PositionError
from arena_engine.patchwork import State
from arena_engine.patchwork.deal import check_edition
from arena_engine.patchwork.drawing import draw_text
from arena_engine.patchwork.notation import SEATS
from arena_engine.patchwork.quilt import CELLS

REWARDS = ("win", "margin")
"""``win``: 1 to the winner and -1 to the loser; ``margin``: the difference in points. Both only at the end."""

RENDER_MODES = ["ansi", "human"]
"""``ansi`` gives the position as text, ``human`` prints it."""

FORFEIT_MARGIN = 2 * CELLS
"""The margin by which an illegal action loses: as bad as an empty quilt against a full one."""


def check_choice(what: str, value: str | None, known: Collection[str | None]) -> None:
    """Raises GameError unless a setting is one of those known."""
    if value not in known:
        raise GameError(value, "", f"{what} is one of {', '.join(map(repr, known))}")


def start(edition: str, source: Random, options: Mapping[str, Any] | None) -> State:
    """The first position of an episode.

    Args:
        edition: what the environment plays.
        source: shuffles the circle.
        options: as given to ``reset``: ``circle`` deals that one, ``position`` (a State or its text) starts there;
            other keys are left alone.

    Raises:
        DealError: no such circle or edition.
        PositionError: no position, or one of the other edition.
        GameOverError: the position is that of a finished game.
    """
    given = options or {}
    if given.get("position") is None:
        return State.new(given.get("circle"), edition, random=source)
    position = given["position"]
    state = position if isinstance(position, State) else State.from_text(str(position))
    check_same(state, edition)
    if state.is_over:
        raise GameOverError("reset", state.text, "the game is over, so nothing can be played from here")
    return state


def check_same(state: State, edition: str) -> None:
    """Raises PositionError for a position of another edition, DealError for an unknown edition."""
    if state.edition != check_edition(edition):
        raise PositionError(state.text, "", f"a position of the {state.edition} edition; {edition} is played here")


def payoff(state: State, reward: str) -> tuple[float, float]:
    """What each seat gets for a finished game, nothing before the end."""
    if not state.is_over:
        return 0.0, 0.0
    first = state.outcome.ranks[0] == 1
    a, b = state.outcome.scores
    gain = float(a - b) if reward == "margin" else 1.0 if first else -1.0
    return gain, -gain


def forfeit(seat: str, reward: str) -> tuple[float, float]:
    """What each seat gets when one has chosen an illegal action."""
    loss = float(FORFEIT_MARGIN) if reward == "margin" else 1.0
    return (-loss, loss) if seat == SEATS[0] else (loss, -loss)


def render(state: State, mode: str | None) -> str | None:
    """Shows a position as the mode says."""
    if mode == "ansi":
        return draw_text(state)
    if mode == "human":
        sys.stdout.write(draw_text(state) + "\n\n")
    return None
