"""What every game offers: the interface between the rules and everything else.

Nothing here assumes two seats or alternating moves. A *ply* is one step of a game: one move from each seat in
``State.to_move``. Seats are letters, ``"a"``, ``"b"``, ...; tuples and lists are in seat order.

Exceptions, all of them ``ValueError``::

    GameError
     +-- MoveSyntaxError      a text that is no move in the game's notation
     +-- IllegalMoveError     a well-formed move that the rules refuse here
     +-- PositionError        a text that is no position of the game
     +-- DealError            a deal or deal option the game does not know
     +-- GameOverError        a move asked of a finished game
     +-- GameNotOverError     an outcome asked of an unfinished game
     +-- UnknownGameError     no installed game has that name
     +-- RecordError          a text that is no game record
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import ascii_lowercase
from typing import Any, Protocol, runtime_checkable

SEATS = ascii_lowercase
"""All seat letters; a game of n seats uses the first n."""

Shuffle = Callable[[Sequence[str]], list[str]]
"""A uniform permutation of what it is given (see ``arena_engine.deals``)."""


class GameError(ValueError):
    """Something the rules of a game refuse.

    Args:
        value: what was refused, as given.
        position: the position it was refused in, as text; empty where there is none.
        why: the reason, for a person.
    """

    def __init__(self, value: object, position: str, why: str) -> None:
        self.value = value
        self.position = position
        self.why = why
        super().__init__(value, position, why)

    def __str__(self) -> str:
        where = f" in position {self.position!r}" if self.position else ""
        return f"{self.value!r}{where}: {self.why}"


class MoveSyntaxError(GameError):
    """A text that is no move in the game's notation."""


class IllegalMoveError(GameError):
    """A well-formed move that the rules refuse in this position."""


class PositionError(GameError):
    """A text that is no position of the game."""


class DealError(GameError):
    """A deal, or an option of a deal, that the game does not know."""


class GameOverError(GameError):
    """A move asked of a finished game."""


class GameNotOverError(GameError):
    """An outcome asked of an unfinished game."""


class UnknownGameError(GameError):
    """No installed game has that name."""


class RecordError(GameError):
    """A text that is no game record."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended, in seat order.

    Attributes:
        ranks: 1 for the best seat; equal numbers are a draw between those seats.
        scores: the game's own points, higher is better.
    """

    ranks: tuple[int, ...]
    scores: tuple[int, ...]


class State(Protocol):
    """A position: immutable, hashable, comparable, picklable."""

    @property
    def to_move(self) -> tuple[str, ...]:
        """The seats asked for a move at this ply, in seat order; empty when the game is over."""

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""

    @property
    def outcome(self) -> Outcome:
        """How the game ended; raises GameNotOverError before."""

    @property
    def text(self) -> str:
        """The position in the game's notation, one line."""

    def scores(self) -> tuple[int, ...]:
        """The points each seat would have if the game ended now, in seat order."""

    def legal_moves(self, seat: str | None = None) -> Sequence[Any]:
        """The moves that seat may choose from, in the order of the action ids; None means the only seat to move."""

    def parse_move(self, text: str, seat: str | None = None) -> Any:
        """The legal move of a text, ``str(move)`` the way back; raises MoveSyntaxError or IllegalMoveError."""

    def play(self, moves: Mapping[str, Any]) -> State:
        """The position after one ply: one move from each seat in ``to_move``; raises IllegalMoveError."""


@runtime_checkable
class Game(Protocol):
    """A game: a stateless object, found by the entry point group ``arena.games``."""

    name: str
    """The game's name, as in tournaments and records: ``"patchwork"``."""
    rules: str
    """The version of the rules; results of different versions are never mixed."""
    min_seats: int
    max_seats: int
    may_draw: bool
    """Whether an even outcome is possible in a game that ends normally."""
    engine: str
    """Which of its implementations runs here, if there are several (Patchwork: ``"compiled"`` or ``"pure"``)."""

    def options(self, given: Mapping[str, str]) -> dict[str, str]:
        """Completes and checks the organiser's deal options (Patchwork: ``edition``); raises DealError."""

    def deal(self, options: Mapping[str, str], seats: int, shuffle: Shuffle) -> dict[str, str]:
        """A deal for that many seats (Patchwork: ``edition`` and ``circle``); raises DealError."""

    def read_deal(self, text: str, options: Mapping[str, str]) -> dict[str, str]:
        """The deal that a line of text lists, ``deal_text`` the way back; raises DealError.

        Args:
            text: in Patchwork a circle, or any position to begin from.
            options: as ``options`` completes them, for what the text leaves open.
        """

    def deal_text(self, deal: Mapping[str, str]) -> str:
        """A deal on one line, without what the options say."""

    def start(self, deal: Mapping[str, str], seats: int) -> State:
        """The first position of a deal; raises DealError."""

    def state(self, text: str) -> State:
        """The position that a text describes; raises PositionError."""

    def forfeit(self, state: State, seats: Sequence[str]) -> Outcome:
        """The outcome when these seats fail at this position: what that does to the others is the game's decision."""


@cache
def find(name: str) -> Game:
    """The installed game of that name; raises UnknownGameError."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - 30 ms that a bot need not wait for

    known = {point.name: point for point in entry_points(group="arena.games")}
    if name not in known:
        raise UnknownGameError(name, "", f"no such game is installed; known: {', '.join(sorted(known)) or 'none'}")
    game = known[name].load()
    assert isinstance(game, Game)
    return game


def format_ply(moves: Mapping[str, Any]) -> str:
    """One ply as text: seat and move in turn, separated by spaces: ``"a K6c4"``, ``"a rock c paper"``."""
    return " ".join([f"{seat} {moves[seat]}" for seat in sorted(moves)])


def parse_ply(state: State, text: str) -> dict[str, Any]:
    """The moves of a ply's text, each legal in this state; raises MoveSyntaxError or IllegalMoveError."""
    words = text.split(" ")
    if len(words) % 2 or tuple(words[::2]) != state.to_move:
        raise MoveSyntaxError(
            text, state.text, f"a ply here is a move from each of {', '.join(state.to_move) or 'no seat'}"
        )
    return {seat: state.parse_move(move, seat) for seat, move in zip(words[::2], words[1::2], strict=True)}
