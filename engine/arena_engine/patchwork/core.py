"""Chooses what a ``State`` is made of: the compiled core, or Python where there is none. Both play the same.

The environment variable ``ARENA_ENGINE`` asks for one of them, ``pure`` or ``compiled``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from arena_engine.game import GameError, PositionError
from arena_engine.patchwork.moves import ADVANCE, BUYS, LEATHER
from arena_engine.patchwork.patches import PATCHES
from arena_engine.patchwork.player import Player
from arena_engine.patchwork.playout import POLICIES, Tally
from arena_engine.patchwork.position import BONUS_POINTS, Position
from arena_engine.patchwork.track import EDITIONS, INCOME_PASSED, LEATHER_PASSED

VARIABLE = "ARENA_ENGINE"


class PureKernel(Position):
    """A position whose parts are Python objects: the reference."""

    __slots__ = ("_bonus", "_circle", "_due", "_edition", "_mover", "_players")

    def __init__(  # noqa: PLR0913, PLR0917 - a tuple of the six parts would slow every move
        self,
        circle: str,
        players: tuple[Player, Player],
        mover: int,
        due: bool,  # noqa: FBT001 - likewise
        bonus: int,
        edition: str,
    ) -> None:
        self._circle = circle
        self._players = players
        self._mover = mover
        self._due = due
        self._bonus = bonus
        self._edition = edition


def _compiled() -> type[PureKernel]:
    """A position whose parts and most called methods are in the compiled core; raises ImportError."""
    from arena_engine.patchwork import _core  # noqa: PLC0415 - it may not be there

    patches = tuple(
        (
            patch.letter,
            patch.cost,
            patch.time,
            patch.income,
            tuple((look.number, bytes(look.offsets), look.anchors) for look in patch.orientations),
        )
        for patch in PATCHES.values()
    )
    leather = tuple(bytes(LEATHER_PASSED[edition]) for edition in EDITIONS)
    track = (BONUS_POINTS, Player().buttons, bytes(INCOME_PASSED), leather)
    facts = (patches, track, ADVANCE, LEATHER, BUYS.__getitem__, EDITIONS, POLICIES)
    try:
        _core.load(*facts, Player, Tally, GameError, PositionError)
    except (TypeError, ValueError) as error:  # the sources moved on and it was not built again
        raise ImportError(f"it was built from other sources: {error}") from error

    class CompiledKernel(_core.Kernel, Position):
        __slots__ = ()

    return CompiledKernel


def _choose() -> tuple[type[PureKernel], str, str]:
    """The base of State, its name, and why it is not the compiled one."""
    asked = os.environ.get(VARIABLE, "")
    if asked not in {"", "pure", "compiled"}:
        raise ImportError(f"{VARIABLE}={asked}: unknown; set pure or compiled, or unset it for the quickest there is")
    if asked == "pure":
        return PureKernel, "pure", f"{VARIABLE}=pure"
    try:
        return _compiled(), "compiled", ""
    except ImportError as error:
        why = f"the compiled core is missing ({error}); to build it install a C compiler, then patchwork-arena again"
        if asked:
            raise ImportError(f"{VARIABLE}=compiled, but {why}") from error
        return PureKernel, "pure", why


ENGINE: str
"""Which one it is: ``"compiled"`` or ``"pure"``."""

WHY_PURE: str
"""Why it is not the compiled one; empty where it is."""

if TYPE_CHECKING:
    Kernel = PureKernel
else:
    Kernel, ENGINE, WHY_PURE = _choose()
