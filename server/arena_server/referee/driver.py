"""The driver of one match: sends what the match wants sent, stamps, and feeds back what happened."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from arena.v1 import referee_pb2 as pb
from arena_engine.game import Game
from arena_server.launching import usage
from arena_server.model import MARGIN_LAUNCHED_US, Assignment, Result
from arena_server.referee import events, messages
from arena_server.referee.clocks import Now
from arena_server.referee.guests import Guest
from arena_server.referee.match import Match
from arena_server.referee.players import Player
from arena_server.referee.stalls import Stalls
from arena_server.wire.session import GameMessage

ANSWERS = (pb.Move, pb.Failure)
"""What ends a bot's thinking about a ply."""
KEPT_MESSAGES = 4
"""To each seat and from it, kept in case that it fails."""
MAX_LOG_LINES = 20
MAX_LOG_LINE = 500
"""Bounds of what a bot may add to the record with one move."""


class Driver:
    """Plays one attempt at one game.

    Args:
        margins_us: forgiven overrun of each seat; by default all are launched here.

    Attributes:
        finished: the result, once there is one.
        counts_cpu: whether clocks count CPU time.
    """

    def __init__(
        self, assignment: Assignment, game: Game, stalls: Stalls, margins_us: tuple[int, ...] | None = None
    ) -> None:
        self.stalls = stalls
        self.counts_cpu = assignment.spec.time_control.cpu
        self._loop = asyncio.get_running_loop()
        self.finished: asyncio.Future[Result] = self._loop.create_future()
        margins = margins_us or (MARGIN_LAUNCHED_US,) * len(assignment.planned.seats)
        self.match = Match(assignment, game, margins, datetime.now(UTC).isoformat(timespec="seconds"), stalls.now())
        self.chairs: dict[str, Chair] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._alarm = 0.0

    async def seat(self, letter: str, player: Player | Guest) -> bool:
        """A bot takes its seat; False: its process, which had played before, was gone before it was given this game."""
        kept = not player.fresh
        chair = self.chairs[letter] = Chair(self, letter, player, kept=kept)
        self.happen(events.Seated(letter, player.ready_by()))
        if not chair.player.alive:
            chair.exited()
        if not kept:
            return True
        awaited: list[asyncio.Future[Any]] = [chair.taken, self.finished]
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        if self.finished.done() or chair.taken.result():
            return True
        chair.close()
        self.happen(events.Unseated(letter))
        return False

    def leave_empty(self, letter: str, reason: str, evidence: str) -> None:
        """No bot could be had for the seat."""
        self.happen(events.NotSeated(letter, reason, evidence))

    def happen(self, event: events.Event, now: Now | None = None) -> None:
        """Feeds the match one event and does what it wants done; a bug of ours ends the game instead of hanging it."""
        try:
            for effect in self.match.on(event, now or self.stalls.now()):
                self._do(effect)
            if not isinstance(event, events.Replied):  # what is due next is due after the request that it brings
                self._ring_by(self.match.alarm())
        except Exception as error:  # noqa: BLE001 - told to whoever waits for the result
            self._fail(error)

    def asked(self, letter: str, cpu_us: int | None) -> float:
        """A request leaves, and the clock starts; returns the monotonic instant."""
        now = self.stalls.now()
        try:
            self._ring_by(self.match.asked(letter, now, cpu_us))
        except Exception as error:  # noqa: BLE001 - likewise
            self._fail(error)
        return now.at

    def close(self) -> dict[str, Chair]:
        """Lets go of timer, sessions and chairs, which it returns; bots of a game that is not over hear that it is.

        Chairs hold their driver: if it kept them, a game's memory would be free only when cycles are next looked for.
        """
        self.happen(events.GivenUp())
        if self._timer is not None:
            self._timer.cancel()
        chairs, self.chairs = self.chairs, {}
        for chair in chairs.values():
            chair.close()
        return chairs

    def _do(self, effect: events.Effect) -> None:
        match effect:
            case events.Ask():  # first: it is nearly every effect
                self.chairs[effect.seat].ask(effect)
            case events.Begin():
                self.chairs[effect.seat].begin(effect)
            case events.Over(result=result):
                for chair in self.chairs.values():
                    chair.tell(result)
                if not self.finished.done():
                    self.finished.set_result(result)

    def _fail(self, error: Exception) -> None:
        if not self.finished.done():
            self.finished.set_exception(error)

    def _ring_by(self, alarm: float | None) -> None:
        """Keeps a timer no later than the next deadline; an early one costs less than setting it at every ply."""
        if alarm is None or (self._timer is not None and self._alarm <= alarm):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._alarm = alarm
        self._timer = self._loop.call_later(max(0.0, alarm - self.stalls.now().at), self._ring)

    def _ring(self) -> None:
        self._timer = None
        self.happen(events.Ticked())


class Heard(NamedTuple):
    """A message from a bot, and the monotonic instant at which it came."""

    at: float
    message: GameMessage


class Chair:
    """A player at one seat of one match: listens to its session, sends what the match says.

    Attributes:
        handle: names the game to this player alone.
        thinking: the ply it was asked and has not answered; None while it rests.
        asked_at: the monotonic instant of the last request; 0 before the first.
        sent: the last messages to it, with their instants.
        heard: the last ones from it.
        cpu_us: CPU time of its process when it took the seat.
        taken: of a process that had played before: whether it said Ready, or was gone before that.
    """

    def __init__(self, driver: Driver, letter: str, player: Player | Guest, *, kept: bool) -> None:
        self.driver = driver
        self.letter = letter
        self.player = player
        self.handle = secrets.token_hex(8)
        self.thinking: int | None = None
        self.asked_at = 0.0
        self.sent: deque[tuple[float, bytes]] = deque(maxlen=KEPT_MESSAGES)
        self.heard: deque[Heard] = deque(maxlen=KEPT_MESSAGES)
        self.cpu_us = usage.cpu_us(player.process.pid)
        self.taken: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if not kept:
            self.taken.set_result(True)
        self._late: asyncio.Future[None] | None = None
        self._away = False
        player.session.games[self.handle] = self
        player.process.exited.add_done_callback(self.exited)

    # What the match wants

    def begin(self, effect: events.Begin) -> None:
        """Tells the bot of the game."""
        self._send(messages.game_started(self.handle, effect, self.driver.match))

    def ask(self, effect: events.Ask) -> None:
        """Asks for a move; the clock starts between serialising and writing, or at once for a bot that is away.

        That one is asked when it has come back, been told how the game stands, and said Ready.
        """
        hello = self.player.session.hello
        mode = hello.observation_mode if hello is not None else pb.OBSERVATION_MODE_UNSPECIFIED
        data = messages.move_request(self.handle, effect, self.driver.match, mode, self.driver.stalls.now())
        self.thinking = effect.ply
        if self._away:
            self._leaves(data)
        else:
            self.player.session.post(data, partial(self._leaves, data))

    def tell(self, result: Result) -> None:
        """Tells the bot how it ended."""
        self._send(messages.game_over(self.handle, self.letter, result))

    def _send(self, data: bytes) -> None:
        self.sent.append((time.monotonic(), data))
        self.player.session.post(data)

    def _leaves(self, request: bytes) -> None:
        self.asked_at = self.driver.asked(self.letter, self._cpu_us())
        self.sent.append((self.asked_at, request))

    async def late_answer(self, seconds: float) -> None:
        """Waits for some time for what it answers although the game is over."""
        if self.thinking is None or not self.player.alive:
            return
        self._late = asyncio.get_running_loop().create_future()
        awaited: list[asyncio.Future[Any]] = [self._late, self.player.process.exited]
        await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        self._late = None

    def close(self) -> None:
        """Leaves the session, unless an answer is still awaited: `settled` waits for that."""
        self.player.process.exited.remove_done_callback(self.exited)
        if self.thinking is None:
            self.player.session.games.pop(self.handle, None)

    # What the bot does

    def received(self, message: GameMessage, at: float) -> None:
        """A message for this game."""
        self.heard.append(Heard(at, message))
        if not self.taken.done():
            self.taken.set_result(True)
        if (isinstance(message, ANSWERS) and message.ply == self.thinking) or isinstance(message, pb.Resign):
            self.thinking = None
        if self.driver.finished.done():
            self._drop_late()
            return
        self.driver.happen(self._event(message), self.driver.stalls.instant(at))

    def malformed(self, reason: str) -> None:
        """The bot sent what makes no sense."""
        self.driver.happen(events.Malformed(self.letter, reason))

    def lost(self) -> None:
        """The stream broke."""
        self._away = True
        self.driver.happen(events.Lost(self.letter))

    def returned(self) -> None:
        """There is a new stream."""
        self._away = False
        self.driver.happen(events.Returned(self.letter))

    def exited(self, _future: object = None) -> None:
        """The process is gone."""
        if not self.taken.done():
            self.taken.set_result(False)
        if not self.taken.result():
            return
        if self.player.dismissed:
            self.driver.happen(events.Dismissed(self.letter))
            return
        gone = self.player.process.exited.result()
        self.driver.happen(events.Exited(self.letter, gone.describe(), gone.output.stderr))

    def _cpu_us(self) -> int | None:
        """CPU time of the bot in all, where that counts."""
        return usage.tree_cpu_us(self.player.process.pid) if self.driver.counts_cpu else None

    def _event(self, message: GameMessage) -> events.Event:
        match message:
            case pb.Move():
                log = tuple(line[:MAX_LOG_LINE] for line in message.log[:MAX_LOG_LINES]) if message.log else ()
                return events.Replied(self.letter, message.ply, message.move, message.own_us, log, self._cpu_us())
            case pb.Failure():
                return events.Failed(self.letter, message.traceback)
            case pb.Resign():
                return events.Resigned(self.letter)
            case _:
                return events.Ready(self.letter)

    def _drop_late(self) -> None:
        if self.thinking is not None:
            return
        if self._late is not None and not self._late.done():
            self._late.set_result(None)
        else:
            self.player.session.games.pop(self.handle, None)
            self.player.rested.set()
