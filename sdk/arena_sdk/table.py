"""One game as its bot plays it."""

from __future__ import annotations

import asyncio
import sys
import time
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from random import Random
from types import MappingProxyType
from typing import Any

from arena.v1 import referee_pb2 as pb
from arena_engine import game as games
from arena_sdk.author import ending_of
from arena_sdk.bot import RESIGN, Bot, Result
from arena_sdk.clock import Clock, advice
from arena_sdk.text import clip, trace

MOVE_LENGTH = 500
"""Characters of an answer that are sent; no notation needs as many."""


class AstrayError(Exception):
    """The position kept here is not the arena's."""


class Table:
    """A game, its position, and the bot that plays one seat: takes the arena's messages, gives the answers.

    Args:
        bot_class: what the bot is made of.
        options: the bot's options.
        broken: traceback of a failed ``load``; empty if it went well.

    Attributes:
        asked: the ply that was asked last; -1: none.
    """

    def __init__(self, bot_class: type[Bot], options: Mapping[str, Any], broken: str) -> None:
        self._bot_class = bot_class
        self._options = options
        self._broken = broken
        self._started = pb.GameStarted()
        self._bot: Bot | None = None
        self.asked = -1
        self._answered = -1
        self._answer: pb.PlayRequest | None = None
        self._moves = 0
        self._runner: asyncio.Runner | None = None

    @property
    def place(self) -> str:
        """Where its bot sits and how far it is, for its author."""
        return f"seat {self.seat} at ply {self._answered + 1}"

    @property
    def seat(self) -> str:
        """The letter of its bot's seat."""
        return self._started.seat

    def start(self, started: pb.GameStarted) -> pb.PlayRequest:
        """Prepares for a game, or resumes it with the same bot: Ready, or Failure, which is then the answer to all."""
        self._started = started
        if self._broken:
            return _failure(started.handle, 0, self._broken)
        ready = self._attempt(0, self._prepare)
        if ready.HasField("failure"):
            self._broken = ready.failure.traceback
        return ready

    def move(self, request: pb.MoveRequest, received: float) -> pb.PlayRequest | None:
        """Answers a request: Move, Resign or Failure; the same again if it is repeated, nothing if it is older.

        Args:
            request: what the arena asks.
            received: the monotonic instant at which it came.
        """
        self.asked = max(self.asked, request.ply)
        if self._broken:
            return _failure(request.handle, request.ply, self._broken)
        if request.ply > self._answered:
            self._answer = self._attempt(request.ply, partial(self._choose, request, received))
            self._answered = request.ply
        return self._answer if request.ply == self._answered else None

    def end(self, over: pb.GameOver) -> None:
        """Tells the bot how the game ended."""
        try:
            if self._bot is not None:
                self._settle(self._bot.on_end(_result(over, self._bot)))
        except BaseException as error:  # noqa: BLE001 - whatever a bot's code raises, the next game goes on
            sys.stderr.write(trace(error))
        self.close()

    def close(self) -> None:
        """Releases what an ``async`` bot holds."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def _attempt(self, ply: int, step: Callable[[], pb.PlayRequest]) -> pb.PlayRequest:
        try:
            return step()
        except AstrayError as error:
            return _failure(self._started.handle, ply, str(error))
        except BaseException as error:  # noqa: BLE001 - SystemExit too: a bot's error is its own, never the process's
            return _failure(self._started.handle, ply, trace(error))

    def _prepare(self) -> pb.PlayRequest:
        started = self._started
        self._state = _position(started)
        if self._bot is None:
            bot = _seated(self._bot_class, started, self._options)
            self._settle(bot.on_start())
            self._bot = bot
        return pb.PlayRequest(ready=pb.Ready(handle=started.handle))

    def _choose(self, request: pb.MoveRequest, received: float) -> pb.PlayRequest:
        assert self._bot is not None
        self._state = _advanced(self._state, request)
        clock = _clock(request, self._started.time_control, self._moves, received)
        choice = self._settle(self._bot.choose(self._state, clock))
        self._moves += 1
        if choice is RESIGN:
            return pb.PlayRequest(resign=pb.Resign(handle=request.handle))
        if choice is None:
            self._bot.log("choose returned None: return a move of state.legal_moves()")
        text = "" if choice is None else clip(str(choice), MOVE_LENGTH)
        log, self._bot.log_lines = self._bot.log_lines, []
        own_us = round((time.monotonic() - received) * 1e6)
        return pb.PlayRequest(move=pb.Move(handle=request.handle, ply=request.ply, move=text, own_us=own_us, log=log))

    def _settle(self, value: Any) -> Any:
        """The value of a method that may be ``async``; one loop a game, so that a bot may keep what is bound to it."""
        if not asyncio.iscoroutine(value):
            return value
        self._runner = self._runner or asyncio.Runner()
        return self._runner.run(value)


def _seated(bot_class: type[Bot], started: pb.GameStarted, options: Mapping[str, Any]) -> Bot:
    bot = bot_class.__new__(bot_class)
    bot.game, bot.seat = started.game, started.seat
    bot.seats = MappingProxyType({seat.seat: seat.bot for seat in started.seats})
    bot.deal = MappingProxyType(dict(sorted(started.deal.items())))
    bot.seed, bot.random = started.seed, Random(started.seed)  # noqa: S311 - play, not secrets
    bot.options = options
    bot.__init__()  # type: ignore[misc]  # after the attributes, so that it may use them
    return bot


def _position(started: pb.GameStarted) -> games.State:
    game = games.find(started.game)
    if game.rules != started.rules:
        raise AstrayError(
            f"the arena plays {started.game} by rules {started.rules}, this bot's engine knows {game.rules}: "
            "install the arena's version of patchwork-arena for the bot"
        )
    state = game.start(dict(started.deal), len(started.seats))
    for ply in started.plies:
        state = state.play(games.parse_ply(state, ply))
    return state


def _advanced(state: games.State, request: pb.MoveRequest) -> games.State:
    try:
        for ply in request.plies:
            state = state.play(games.parse_ply(state, ply))
    except games.GameError as error:
        raise AstrayError(f"{_ASTRAY} at ply {request.ply}: {error}. {_FIX}") from error
    checksum = zlib.crc32(state.text.encode())
    if checksum != request.checksum:
        raise AstrayError(
            f"{_ASTRAY} at ply {request.ply}: checksum {checksum:08x} here, {request.checksum:08x} there; "
            f"here it is {state.text!r}. {_FIX}"
        )
    return state


_ASTRAY = "the bot's position is not the arena's"
_FIX = "This is no fault of the bot's own code: see that bot and arena have the same version of patchwork-arena"


def _clock(request: pb.MoveRequest, control: pb.TimeControl, moves: int, received: float) -> Clock:
    given = request.clock
    left = given.left_us / 1e6 if given.HasField("left_us") else inf
    bank = given.bank_us / 1e6 if given.HasField("bank_us") else None
    budget = advice(left, bank, control.increment_us / 1e6, moves)
    return Clock(left, budget, {seat: us / 1e6 for seat, us in given.opponents_us.items()}, received)


def _failure(handle: str, ply: int, text: str) -> pb.PlayRequest:
    return pb.PlayRequest(failure=pb.Failure(handle=handle, ply=ply, traceback=text))


def _result(over: pb.GameOver, bot: Bot) -> Result:
    ranks = dict(zip(bot.seats, over.ranks, strict=False))
    first = [seat for seat, rank in ranks.items() if rank == 1]
    drawn = len(first) > 1 and bot.seat in first
    return Result(
        ending=ending_of(over),
        blamed=tuple(over.blamed),
        ranks=tuple(over.ranks),
        scores=tuple(over.scores),
        game_id=over.game_id,
        reason=over.reason,
        won=None if drawn or not ranks else first == [bot.seat],
    )
