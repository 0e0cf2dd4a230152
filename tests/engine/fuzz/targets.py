"""What is fuzzed: bytes as a move, a position, a record, or a game on both cores. Each is read or refused by name.

python tests/engine/fuzz/targets.py -max_total_time=3600     # atheris, libFuzzer's options; seeds in a folder at will
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

atheris: Any = None if find_spec("atheris") is None else import_module("atheris")

with atheris.instrument_imports(include=["arena_engine"]) if atheris else nullcontext():
    from arena_engine.game import GameError
    from arena_engine.patchwork import Move, State
    from arena_engine.patchwork.core import PureKernel
    from arena_engine.patchwork.playout import POLICIES
    from arena_engine.record import GameRecord, replay

CIRCLE = "UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA"


class Pure(PureKernel):
    """The reference core."""

    __slots__ = ()


def attempt(work: Callable[[], Any]) -> Any:
    """What it gives, or the kind and words of its refusal."""
    try:
        return work()
    except GameError as refusal:
        return type(refusal), str(refusal)


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def move(data: bytes) -> None:
    text = text_of(data)
    found = attempt(lambda: Move.parse(text))
    assert isinstance(found, tuple) or str(found) == text


def position(data: bytes) -> None:
    text = text_of(data)
    found = attempt(lambda: State.from_text(text))
    if isinstance(found, State):
        assert found.text == text
        assert Pure.from_text(text).legal_moves() == found.legal_moves()
        assert found.playout(random.Random(1)).is_over


def record(data: bytes) -> None:
    for parse in (GameRecord.from_text, GameRecord.from_json):
        found = attempt(partial(parse, text_of(data)))
        if isinstance(found, GameRecord):
            attempt(partial(list, replay(found)))


def game(data: bytes) -> None:
    """Two bytes a ply: now and then any action id, else one of the legal moves."""
    state = State.new(CIRCLE, ("original", "revised")[len(data) % 2])
    twin = Pure.new(state.circle, state.edition)
    for first, second in zip(data[::2], data[1::2], strict=False):
        number = first << 8 | second
        if first & 7 == 7 or state.is_over:
            ours, theirs = (attempt(partial(kind.after_action, number % 2200 - 50)) for kind in (state, twin))
            assert (ours == theirs) if isinstance(theirs, tuple) else ours._fields == theirs._fields
            state, twin = (state, twin) if isinstance(theirs, tuple) else (ours, theirs)
            continue
        moves = state.legal_moves()
        assert moves == twin.legal_moves()
        assert state.action_mask() == twin.action_mask()
        state, twin = state.after(moves[number % len(moves)]), twin.after(moves[number % len(moves)])
        assert state._fields == twin._fields
    policy = POLICIES[len(data) % 3]
    assert state.playout(random.Random(1), policy)._fields == twin.playout(random.Random(1), policy)._fields


TARGETS = (move, position, record, game)


def one(data: bytes) -> None:
    """The first byte says what the others are."""
    if data:
        TARGETS[data[0] % len(TARGETS)](data[1:])


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
