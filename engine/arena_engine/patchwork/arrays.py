"""Masks, observations and symmetries as numpy arrays (extra ``rl``); the rest of the engine needs no numpy.

Functions of one position return new arrays; those of rows work on the last axis, whatever lies before it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena_engine.patchwork import symmetries
from arena_engine.patchwork.encoding import ACTIONS, EncodingError
from arena_engine.patchwork.observation import PARTS, SIZE, observe
from arena_engine.patchwork.quilt import CELLS
from arena_engine.patchwork.state import State


def legal_mask(state: State) -> NDArray[np.bool_]:
    """The legal action ids: ``(2026,)``, all False when the game is over."""
    return np.frombuffer(bytearray(state.action_mask()), np.bool_)  # a bytearray, so that it can be written


def observation(state: State, seat: str | None = None) -> NDArray[np.uint8]:
    """The row of ``arena_engine.patchwork.observation``: ``(583,)``.

    Args:
        state: the position.
        seat: who looks; None for the seat to move.

    Raises:
        GameError: no such seat.
    """
    return np.frombuffer(bytearray(observe(state, seat)), np.uint8)


def split(rows: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The parts of observations by name, as views: ``(..., 583)`` to ``(..., *shape)``; raises EncodingError."""
    _check(rows, SIZE, "observations")
    return {
        part.name: rows[..., part.start : part.start + part.size].reshape(*rows.shape[:-1], *part.shape)
        for part in PARTS.values()
    }


def turn_actions(values: NDArray[Any], offered: str, symmetry: int) -> NDArray[Any]:
    """Masks or policies as they are on the mover's turned quilt: ``(..., 2026)`` to the same.

    Args:
        values: a value for each action id.
        offered: the patches for sale, see ``State.offered``.
        symmetry: 0 to 7, see ``arena_engine.patchwork.symmetries``.

    Raises:
        EncodingError: another shape.
        GameError: no such patch or symmetry.
    """
    _check(values, ACTIONS, "values of actions")
    return values[..., _sources(offered, symmetry)]


@cache
def _sources(offered: str, symmetry: int) -> NDArray[np.intp]:
    """For each id on the turned quilt the id that it comes from."""
    return np.argsort(symmetries.permutation(offered, symmetry))


def turn_observations(rows: NDArray[Any], symmetry: int) -> NDArray[Any]:
    """Observations with the looking seat's quilt turned: ``(..., 583)`` to the same; raises as ``turn_actions``."""
    _check(rows, SIZE, "observations")
    sources = np.arange(SIZE)
    sources[:CELLS] = np.argsort(symmetries.cells(symmetry))
    return rows[..., sources]


def _check(values: object, size: int, what: str) -> None:
    if not isinstance(values, np.ndarray):
        raise EncodingError(type(values).__name__, "", f"{what} are numpy arrays")
    if values.shape[-1:] != (size,):
        raise EncodingError(values.shape, "", f"{what} have the shape (..., {size})")
