"""A bot asked once more: one position of a recorded game, one move, a process of its own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from arena_engine import deals
from arena_engine.game import GameError, find, format_ply
from arena_engine.record import GameRecord
from arena_engine.record import replay as positions
from arena_server.coordinator.event import prepare_grpc
from arena_server.launching.bots import Bot
from arena_server.launching.processes import Keeper
from arena_server.model import Assignment, PlannedGame, Spec, TimeControl, Token, UserError

PATIENCE = 60.0
"""Seconds that a bot has for its answer: its clock tells it the game's limit, nobody enforces that here."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a bot did when it was asked.

    Attributes:
        seat: who was asked.
        move: as given; None where it gave none.
        objection: why the rules refuse the move; empty where they do not.
        seconds: from the request until then; 0 where it never came to a request.
        own_seconds: its own measure of it.
        failure: why there is no move: a traceback, or in words.
        exit: how its process ended; empty where it went on.
        seeded: whether it had the seed of the recorded game, which is not known before a secret is revealed.
    """

    seat: str
    move: str | None = None
    objection: str = ""
    seconds: float = 0.0
    own_seconds: float = 0.0
    log: tuple[str, ...] = ()
    failure: str = ""
    exit: str = ""
    stderr: str = ""
    seeded: bool = False


def ask(record: GameRecord, at: int, seat: str | None, bot: Bot, patience: float = PATIENCE) -> Answer:
    """Asks a bot for the move after so many plies.

    Args:
        record: the game.
        at: plies played before.
        seat: who is asked; None for the one that is to move.
        bot: who plays there now.
        patience: seconds until the bot is given up.

    Raises:
        UserError: the game has no such position, or nobody or somebody else is to move there.
        GameError: the record's moves are none.
        ArenaError: processes cannot be started here.
    """
    position = Position(record, at, seat, bot)
    keeper = Keeper.start()
    prepare_grpc()
    from arena_server.author.conversation import ask_here  # noqa: PLC0415 - imports grpc: after the keeper

    return asyncio.run(ask_here(position, bot, keeper, patience))


class Position:
    """Where a bot is asked.

    Attributes:
        plies: those before.
        seat: who is asked.
        assignment: the game, as if the bot sat at every seat.
        spent: seat and microseconds of every move before.
        seeded: whether the seeds are those of the recorded game.
    """

    def __init__(self, record: GameRecord, at: int, seat: str | None, bot: Bot) -> None:
        self.game = find(record.game)
        self.plies: list[str] = []
        for ply, moves, state in positions(record):
            self.plies += [format_ply(moves)] if moves else []
            self.state = state
            if ply == at:
                break
        if len(self.plies) != at:
            fix = f"the game has {len(self.plies)} plies: give 0 to {len(self.plies)}"
            raise UserError("no such position", f"--at {at}", fix)
        self.seat = self._seat(seat)
        self.seeded = record.seed is not None
        self.assignment = self._assignment(record, bot)
        count = sum(len(ply.split()) // 2 for ply in self.plies)
        spent = zip(record.movers[:count], record.times[:count], strict=True)
        self.spent = [(mover, round(seconds * 1e6)) for mover, seconds in spent]

    def objection(self, move: str) -> str:
        """Why the rules refuse a move."""
        try:
            self.state.parse_move(move, self.seat)
        except GameError as error:
            return error.why
        return ""

    def _seat(self, seat: str | None) -> str:
        to_move = "".join(self.state.to_move)
        if seat is None and len(to_move) == 1:
            return to_move
        if seat is None or seat not in to_move:
            fix = f"to move: {', '.join(to_move)}" if to_move else "the game is over there: give a smaller --at"
            raise UserError("which seat?", seat or f"--at {len(self.plies)}", fix)
        return seat

    def _assignment(self, record: GameRecord, bot: Bot) -> Assignment:
        count = len(record.seats)
        spec = Spec(
            (bot.entrant,) * count,
            record.game,
            record.rules,
            count,
            time_control=TimeControl.parse(record.time_control),
        )
        planned = PlannedGame(record.tournament, record.number, 1, record.pairing, (0,) * count, dict(record.deal))
        secret = _secret(record.seed or "")
        seeds = tuple(deals.bot_seed(secret, record.number, letter) for letter in planned.letters)
        return Assignment(planned, Token(1, record.attempt), spec, seeds)


def _secret(seed: str) -> bytes:
    """Of a record's seed, which is the text of a public one, or a secret in hex once it is revealed."""
    is_secret = len(seed) == 64 and all(digit in "0123456789abcdef" for digit in seed)  # noqa: PLR2004 - 32 bytes
    return bytes.fromhex(seed) if is_secret else deals.public_secret(seed)
