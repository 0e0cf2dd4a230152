"""What can be done in a position of Patchwork: the reference, which the compiled core only overtakes."""

from __future__ import annotations

import random as random_module
from collections.abc import Mapping
from itertools import compress
from typing import TYPE_CHECKING, Self, cast

from arena_engine.game import GameError, GameNotOverError, GameOverError, IllegalMoveError, Outcome
from arena_engine.patchwork.deal import check_circle, check_edition, shuffled_circle
from arena_engine.patchwork.moves import ADVANCE, BUYS, LEATHER, Move
from arena_engine.patchwork.notation import SEATS, Fields, format_position, parse_position
from arena_engine.patchwork.patches import PATCHES
from arena_engine.patchwork.player import Player
from arena_engine.patchwork.playout import SplitMix, Tally, check_policy, choose
from arena_engine.patchwork.quilt import FULL, flags, has_seven
from arena_engine.patchwork.refusals import why_not
from arena_engine.patchwork.track import EDITIONS, FINAL, INCOME_PASSED, LEATHER_PASSED

if TYPE_CHECKING:
    from arena_engine.patchwork.state import State

OFFERED = 3
"""How many patches are for sale, from the neutral token on."""

BONUS_POINTS = 7
_player = tuple.__new__  # what Player(...) does, without a Python call on the way
_INDEX = {seat: index for index, seat in enumerate(SEATS)}


class Position:
    """A position: immutable, hashable, comparable, picklable. Seats are ``"a"`` and ``"b"``.

    Make one with ``new`` or ``from_text``; every move gives a new one.
    """

    __slots__ = ()  # its six parts are where core.py keeps them

    _circle: str
    _players: tuple[Player, Player]
    _mover: int
    _due: bool
    _bonus: int
    _edition: str

    if TYPE_CHECKING:

        def __init__(  # noqa: PLR0913, PLR0917 - a tuple of the six parts would slow every move
            self,
            circle: str,
            players: tuple[Player, Player],
            mover: int,
            due: bool,  # noqa: FBT001 - a part like the others
            bonus: int,
            edition: str,
        ) -> None: ...

    @classmethod
    def new(
        cls, circle: str | None = None, edition: str = EDITIONS[0], *, random: random_module.Random | None = None
    ) -> Self:
        """The first position of a game.

        Args:
            circle: all 33 patches clockwise from the neutral token, so ``A`` is last; None to shuffle them.
            edition: ``"original"`` or ``"revised"``.
            random: where a shuffle takes its randomness from; None for the system's.

        Raises:
            DealError: no such circle or edition.
        """
        if circle is None:
            circle = shuffled_circle(random or random_module.SystemRandom())
        players = (Player(), Player())
        return cls(check_circle(circle), players, mover=0, due=False, bonus=-1, edition=check_edition(edition))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The position of that text; raises PositionError with the reason."""
        return cls(*parse_position(text))

    @property
    def _fields(self) -> Fields:
        return Fields(self._circle, self._players, self._mover, self._due, self._bonus, self._edition)

    @property
    def text(self) -> str:
        """The position in notation; equal positions have equal texts."""
        return format_position(self._fields)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"{type(self).__name__}.from_text({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return self._fields == other._fields if isinstance(other, Position) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._fields)

    def __reduce__(self) -> tuple[type[Self], Fields]:
        return type(self), self._fields

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    # What is there.

    @property
    def circle(self) -> str:
        """The patches left, clockwise from the neutral token."""
        return self._circle

    @property
    def offered(self) -> str:
        """The patches for sale, at most three."""
        return self._circle[:OFFERED]

    @property
    def edition(self) -> str:
        """Where the leather lies: ``"original"`` or ``"revised"``."""
        return self._edition

    @property
    def leather_due(self) -> bool:
        """Whether the seat to move must place leather now."""
        return self._due

    @property
    def bonus(self) -> str | None:
        """The seat that owns the 7x7 tile, if any."""
        return SEATS[self._bonus] if self._bonus >= 0 else None

    @property
    def first_home(self) -> str | None:
        """The seat that reached the last space first, if any has."""
        if self.is_over:
            return SEATS[1 - self._mover]
        return next((seat for seat in SEATS if self.time(seat) == FINAL), None)

    def player(self, seat: str) -> Player:
        """All that a seat has."""
        try:
            return self._players[_INDEX[seat]]
        except KeyError:
            raise GameError(seat, "", "no such seat: a or b") from None

    def buttons(self, seat: str) -> int:
        """A seat's buttons in hand."""
        return self.player(seat).buttons

    def time(self, seat: str) -> int:
        """The space of a seat's token, 0 to 53."""
        return self.player(seat).time

    def income(self, seat: str) -> int:
        """The buttons a seat gets for each income symbol it crosses."""
        return self.player(seat).income

    def quilt(self, seat: str) -> int:
        """A seat's covered cells: bit ``9 * row + column``, row 0 at the top."""
        return self.player(seat).quilt

    def score(self, seat: str) -> int:
        """A seat's points if the game ended now."""
        player = self.player(seat)
        points = player.buttons - 2 * player.empty
        return points + BONUS_POINTS if self._bonus == _INDEX[seat] else points

    def scores(self) -> tuple[int, int]:
        """Both seats' points if the game ended now."""
        return self.score("a"), self.score("b")

    # Whose turn, and the end.

    @property
    def is_over(self) -> bool:
        """Whether both tokens are on the last space."""
        a, b = self._players
        return a.time == b.time == FINAL

    @property
    def to_move(self) -> tuple[str, ...]:
        """The seat to move, alone; empty when the game is over."""
        return () if self.is_over else (SEATS[self._mover],)

    @property
    def seat_to_move(self) -> str:
        """The seat to move; raises GameOverError."""
        self._check_on()
        return SEATS[self._mover]

    @property
    def outcome(self) -> Outcome:
        """How the game ended; of equal scores the seat that was home first wins. Raises GameNotOverError."""
        if not self.is_over:
            raise GameNotOverError("outcome", self.text, f"seat {SEATS[self._mover]} is still to move")
        a, b = self.scores()
        a_wins = a > b or (a == b and self.first_home == "a")
        return Outcome((1, 2) if a_wins else (2, 1), (a, b))

    @property
    def winner(self) -> str | None:
        """The seat that won; None before the end."""
        return SEATS[self.outcome.ranks.index(1)] if self.is_over else None

    def _check_on(self) -> None:
        if self.is_over:
            raise GameOverError("move", self.text, "the game is over")

    # Moves.

    def legal_moves(self, seat: str | None = None) -> list[Move]:
        """The legal moves in the order of the action ids: advance, then purchases by slot, orientation and cell.

        Args:
            seat: whose; None for the seat to move. Empty for a seat that is not to move, and when the game is over.
        """
        if self.is_over or (seat is not None and self.player(seat) is not self._players[self._mover]):
            return []
        me = self._players[self._mover]
        empty = FULL ^ me.quilt
        if self._due:
            return list(compress(LEATHER, flags(empty)))
        moves = [ADVANCE]
        for letter in self._circle[:OFFERED]:
            if PATCHES[letter].cost <= me.buttons:
                for orientation, placements in BUYS[letter]:
                    if anchors := orientation.fits(empty):
                        moves += compress(placements, flags(anchors))
        return moves

    def is_legal(self, move: Move) -> bool:
        """Whether the seat to move may make it; quick, since nothing is listed."""
        if self._due:
            return move.kind == "leather" and not move.cells & self._players[self._mover].quilt
        if move.kind == "buy":
            me = self._players[self._mover]
            affordable = move.patch in self._circle[:OFFERED] and move.cost <= me.buttons
            return affordable and move.cells != 0 and not move.cells & me.quilt and not self.is_over
        return move is ADVANCE and not self.is_over

    def parse_move(self, text: str, seat: str | None = None) -> Move:
        """The legal move of that text.

        Args:
            text: a move in notation.
            seat: who wants to make it; None for the seat to move.

        Raises:
            MoveSyntaxError: no move in notation.
            IllegalMoveError: the rules refuse it here, with the reason.
            GameOverError: the game is over.
        """
        move = Move.parse(text)
        if seat is not None and seat not in self.to_move:
            self._check_on()
            raise IllegalMoveError(text, self.text, f"seat {SEATS[self._mover]} is to move, not {seat}")
        self._check(move)
        return move

    def after(self, move: Move) -> Self:
        """The position after a move of the seat to move; raises IllegalMoveError or GameOverError."""
        self._check(move)
        return self.after_unchecked(move)

    def play(self, moves: Mapping[str, Move]) -> Self:
        """The position after one ply, ``{seat: move}``; raises IllegalMoveError or GameOverError."""
        self._check_on()
        if tuple(moves) != self.to_move:
            asked = ", ".join(moves) or "no seat"
            raise IllegalMoveError(dict(moves), self.text, f"seat {SEATS[self._mover]} is to move, not {asked}")
        return self.after(moves[SEATS[self._mover]])

    def _check(self, move: Move) -> None:
        if not self.is_legal(move):
            self._check_on()
            raise IllegalMoveError(move.text, self.text, why_not(self._fields, move))

    def after_unchecked(self, move: Move) -> Self:
        """As ``after``, for searches: an illegal move may lead to nonsense instead of an error."""
        if move.kind == "buy":
            return self._buy(move)
        if move.kind == "leather":
            return self._place_leather(move)
        return self._advance()

    def _advance(self) -> Self:
        quilt, letters, buttons, time, income = self._players[self._mover]
        until = min(self._players[1 - self._mover].time + 1, FINAL)
        buttons += until - time + income * (INCOME_PASSED[until] - INCOME_PASSED[time])
        return self._next(self._circle, _player(Player, (quilt, letters, buttons, until, income)), time)

    def _buy(self, move: Move) -> Self:
        quilt, letters, buttons, time, income = self._players[self._mover]
        slot = self._circle.index(move.patch)
        circle = self._circle[slot + 1 :] + self._circle[:slot]
        until = min(time + move.time, FINAL)
        income += move.income
        buttons += income * (INCOME_PASSED[until] - INCOME_PASSED[time]) - move.cost
        me = _player(Player, (quilt | move.cells, letters | move.letters, buttons, until, income))
        return self._next(circle, me, time)

    def _place_leather(self, move: Move) -> Self:
        quilt, letters, buttons, time, income = self._players[self._mover]
        me = _player(Player, (quilt | move.cells, letters | move.letters, buttons, time, income))
        return self._next(self._circle, me, time)

    def _next(self, circle: str, me: Player, since: int) -> Self:
        """The position once the mover, who stood on space ``since``, has become ``me``."""
        mover = self._mover
        other = self._players[1 - mover]
        passed = LEATHER_PASSED[self._edition]
        until, ahead = me.time, other.time
        due = passed[until] > passed[since if since > ahead else ahead] and me.quilt != FULL  # noqa: FURB136 - quicker
        return type(self)(
            circle,
            (other, me) if mover else (me, other),
            mover if due or until <= ahead else 1 - mover,
            due,
            mover if self._bonus < 0 and has_seven(me.quilt) else self._bonus,
            self._edition,
        )

    # By action id, see encoding.py.

    def action_mask(self) -> bytes:
        """A byte for each of the 2,026 action ids: 1 where it is legal, else 0; numpy reads it without a copy."""
        from arena_engine.patchwork.encoding import ACTIONS, legal_actions  # noqa: PLC0415 - it imports State

        return flags(legal_actions(cast("State", self))).ljust(ACTIONS, b"\0")

    def after_action(self, action: int) -> Self:
        """The position after the move of an action id; raises IllegalMoveError or GameOverError."""
        return self._after_action(action)

    def _after_action(self, action: int) -> Self:
        from arena_engine.patchwork.encoding import action_move  # noqa: PLC0415 - likewise

        self._check_on()
        return self.after(action_move(cast("State", self), action))

    # At random, see playout.py.

    def random_move(self, random: random_module.Random, policy: str = "uniform") -> Move:
        """A random legal move, without listing them.

        Args:
            random: gives one 64-bit seed, from which all else follows.
            policy: ``"uniform"``, ``"slot"`` or ``"first_fit"``.

        Raises:
            GameOverError: the game is over.
            GameError: no such policy.
        """
        self._check_on()
        return choose(self, check_policy(policy), SplitMix(random.getrandbits(64)))

    def playout(self, random: random_module.Random, policy: str = "uniform") -> Self:
        """The last position of a random game from here; arguments as for ``random_move``."""
        check_policy(policy)
        return self.play_out(policy, SplitMix(random.getrandbits(64)))

    def playouts(self, count: int, random: random_module.Random, policy: str = "uniform") -> Tally:
        """Plays many random games from here; arguments as for ``random_move``.

        Args:
            count: how many games, at most 1,000,000,000.
            random: gives one 64-bit seed for all of them.
            policy: as for ``random_move``.

        Raises:
            GameError: no such policy, or number of games.
        """
        _check_count(count, 1_000_000_000, "a number of playouts is 0 to 1000000000")
        check_policy(policy)
        source = SplitMix(random.getrandbits(64))
        lasts = [self.play_out(policy, source) for _ in range(count)]
        wins = sum(last.winner == "a" for last in lasts)
        points = [sum(last.score(seat) for last in lasts) for seat in SEATS]
        return Tally(count, (wins, count - wins), (points[0], points[1]))

    def play_out(self, policy: str, source: SplitMix) -> Self:
        """As ``playout``, from a generator that is used further."""
        state = self
        while not state.is_over:
            state = state.after_unchecked(choose(state, policy, source))
        return state

    def perft(self, depth: int) -> int:
        """How many sequences of that many moves there are from here; a finished game counts as one.

        Args:
            depth: 0 to 100.

        Raises:
            GameError: another depth.
        """
        _check_count(depth, 100, "a depth is 0 to 100")
        if depth == 0 or self.is_over:
            return 1
        moves = self.legal_moves()
        return len(moves) if depth == 1 else sum(self.after_unchecked(move).perft(depth - 1) for move in moves)


def _check_count(number: int, most: int, why: str) -> None:
    if not 0 <= number <= most:
        raise GameError(number, "", why)
