"""What became of a game: moves, failures, the result."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import NamedTuple

from arena_engine.game import Outcome
from arena_server.model.endings import Ending
from arena_server.model.games import Assignment


class Played(NamedTuple):
    """One accepted move with its evidence.

    Attributes:
        used_us: elapsed at the referee, before credit.
        credit_us: measured stalls of our own that were not charged.
        own_us: the bot's own measure.
        stolen_us: CPU time that the machine's own host took from it meanwhile, where that can be read.
        cpu_us: CPU time of the bot, where the clock counts that.
    """

    ply: int
    seat: str
    move: str
    used_us: int
    credit_us: int = 0
    own_us: int = 0
    log: tuple[str, ...] = ()
    stolen_us: int = 0
    cpu_us: int | None = None

    @property
    def charged_us(self) -> int:
        """What it cost the seat."""
        return max(0, self.used_us - self.credit_us) if self.cpu_us is None else self.cpu_us


@dataclass(frozen=True, slots=True)
class BlackBox:
    """What was known of a seat that failed; kept on faults alone, bounded, and as bots gave it: not fit to print.

    Attributes:
        limit_us: what it might use for the ply, without the margin; None where there was no limit.
        own_us: its own measure, from an answer that came too late; None where none came.
        late_us: how long after the request that answer came.
        spent_us: CPU time that was charged for the ply, where the clock counts that and an answer came.
        stolen_us: CPU time that the machine's own host took meanwhile; None where that cannot be read.
        waited_us: for how long meanwhile some process of this machine waited for a core; None likewise.
        cpu_us: CPU time of its process in this game; None where unknown.
        max_rss_kb: the largest size of its process; None where unknown.
        exit: how its process ended, in words; empty while it ran.
        stderr: the end of what its process said, unless that is the failure's evidence.
        messages: the last ones to and from it, the oldest first.
        bot: how to name it in a command.
    """

    limit_us: int | None = None
    margin_us: int = 0
    own_us: int | None = None
    late_us: int | None = None
    spent_us: int | None = None
    stolen_us: int | None = None
    waited_us: int | None = None
    cpu_us: int | None = None
    max_rss_kb: int | None = None
    exit: str = ""
    stderr: str = ""
    messages: tuple[str, ...] = ()
    bot: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """What one seat did that ended the game.

    Attributes:
        reply: what it answered, as given; None where it gave no answer.
        reason: in words.
        position: text of the position it was asked in; empty before the first.
        evidence: traceback, or the end of its standard error.
        box: what else was known; None in records of older versions.
    """

    seat: str
    ending: Ending
    ply: int
    reason: str
    used_us: int = 0
    credit_us: int = 0
    reply: str | None = None
    position: str = ""
    evidence: str = ""
    box: BlackBox | None = None

    @property
    def charged_us(self) -> int:
        """What the ply had cost the seat by then."""
        if self.box is not None and self.box.spent_us is not None:
            return self.box.spent_us
        return max(0, self.used_us - self.credit_us)

    def command(self, game_id: str, *where: str) -> str:
        """What asks the bot once more in that position, or shows the position where the bot is not known.

        Args:
            game_id: of the game.
            where: options that make commands look where it is; none where they do so anyway.
        """
        words = ["arena", "replay", game_id, "--at", str(self.ply)]
        if self.box is not None and self.box.bot:
            words += ["--bot", self.box.bot, "--seat", self.seat]
        return shlex.join((*words, *where))


@dataclass(frozen=True, slots=True)
class Result:
    """How an attempt at a game ended.

    Attributes:
        outcome: None for a void attempt.
        position: text of the last position.
        started: UTC, ISO 8601 with seconds.
        duration_us: from the first Ready to the end.
        stalled_us: our own stalls while it ran.
        reason: why a void attempt is void.
    """

    assignment: Assignment
    ending: Ending
    outcome: Outcome | None
    moves: tuple[Played, ...]
    failures: tuple[Failure, ...]
    position: str
    started: str
    duration_us: int
    stalled_us: int = 0
    reason: str = ""

    @property
    def blamed(self) -> tuple[str, ...]:
        """The seats to blame, in seat order."""
        return tuple(failure.seat for failure in self.failures)
