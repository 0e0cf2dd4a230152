"""A second game: three seats that move at the same time, so nothing may assume two seats or turns.

Each ply every seat still in shows ``rock``, ``paper`` or ``scissors`` and scores a point for each other seat it beats.
Seats leave one by one: ``a`` is in for 3 plies, ``b`` for 4, ``c`` for 5 (a lone seat scores nothing). Draws happen.
The position text is the scores and the plies played: ``2 0 1 3``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena_engine.game import (
    SEATS,
    DealError,
    GameError,
    GameNotOverError,
    GameOverError,
    IllegalMoveError,
    MoveSyntaxError,
    Outcome,
    PositionError,
    Shuffle,
    State,
)

PLIES = {"a": 3, "b": 4, "c": 5}
"""How many plies each seat is in for."""

BEATS = {"rock": "scissors", "paper": "rock", "scissors": "paper"}
_POSITION = re.compile(r"([0-9]{1,2}) ([0-9]{1,2}) ([0-9]{1,2}) ([0-5])")


@dataclass(frozen=True, slots=True)
class TinyState:
    """Points so far, and plies played."""

    points: tuple[int, ...] = (0, 0, 0)
    ply: int = 0

    @property
    def to_move(self) -> tuple[str, ...]:
        return tuple(seat for seat, plies in PLIES.items() if self.ply < plies)

    @property
    def is_over(self) -> bool:
        return not self.to_move

    @property
    def outcome(self) -> Outcome:
        if not self.is_over:
            raise GameNotOverError("outcome", self.text, "the game goes on")
        ranks = tuple(1 + sum(other > own for other in self.points) for own in self.points)
        return Outcome(ranks, self.points)

    @property
    def text(self) -> str:
        return " ".join(map(str, (*self.points, self.ply)))

    def scores(self) -> tuple[int, ...]:
        return self.points

    def legal_moves(self, seat: str | None = None) -> Sequence[str]:
        return tuple(BEATS) if seat in self.to_move or (seat is None and len(self.to_move) == 1) else ()

    def parse_move(self, text: str, seat: str | None = None) -> str:
        if text not in BEATS:
            raise MoveSyntaxError(text, self.text, f"a move is {', '.join(BEATS)}")
        if self.is_over:
            raise GameOverError(text, self.text, "the game is over")
        if text not in self.legal_moves(seat):
            raise IllegalMoveError(text, self.text, f"seat {seat} is not asked now")
        return text

    def play(self, moves: Mapping[str, str]) -> TinyState:
        if self.is_over:
            raise GameOverError(dict(moves), self.text, "the game is over")
        if set(moves) != set(self.to_move) or not set(moves.values()) <= set(BEATS):
            raise IllegalMoveError(dict(moves), self.text, f"a move from each of {', '.join(self.to_move)}")
        gains = [
            sum(BEATS[moves[seat]] == other for other in moves.values()) if seat in moves else 0
            for seat in SEATS[: len(PLIES)]
        ]
        return TinyState(tuple(map(sum, zip(self.points, gains, strict=True))), self.ply + 1)


class TinyGame:
    """The game object, ``GAME``."""

    name = "tiny"
    rules = "1"
    min_seats = 3
    max_seats = 3
    may_draw = True
    engine = "pure"

    def options(self, given: Mapping[str, str]) -> dict[str, str]:
        if given:
            raise DealError(", ".join(given), "", "the tiny game has no deal options")
        return {}

    def deal(self, options: Mapping[str, str], seats: int, shuffle: Shuffle) -> dict[str, str]:
        self.options(options)
        return {"order": "".join(shuffle(SEATS[:seats]))}

    def read_deal(self, text: str, options: Mapping[str, str]) -> dict[str, str]:
        self.options(options)
        if sorted(text) != list(PLIES):
            raise DealError(text, "", "an order of a, b and c, like bca")
        return {"order": text}

    def deal_text(self, deal: Mapping[str, str]) -> str:
        return deal["order"]

    def start(self, deal: Mapping[str, str], seats: int) -> TinyState:
        if seats != self.max_seats or set(deal) != {"order"}:
            raise DealError(dict(deal), "", "three seats and an order, which means nothing")
        return TinyState()

    def state(self, text: str) -> TinyState:
        match = _POSITION.fullmatch(text)
        if match is None:
            raise PositionError(text, "", "a position is three scores and the plies played, like 2 0 1 3")
        *points, ply = map(int, match.groups())
        return TinyState(tuple(points), ply)

    def forfeit(self, state: State, seats: Sequence[str]) -> Outcome:
        """The failing seats are last together, the others draw."""
        if not set(seats) <= set(PLIES):
            raise GameError(seats, state.text, "the seats are a, b and c")
        last = 1 + len(PLIES) - len(set(seats))
        return Outcome(tuple(last if seat in seats else 1 for seat in PLIES), state.scores())


GAME = TinyGame()
