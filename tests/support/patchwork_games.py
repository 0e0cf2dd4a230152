"""Random games of Patchwork for tests: from a seed, so that a failure can be played again."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

from arena_engine.patchwork import GameError, Move, State

Given = TypeVar("Given")
Result = TypeVar("Result")

Played = tuple[tuple[State, Move], ...]


@cache
def played(seed: int, edition: str, thrift: int) -> tuple[Played, State]:
    """A game: positions with the moves made in them, and the last position.

    ``thrift`` in 0..2 shapes the play: uniform, buying when possible, buying what covers the top rows first.
    """
    source = random.Random(seed)
    state = State.new(edition=edition, random=source)
    steps = []
    while not state.is_over:
        move = _choose(state, source, thrift)
        steps.append((state, move))
        state = state.after(move)
    return tuple(steps), state


def _choose(state: State, source: random.Random, thrift: int) -> Move:
    moves = state.legal_moves()
    if thrift and len(moves) > 1 and moves[0].kind == "advance":
        moves = moves[1:]
    if thrift == 2:
        return min(moves, key=lambda move: move.cells.bit_length() - move.cells.bit_count())
    return source.choice(moves)


def attempt(parse: Callable[[Given], Result], text: Given) -> Result | GameError:
    """What a parser gives, or how it refuses; any other exception fails the test."""
    try:
        return parse(text)
    except GameError as refusal:
        return refusal


def games() -> st.SearchStrategy[tuple[Played, State]]:
    """Whole games."""
    return st.builds(
        played, st.integers(0, 10_000), st.sampled_from(["original", "revised"]), st.sampled_from([0, 1, 2])
    )


def positions() -> st.SearchStrategy[State]:
    """Positions of random games, finished ones too."""
    return games().flatmap(lambda game: st.sampled_from([*(state for state, _ in game[0]), game[1]]))


@st.composite
def mutations(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """A text with a few characters changed, dropped or added."""
    text = draw(texts)
    alphabet = st.one_of(st.sampled_from(' /*-,.>[]{}"\\ab0159AKg\n'), st.characters())
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        kept = place + draw(st.integers(0, 2))
        text = text[:place] + draw(st.text(alphabet, max_size=2)) + text[kept:]
    return text
