"""Bots that do not start are parked, so that an event does not wait for them game after game."""

from __future__ import annotations

from datetime import UTC, datetime

from arena_engine.game import Game
from arena_server.model import Assignment, Ending, Failure, Result

LIMIT = 3
"""Start failures in a row after which a bot is parked for this run."""


class Parking:
    """Counts start failures of entrants, by index."""

    def __init__(self) -> None:
        self._in_a_row: dict[int, int] = {}
        self._reasons: dict[int, Failure] = {}

    def note(self, result: Result) -> list[tuple[int, str]]:
        """Takes a played game into account; the entrants that are parked because of it, with the reason."""
        failed = {failure.seat: failure for failure in result.failures if failure.ending is Ending.START_FAILURE}
        parked = []
        planned = result.assignment.planned
        for letter, entrant in zip(planned.letters, planned.seats, strict=True):
            if letter not in failed:
                self._in_a_row[entrant] = 0
                continue
            self._in_a_row[entrant] = self._in_a_row.get(entrant, 0) + 1
            if self._in_a_row[entrant] == LIMIT and entrant not in self._reasons:
                self._reasons[entrant] = failed[letter]
                parked.append(
                    (entrant, f"it did not start {LIMIT} times in a row, the last time it {failed[letter].reason}")
                )
        return parked

    def forfeit(self, assignment: Assignment, game: Game) -> Result | None:
        """The result of a game in which a parked bot should sit; None where none does."""
        planned = assignment.planned
        failures = tuple(
            self._failure(letter, self._reasons[entrant])
            for letter, entrant in zip(planned.letters, planned.seats, strict=True)
            if entrant in self._reasons
        )
        if not failures:
            return None
        state = game.start(planned.deal, len(planned.seats))
        return Result(
            assignment=assignment,
            ending=Ending.START_FAILURE,
            outcome=game.forfeit(state, [failure.seat for failure in failures]),
            moves=(),
            failures=failures,
            position=state.text,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            duration_us=0,
        )

    def _failure(self, letter: str, first: Failure) -> Failure:
        reason = f"parked after {LIMIT} start failures in a row: {first.reason}"
        return Failure(letter, Ending.START_FAILURE, 0, reason, evidence=first.evidence)
