"""A position of Patchwork."""

from __future__ import annotations

from arena_engine.patchwork.core import Kernel
from arena_engine.patchwork.position import OFFERED

__all__ = ["OFFERED", "State"]


class State(Kernel):
    """A position: immutable, hashable, comparable, picklable. Seats are ``"a"`` and ``"b"``.

    Make one with ``State.new`` or ``State.from_text``; every move gives a new one. Its methods are those of
    ``arena_engine.patchwork.position.Position``.
    """

    __slots__ = ()
