"""The match state machine: events in, effects out; no I/O, no clock of its own.

A match is first *seating* (every seat gets a session and says Ready), then *playing* (ply after ply), then *over*.
Only a seat that is being asked can fail; what befalls a waiting seat is judged when it is next asked. A ply ends when
every asked seat has answered or failed, so blame never depends on who failed first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from arena_engine.game import Game, GameError, State, format_ply
from arena_server.model import Assignment, BlackBox, Ending, Failure, Played, Result
from arena_server.referee.clocks import Now, Reading, SeatClock
from arena_server.referee.events import (
    Ask,
    Begin,
    Dismissed,
    Effect,
    Event,
    Exited,
    Failed,
    GivenUp,
    Lost,
    Malformed,
    NotSeated,
    Over,
    Ready,
    Replied,
    Resigned,
    Returned,
    Seated,
    Ticked,
    Unseated,
)
from arena_server.text import clean

MAX_STALLED = 2.0
"""Seconds of our own stalls in one game that void it."""
UNTIMED_ABSENCE = 30.0
"""Seconds that a lost stream may stay away where no clock ends the wait."""
MAX_EVIDENCE = 16 << 10
"""Characters of a traceback that are kept, the last ones."""
MAX_REPLY = 200
"""Characters of a refused reply that are kept."""


@dataclass(frozen=True, slots=True)
class _Trouble:
    """What befell a seat."""

    ending: Ending
    reason: str
    evidence: str = ""
    reply: str | None = None
    own_us: int | None = None
    spent_us: int | None = None


class _Seat:
    """What the match knows of one seat."""

    __slots__ = (
        "asked",
        "clock",
        "failure",
        "letter",
        "lost_at",
        "move",
        "pending",
        "ready",
        "ready_by",
        "seated",
        "sent",
        "told",
    )

    def __init__(self, letter: str, clock: SeatClock) -> None:
        self.letter = letter
        self.clock = clock
        self.ready = False
        self.ready_by: float | None = None
        self.seated = Now(0.0)
        self.asked = False
        self.move: Any = None
        self.failure: Failure | None = None
        self.pending: _Trouble | None = None  # judged when it is next asked
        self.lost_at: float | None = None
        self.sent = 0  # plies it has been told
        self.told = False  # of the game, and has not said Ready since

    @property
    def open(self) -> bool:
        """Whether an answer is awaited."""
        return self.asked and self.move is None and self.failure is None


class Match:
    """One attempt at one game.

    Args:
        margins_us: forgiven overrun of each seat.
        date: when it began, UTC, for the record.
    """

    def __init__(self, assignment: Assignment, game: Game, margins_us: tuple[int, ...], date: str, now: Now) -> None:
        self.assignment = assignment
        self.game = game
        self.date = date
        self.state: State = game.start(assignment.planned.deal, len(assignment.planned.seats))
        control = assignment.spec.time_control
        self.seats = {
            letter: _Seat(letter, SeatClock(control, margin))
            for letter, margin in zip(assignment.planned.letters, margins_us, strict=True)
        }
        self.plies: list[str] = []
        self.result: Result | None = None
        self._asked: list[_Seat] = []  # the seats of this ply
        self._moves: list[Played] = []
        self._began = now
        self._playing = False
        self._failed = False

    @property
    def ply(self) -> int:
        """The number of the ply being played."""
        return len(self.plies)

    @property
    def asking(self) -> str:
        """Letters of the seats whose answers are awaited."""
        return "".join(seat.letter for seat in self.seats.values() if seat.open)

    def on(self, event: Event, now: Now) -> list[Effect]:
        """Takes one event and says what is to be done about it."""
        if self.result is not None:
            return []
        if self._playing and now.stalled - self._began.stalled > MAX_STALLED:
            return [self._over(Ending.VOID, now, f"the arena itself stalled for over {MAX_STALLED:g} s")]
        if isinstance(event, Ticked):
            self._tick(now)
            return self._settle(now)
        if isinstance(event, GivenUp):
            return [self._over(Ending.VOID, now, "it was given up")]
        return self._take(self.seats[event.seat], event, now) + self._settle(now)

    def asked(self, letter: str, now: Now, cpu_us: int | None = None) -> float | None:
        """A request of this seat goes out now; one sent again does not restart its clock.

        Args:
            letter: of the seat.
            now: the instant.
            cpu_us: CPU time that it has used in all, where that counts.

        Returns:
            An instant at which Ticked should come for it.
        """
        seat = self.seats[letter]
        if seat.open and seat.clock.started is None:  # a bot may have answered what it was not asked yet
            seat.clock.start(now, cpu_us)
        return self._due(seat)

    def alarm(self) -> float | None:
        """An instant at which Ticked should come, no later than the next one that matters."""
        if self.result is not None:
            return None
        return min((due for seat in self.seats.values() if (due := self._due(seat)) is not None), default=None)

    # Events

    def _take(self, seat: _Seat, event: Event, now: Now) -> list[Effect]:  # noqa: C901 - one case an event
        match event:
            case Replied():  # first: it is nearly every event
                return self._take_reply(seat, event, now)
            case Seated(ready_by=ready_by):
                seat.ready_by, seat.seated = ready_by, now
                return [self._begin(seat)]
            case NotSeated(reason=reason, evidence=evidence):
                self._fail(seat, _Trouble(Ending.START_FAILURE, reason, evidence), now)
            case Unseated():
                seat.ready_by = seat.lost_at = None
            case Ready():
                return self._take_ready(seat)
            case Returned():
                seat.lost_at = None
                return [self._begin(seat)]
            case Lost():
                seat.lost_at = now.at
            case Failed(traceback=traceback):
                self._suffer(seat, _Trouble(Ending.CRASH, last_line(traceback), traceback), now)
            case Malformed(reason=reason):
                self._suffer(seat, _Trouble(Ending.PROTOCOL_ERROR, reason), now)
            case Resigned():
                self._suffer(seat, _Trouble(Ending.RESIGN, "gave up"), now)
            case Exited(reason=reason, evidence=evidence):
                self._suffer(seat, _Trouble(Ending.CRASH, reason, evidence), now)
            case Dismissed():
                return [self._over(Ending.VOID, now, f"the process of seat {seat.letter} hung in another game")]
        return []

    def _begin(self, seat: _Seat) -> Begin:
        seat.sent, seat.told = self.ply, True
        return Begin(seat.letter, tuple(self.plies))

    def _take_ready(self, seat: _Seat) -> list[Effect]:
        if not seat.told:
            return []  # once is enough: each one is answered with a request, which costs more than it
        seat.ready, seat.told = True, False
        return [self._ask(seat)] if self._playing and seat.open else []

    def _take_reply(self, seat: _Seat, reply: Replied, now: Now) -> list[Effect]:
        if not seat.open or reply.ply != self.ply:
            return []  # stale, foreign or repeated: never touches the game
        reading = seat.clock.read(now, reply.cpu_us)
        if reading.excused:
            return [self._over(Ending.VOID, now, f"the arena itself stalled while seat {seat.letter} was to move")]
        if reading.overrun:
            self._time_out(seat, now, reply)
            return []
        started = seat.clock.started or now
        try:
            seat.move = self.state.parse_move(reply.move, seat.letter)
        except GameError as error:
            self._fail(seat, _Trouble(Ending.ILLEGAL_MOVE, error.why, reply=reply.move), now)
            return []
        finally:
            seat.clock.stop(reading)
        used, credit, stolen = reading.used_us, reading.credit_us, now.stolen_us_since(started)
        kept = (reply.move, used, credit, reply.own_us, reply.log, stolen, reading.cpu_us)
        self._moves.append(Played(self.ply, seat.letter, *kept))
        return []

    def _suffer(self, seat: _Seat, trouble: _Trouble, now: Now) -> None:
        """The first trouble of a seat: judged now if it is being seated or asked, else when it is next asked."""
        if not self._playing:
            self._fail(seat, replace(trouble, ending=Ending.START_FAILURE), now)
        elif seat.open:
            self._fail(seat, trouble, now)
        elif seat.pending is None:
            seat.pending = trouble

    def _tick(self, now: Now) -> None:
        for seat in self.seats.values():
            due = self._due(seat)
            if due is None or now.at < due:
                continue
            if not self._playing:
                self._start_late(seat, now)
            elif seat.clock.due is None or now.at >= (seat.clock.deadline(now) or 0.0):
                self._time_out(seat, now)
            else:
                seat.clock.due = seat.clock.deadline(now)  # a stall of ours has moved it

    def _start_late(self, seat: _Seat, now: Now) -> None:
        """Its start limit is over, unless a stall of ours has moved it."""
        assert seat.ready_by is not None
        seat.ready_by += now.stalled - seat.seated.stalled
        seat.seated = now
        if now.at >= seat.ready_by:
            self._fail(seat, _Trouble(Ending.START_FAILURE, "was not ready within its start limit"), now)

    def _due(self, seat: _Seat) -> float | None:
        if not self._playing:
            return None if seat.ready or seat.failure else seat.ready_by
        if not seat.open or seat.clock.started is None:
            return None
        if seat.clock.due is not None or seat.lost_at is None:
            return seat.clock.due
        return max(seat.lost_at, seat.clock.started.at) + UNTIMED_ABSENCE

    # The course of the game

    def _settle(self, now: Now) -> list[Effect]:
        """Goes on as soon as nothing more is awaited."""
        if self.result is not None:
            return []
        if not self._playing:
            return self._settle_seating(now)
        for seat in self._asked:
            if seat.move is None and seat.failure is None:
                return []
        if self._failed:
            return [self._forfeit(now)]
        self._advance()
        return self._next_ply(now)

    def _settle_seating(self, now: Now) -> list[Effect]:
        if not all(seat.ready or seat.failure for seat in self.seats.values()):
            return []
        if self._failed:
            return [self._forfeit(now)]
        self._playing = True
        self._began = now
        return self._next_ply(now)

    def _advance(self) -> None:
        moves = {seat.letter: seat.move for seat in self._asked}
        self.plies.append(format_ply(moves))
        self.state = self.state.play(moves)
        for seat in self._asked:
            seat.asked = False
            seat.move = None

    def _next_ply(self, now: Now) -> list[Effect]:
        if self.state.is_over:
            return [self._over(Ending.NORMAL, now)]
        self._asked = [self.seats[letter] for letter in self.state.to_move]
        for seat in self._asked:
            seat.asked = True
            if seat.pending is not None:
                self._fail(seat, seat.pending, now)
        effects: list[Effect] = [self._ask(seat) for seat in self._asked if seat.failure is None]
        return effects or self._settle(now)

    def _ask(self, seat: _Seat) -> Ask:
        plies = tuple(self.plies[seat.sent :])
        seat.sent = self.ply
        return Ask(seat.letter, self.ply, plies)

    # Endings

    def _time_out(self, seat: _Seat, now: Now, reply: Replied | None = None) -> None:
        ending = Ending.TIMEOUT if seat.lost_at is None else Ending.DISCONNECT
        reading = seat.clock.read(now, reply and reply.cpu_us)
        trouble = _Trouble(ending, _lateness(seat, reading))
        if reply is not None:
            trouble = replace(trouble, reply=reply.move, own_us=reply.own_us, spent_us=reading.cpu_us)
        self._fail(seat, trouble, now)

    def _fail(self, seat: _Seat, trouble: _Trouble, now: Now) -> None:
        if seat.failure is not None:
            return
        self._failed = True
        reading = seat.clock.read(now)
        seat.failure = Failure(
            seat=seat.letter,
            ending=trouble.ending,
            ply=self.ply,
            reason=clean(trouble.reason),  # it goes into tables and logs; the evidence stays as it was
            used_us=reading.used_us,
            credit_us=reading.credit_us,
            reply=None if trouble.reply is None else trouble.reply[:MAX_REPLY],
            position=self.state.text if self._playing else "",
            evidence=trouble.evidence[-MAX_EVIDENCE:],
            box=self._box(seat, trouble, now),
        )

    def _box(self, seat: _Seat, trouble: _Trouble, now: Now) -> BlackBox:
        """What the match itself knows; the driver adds what it knows of the process."""
        clock = seat.clock
        if clock.started is None:
            return BlackBox(margin_us=clock.margin_us)
        return BlackBox(
            limit_us=clock.allowance_us,
            margin_us=clock.margin_us,
            own_us=trouble.own_us,
            spent_us=trouble.spent_us,
            late_us=None if trouble.own_us is None else now.us_since(clock.started),
            stolen_us=now.stolen_us_since(clock.started),
            waited_us=now.waited_us_since(clock.started),
        )

    def _forfeit(self, now: Now) -> Over:
        return self._over(self._failures()[0].ending, now)

    def _over(self, ending: Ending, now: Now, reason: str = "") -> Over:
        failures = () if ending is Ending.VOID else self._failures()
        outcome = None
        if ending is not Ending.VOID:
            blamed = [failure.seat for failure in failures]
            outcome = self.game.forfeit(self.state, blamed) if blamed else self.state.outcome
        self.result = Result(
            assignment=self.assignment,
            ending=ending,
            outcome=outcome,
            moves=tuple(self._moves[: self._accepted()]),
            failures=failures,
            position=self.state.text,
            started=self.date,
            duration_us=now.us_since(self._began) if self._playing else 0,
            stalled_us=now.stalled_us_since(self._began),
            reason=reason,
        )
        return Over(self.result)

    def _failures(self) -> tuple[Failure, ...]:
        return tuple(seat.failure for seat in self.seats.values() if seat.failure is not None)

    def _accepted(self) -> int:
        """Moves of whole plies: those of a ply that another seat failed on were never played."""
        return sum(1 for played in self._moves if played.ply < self.ply)


def _lateness(seat: _Seat, reading: Reading) -> str:
    """How a seat ran out of time, in words."""
    allowed, wall = seat.clock.allowance_us, seat.clock.wall_us
    if allowed is None or wall is None:
        return f"its stream was lost for {UNTIMED_ABSENCE:g} s"
    what = "it" if seat.lost_at is None else "its stream was lost and it"
    if reading.cpu_us is not None and reading.cpu_us > allowed + seat.clock.margin_us:
        return f"{what} used {reading.cpu_us / 1e3:.0f} ms of CPU of {allowed / 1e3:.0f} ms"
    of = f"the {wall / 1e3:.0f} ms for an answer" if seat.clock.control.cpu else f"{allowed / 1e3:.0f} ms"
    return f"{what} used {reading.used_us / 1e3:.0f} ms of {of}"


def last_line(text: str) -> str:
    """The last line that is not blank: what a traceback comes down to."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:MAX_REPLY] if lines else "its code failed"
