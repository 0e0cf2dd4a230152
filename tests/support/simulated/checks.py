"""What must hold of every game and of the whole tournament, whatever befalls the arena."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arena_server.model import FAILURES, Assignment, Ending, Result
from simulated.script import FATAL, JITTER, LIMIT, MARGIN, Script

Key = tuple[int, int, str]
"""Number of a game, attempt, seat."""

BOUND = 1.0
"""Seconds after a bot's clock has run out within which its game ends."""
MEASURED = 0.003
"""Seconds by which what was charged may differ from the truth, but for stalls."""


class Violation(AssertionError):  # noqa: N818 - a finding about others, no error of ours
    """A promise was broken."""


@dataclass
class Ask:
    """One request, as the transport saw it.

    Attributes:
        delayed: whether the bot's stream broke since the game was given out: there may have been none to ask on.
    """

    sent: float
    delayed: bool = False
    answered: float | None = None
    legal: bool = False


@dataclass
class Witness:
    """Notes what really happened and compares it with what the arena says.

    Attributes:
        current: the attempt that is being played, by number of the game.
        begun: when it was given out.
        reported: endings of the attempts that the watcher was told of.
        finished: games reported to be finished.
    """

    script: Script
    asks: dict[tuple[int, int, str, int], Ask] = field(default_factory=dict)
    heard: dict[Key, Any] = field(default_factory=dict)
    current: dict[int, Assignment] = field(default_factory=dict)
    begun: dict[int, float] = field(default_factory=dict)
    reported: dict[tuple[int, int], Ending] = field(default_factory=dict)
    finished: set[int] = field(default_factory=set)

    def given(self, assignment: Assignment, at: float) -> None:
        """A game is given out."""
        number, attempt = assignment.planned.number, assignment.token.attempt
        _check(number not in self.finished, f"game {number} is played again after it was reported")
        _check((number, attempt) not in self.reported, f"attempt {attempt} of game {number} is played again")
        self.current[number], self.begun[number] = assignment, at
        # What an attempt left that a dead command began is forgotten.
        self.asks = {key: ask for key, ask in self.asks.items() if key[0] != number}
        self.heard = {key: message for key, message in self.heard.items() if key[0] != number}

    def asked(self, number: int, seat: str, ply: int, at: float, lost: float) -> None:
        """A request goes out, to a bot whose stream last broke at that time."""
        if number in self.current:
            key = (number, self.current[number].token.attempt, seat, ply)
            self.asks.setdefault(key, Ask(at, delayed=lost > self.begun[number]))

    def answered(self, number: int, seat: str, ply: int, *, at: float, legal: bool) -> None:
        """The first answer to it is there."""
        if number in self.current:
            ask = self.asks.get((number, self.current[number].token.attempt, seat, ply))
            if ask is not None and ask.answered is None:
                ask.answered, ask.legal = at, legal

    def told(self, number: int, seat: str, message: Any) -> None:
        """A seat is told how it ended."""
        if number in self.current:
            key = (number, self.current[number].token.attempt, seat)
            _check(key not in self.heard, f"seat {seat} is told twice how game {number} ended")
            self.heard[key] = message

    def report(self, result: Result) -> None:
        """The watcher is told of a result, which is on record then."""
        number, attempt = result.assignment.planned.number, result.assignment.token.attempt
        _check((number, attempt) not in self.reported, f"attempt {attempt} of game {number} is reported twice")
        self.reported[number, attempt] = result.ending
        if result.ending.rated:
            _check(number not in self.finished, f"game {number} is reported twice")
            self.finished.add(number)

    @property
    def _away(self) -> set[tuple[int, str]]:
        """Seats that lose their streams for a while."""
        return {(deed.number, deed.seat) for deed in self.script.deeds if deed.kind.startswith("reset")}

    # A game

    def judge(
        self, result: Result, connected: Mapping[str, bool], now: float, stalls: list[tuple[float, float]]
    ) -> None:
        """A game has ended: blame, clocks, who heard of it, and when."""
        planned, attempt = result.assignment.planned, result.assignment.token.attempt
        where = f"game {planned.number}.{attempt}"
        self._judge_blame(result, where)
        last = 0.0
        for key, ask in self.asks.items():
            if key[:2] == (planned.number, attempt):
                last = max(last, ask.sent)
                self._judge_clock(result, key, ask, where, stalls)
        if last:
            stood = _overlap(stalls, last, now)
            _check(now <= last + LIMIT + MARGIN + stood + BOUND, f"{where} ended {now - last:.3f} s after its last ask")
        for letter in planned.letters:
            if connected.get(letter) and letter not in result.blamed and result.moves:
                told = self.heard.get((planned.number, attempt, letter))
                _check(told is not None, f"{where}: seat {letter} has not heard how it ended")
                ranks = list(result.outcome.ranks) if result.outcome else []
                _check(told is None or list(told.ranks) == ranks, f"{where}: seat {letter} was told other ranks")

    def _judge_blame(self, result: Result, where: str) -> None:
        planned = result.assignment.planned
        guilty = {(deed.number, deed.seat) for deed in self.script.deeds if deed.kind in FATAL}
        absent = {deed.number for deed in self.script.deeds if deed.kind == "absent"}
        for failure in result.failures:
            entrant = planned.seats[planned.letters.index(failure.seat)]
            started = failure.ending is not Ending.START_FAILURE
            known = (planned.number, failure.seat) in guilty if started else entrant in absent
            _check(known, f"{where}: seat {failure.seat} is blamed for {failure.ending}: {failure.reason}")
            if started and result.moves:
                _check(failure.ply == result.moves[-1].ply + 1, f"{where}: blamed for ply {failure.ply}")
        _check(result.ending not in FAILURES or bool(result.failures), f"{where}: {result.ending} without blame")

    def _judge_clock(
        self, result: Result, key: tuple[int, int, str, int], ask: Ask, where: str, stalls: list[tuple[float, float]]
    ) -> None:
        """What it used was charged, no more and no less; within its time it lives, beyond it does not."""
        number, _, seat, ply = key
        played = next((move for move in result.moves if (move.seat, move.ply) == (seat, ply)), None)
        if ask.answered is None:
            _check(played is None, f"{where}: a move of seat {seat} at ply {ply} that was never sent")
            return
        during = [stall for stall in stalls if stall[0] <= ask.answered + MEASURED and stall[1] >= ask.sent]
        unseen = JITTER * len(during) + MEASURED
        used = ask.answered - ask.sent
        stood = _overlap(stalls, ask.sent, ask.answered)
        if played is not None:
            _check(used - stood <= LIMIT + MARGIN + MEASURED, f"{where}: seat {seat} used {used:.3f} s and lived")
            charged = (played.used_us - played.credit_us) / 1e6
            if ask.delayed or (number, seat) in self._away:
                return  # its clock began while there was no stream to ask on
            _check(
                charged <= used - stood + unseen, f"{where}: seat {seat} was charged {charged:.3f} s for {used:.3f} s"
            )
            _check(
                charged >= used - stood - unseen, f"{where}: seat {seat} was charged {charged:.3f} s of {used:.3f} s"
            )
        for failure in result.failures:
            if (failure.seat, failure.ply) == (seat, ply) and failure.ending in (Ending.TIMEOUT, Ending.DISCONNECT):
                late = not ask.legal or used - stood + unseen > LIMIT + MARGIN
                _check(late, f"{where}: seat {seat} lost on time after {used:.3f} s")


def _overlap(stalls: list[tuple[float, float]], start: float, end: float) -> float:
    return sum(max(0.0, min(end, stop) - max(start, begun)) for begun, stop in stalls)


def _check(holds: bool, what: str) -> None:  # noqa: FBT001 - an assertion with a name
    if not holds:
        raise Violation(what)
