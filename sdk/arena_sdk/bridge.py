"""A bot whose moves a program chooses, by lines on its standard input and output: docs/bridge.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from time import monotonic
from typing import Any, ClassVar

from arena_sdk.bot import RESIGN, Bot, Result
from arena_sdk.clock import Clock
from arena_sdk.process import run
from arena_sdk.program import Program, one_line

VERSION = 1
"""Of the lines, the first of which tells it."""
GRACE_S = 2.0
"""For an answer after the clock has run out: the arena has judged that by then."""

USAGE = """\
`arena bridge` is a bot: an arena starts it and asks it for moves. Write a bot.toml with
  command = ["arena", "bridge", "--", "{program}"]
and let its folder play:
  arena run-tournament FOLDER greedy
"""


class Bridge(Bot):
    """The bot. All its games in turn have one program, until that fails or leaves.

    Attributes:
        command: the words of the program.
        start_s: seconds that it has to say `ready`.
        program: while there is one.
    """

    command: ClassVar[Sequence[str]] = ()
    start_s: ClassVar[float] = 30.0
    program: ClassVar[Program | None] = None

    @classmethod
    def load(cls, options: Mapping[str, str | int | float | bool]) -> None:
        """Starts the program."""
        cls.program = Program(cls.command)
        cls.program.say(
            f"arena {VERSION}", *(f"option {name} {_text(value)}" for name, value in sorted(options.items()))
        )

    @classmethod
    def stop(cls) -> None:
        """Kills the program at once."""
        if cls.program is not None:
            cls.program.kill()

    @classmethod
    def leave(cls) -> None:
        """Tells the program to leave."""
        if cls.program is not None and cls.program.alive:
            cls.program.quit()

    def on_start(self) -> None:
        """Tells the program of the game; one that has left after the last game is started again."""
        if self.program is None or not self.program.alive:
            self.load(self.options)
        line = self._ask(self.start_s, *self._game(), "start")
        if line != "ready":
            raise self._running.fault(f"said {line!r} where 'ready' was awaited")

    def choose(self, state: Any, clock: Clock) -> Any:
        """Asks the program."""
        moves = " ".join(map(str, state.legal_moves(self.seat)))
        line = self._ask(clock.left + GRACE_S, f"position {state.text}", f"moves {moves}", *_times(clock), "go")
        word, _, move = line.partition(" ")
        if line == "resign":
            return RESIGN
        if word != "move":
            raise self._running.fault(f"said {line!r} where 'move MOVE' was awaited")
        return move

    def on_end(self, result: Result) -> None:
        """Tells the program how it ended."""
        if self._running.alive:
            self._running.say(*_result(result))

    @property
    def _running(self) -> Program:
        assert self.program is not None
        return self.program

    def _ask(self, seconds: float, *lines: str) -> str:
        """What the program answers, its log lines apart."""
        program = self._running
        for line in program.unasked():
            if not self._logged(line):
                raise program.fault(f"said {line!r} unasked")
        program.say(*lines)
        end = monotonic() + seconds
        while self._logged(line := program.hear(end - monotonic())):
            pass
        return line

    def _logged(self, line: str) -> bool:
        word, _, text = line.partition(" ")
        if word == "log":
            self.log(text)
        return word == "log"

    def _game(self) -> Iterator[str]:
        yield f"game {self.game}"
        yield f"seat {self.seat}"
        for seat, name in self.seats.items():
            yield f"player {seat} {name}"
        for name, value in self.deal.items():
            yield f"deal {name} {value}"
        yield f"seed {self.seed}"


def play(command: Sequence[str], start_s: float) -> int:
    """Plays for the arena that the environment names, as any bot; returns the exit code.

    Args:
        command: the words of the program.
        start_s: seconds that it has to say that it is ready for a game.
    """
    Bridge.command, Bridge.start_s = command, start_s
    try:
        return run(Bridge, usage=USAGE.format(program=command[0]), leaving=Bridge.stop, at_once=1)
    finally:
        Bridge.leave()


def _text(value: str | float | bool) -> str:  # noqa: FBT001 - the value of an option
    return str(value).lower() if isinstance(value, bool) else one_line(str(value))


def _times(clock: Clock) -> Iterator[str]:
    if clock.left < inf:
        yield f"left_us {clock.left * 1e6:.0f}"
    yield f"budget_us {clock.budget * 1e6:.0f}"
    for seat, left in clock.opponents.items():
        yield f"opponent_us {seat} {left * 1e6:.0f}"


def _result(result: Result) -> Iterator[str]:
    yield f"id {result.game_id}"
    yield f"ranks {' '.join(map(str, result.ranks))}"
    yield f"scores {' '.join(map(str, result.scores))}"
    if result.reason:
        yield f"reason {result.reason}"
    won = {True: "won", False: "lost", None: "drawn" if result.ranks else "void"}[result.won]
    yield f"end {result.ending} {won}"
