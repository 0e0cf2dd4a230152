"""Patchwork as the arena sees it: see ``arena_engine.game.Game``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING

from arena_engine import game
from arena_engine.game import DealError, GameError, Outcome, PositionError, Shuffle
from arena_engine.patchwork.core import ENGINE
from arena_engine.patchwork.deal import check_circle, check_edition, make_circle
from arena_engine.patchwork.notation import SEATS
from arena_engine.patchwork.state import State
from arena_engine.patchwork.track import EDITIONS

if TYPE_CHECKING:
    from arena_engine.picture import Board, Look


class Patchwork:
    """The game object, ``GAME``."""

    name = "patchwork"
    rules = "1"
    min_seats = len(SEATS)
    max_seats = len(SEATS)
    may_draw = False
    engine = ENGINE

    def options(self, given: Mapping[str, str]) -> dict[str, str]:
        """Completes ``edition``, by default ``"original"``; raises DealError."""
        _check_keys(given, {"edition"})
        return {"edition": check_edition(given.get("edition", EDITIONS[0]))}

    def deal(self, options: Mapping[str, str], seats: int, shuffle: Shuffle) -> dict[str, str]:
        """A deal, ``{"edition": ..., "circle": ...}``; raises DealError."""
        _check_seats(seats)
        return {**self.options(options), "circle": make_circle(shuffle)}

    def read_deal(self, text: str, options: Mapping[str, str]) -> dict[str, str]:
        """A circle, with the options' edition, or a position, which names its own; raises DealError."""
        if " " not in text:
            return {**self.options(options), "circle": check_circle(text)}
        state = _beginning(text)
        return {"edition": state.edition, "position": state.text}

    def deal_text(self, deal: Mapping[str, str]) -> str:
        """The position, or else the circle."""
        return deal["position"] if "position" in deal else deal["circle"]

    def start(self, deal: Mapping[str, str], seats: int) -> State:
        """The first position of a deal: of its circle, or the ``position`` that it has instead; raises DealError."""
        _check_seats(seats)
        way = "position" if "position" in deal else "circle"
        _check_keys(deal, {"edition", way})
        missing = {"edition", way} - set(deal)
        if missing:
            raise DealError(dict(deal), "", f"a deal needs {' and '.join(sorted(missing))}")
        if way == "circle":
            return State.new(deal["circle"], deal["edition"])
        state = _beginning(deal["position"])
        if state.edition != check_edition(deal["edition"]):
            raise DealError(deal["edition"], state.text, "the deal's edition is not the position's")
        return state

    def self_play(self, state: game.State, random: Random, effort: int) -> State:
        """Both seats search with so many playouts a move; raises GameError for an effort below 1."""
        from arena_engine.search import Search  # noqa: PLC0415 - which imports this package

        assert isinstance(state, State)
        search = Search(state, random)
        while not state.is_over:
            moves = state.legal_moves()
            move = moves[0] if len(moves) == 1 else search.run(effort)
            search.advance(move)
            state = search.state
        return state

    def state(self, text: str) -> State:
        """The position of that text; raises PositionError."""
        return State.from_text(text)

    def forfeit(self, state: game.State, seats: Sequence[str]) -> Outcome:
        """The failing seat is second, the other one first, whatever the scores; those are of this position."""
        unknown = set(seats) - set(SEATS)
        if unknown or not seats:
            raise GameError(", ".join(sorted(unknown)), state.text, "a forfeit blames seat a, b or both")
        last = 1 + len(SEATS) - len(set(seats))
        return Outcome(tuple(last if seat in seats else 1 for seat in SEATS), state.scores())

    @cached_property
    def looks(self) -> Mapping[str, Look]:
        """Of the patches and the rest (see ``arena_engine.picture``)."""
        from arena_engine.patchwork import picture  # noqa: PLC0415 - bots need not wait for it

        return picture.looks()

    def picture(self, state: State) -> Sequence[Sequence[Board]]:
        """Both quilts, the track, the patches for sale."""
        from arena_engine.patchwork import picture  # noqa: PLC0415 - likewise

        return picture.picture(state)


def _beginning(text: str) -> State:
    try:
        state = State.from_text(text)
    except PositionError as error:
        raise DealError(text, "", error.why) from None
    if state.is_over:
        raise DealError(text, "", "the game is over in this position")
    return state


def _check_seats(seats: int) -> None:
    if seats != len(SEATS):
        raise DealError(seats, "", "Patchwork is played by 2")


def _check_keys(given: Mapping[str, str], known: set[str]) -> None:
    for key in given:
        if key not in known:
            raise DealError(key, "", f"unknown deal option; known: {', '.join(sorted(known))}")


GAME = Patchwork()
