"""A Swiss: bots of equal score meet, nobody twice, by FIDE's Dutch system.

The order of entry is the order of the seeds. A meeting is one result: more points than the other is a win, as many a
draw; a bye is a win. A meeting of which no game counts is none: both have nothing of the round, and may meet yet.
Who comes late has nothing of the rounds before; who is taken out loses the round that goes on, and has nothing of the
others.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from arena_server.formats import dutch
from arena_server.formats.dutch import DRAWN, LOST, WON, Result
from arena_server.formats.place import Place
from arena_server.formats.stage import Meeting, Stage
from arena_server.formats.tables import check, check_rounds, check_two_seats, dealt
from arena_server.model import Pairing, Spec


def usual_rounds(entrants: int) -> int:
    """Enough for one to be alone without a loss, and up to two more, as far as they can surely be paired."""
    least = (entrants - 1).bit_length()
    return max(1, least, min(least + 2, entrants // 2))


def most_rounds(entrants: int) -> int:
    """Opponents each can have, and one bye where somebody is left over."""
    return entrants - 1 + entrants % 2


def plan(spec: Spec, closed: Sequence[Stage]) -> Sequence[Pairing] | None:
    """The next round; None after the last, or where no round without a repeat is left.

    Raises:
        UserError: more than two seats, more rounds than opponents, or what ``tables.check`` refuses.
    """
    check(spec)
    check_two_seats(spec, ("round-robin", "gauntlet", "ladder"))
    rounds = check_rounds(spec, most_rounds(len(spec.entrants)))
    if len(closed) >= rounds:
        return None
    history = _history(spec, closed)
    for entrant in set(range(len(history))).difference(spec.present(len(closed) + 1)):
        history[entrant].append(Result(LOST))  # who has something of the round already is not paired
    pairs = dutch.pair(history, rounds)
    return None if pairs is None else dealt(spec, pairs)


def places(spec: Spec, closed: Sequence[Stage]) -> Sequence[Place]:
    """By points, then Buchholz, then Sonneborn-Berger, then order of entry.

    A round without an opponent counts there as one against a bot that ends with the same points.
    """
    history = _history(spec, closed)
    totals = [sum(result.half_points for result in results) for results in history]
    rows = [(totals[entrant], *_tie_breaks(history, totals, entrant)) for entrant in range(len(history))]
    order = sorted(range(len(rows)), key=lambda entrant: rows[entrant], reverse=True)  # stable: order of entry
    return [_place(rank, entrant, *rows[entrant]) for rank, entrant in enumerate(order, 1)]


def _place(rank: int, entrant: int, total: int, buchholz: int, sonneborn_berger: int) -> Place:
    marks = {"points": f"{total / 2:g}", "Buchholz": f"{buchholz / 2:g}", "S-B": f"{sonneborn_berger / 4:g}"}
    return Place(rank, entrant, marks)


def _tie_breaks(history: Sequence[Sequence[Result]], totals: Sequence[int], entrant: int) -> tuple[int, int]:
    """Buchholz in half points, Sonneborn-Berger in quarters."""
    met = [(totals[entrant if result.opponent is None else result.opponent], result) for result in history[entrant]]
    return sum(total for total, _ in met), sum(total * result.half_points for total, result in met)


def _history(spec: Spec, closed: Sequence[Stage]) -> list[list[Result]]:
    """What every entrant has of every round."""
    history: list[list[Result]] = [[] for _ in spec.entrants]
    for stage in closed:
        present = spec.present(stage.number)
        found: dict[int, Result] = {}
        for meeting in stage.meetings():
            found.update(_results(meeting, present))
        for entrant, results in enumerate(history):
            results.append(found.get(entrant, Result(WON if entrant in present else LOST)))
    return history


def _results(meeting: Meeting, present: Container[int]) -> dict[int, Result]:
    white, black = meeting.entrants
    left = [entrant for entrant in meeting.entrants if entrant in present]
    if len(left) == 1:
        return {white: Result(LOST), black: Result(LOST), left[0]: Result(WON)}
    if not left or not meeting.games:
        return {white: Result(LOST), black: Result(LOST)}
    ahead = meeting.points(white) - meeting.points(black)
    of_white = DRAWN if ahead == 0 else WON if ahead > 0 else LOST
    return {white: Result(of_white, black, white=True), black: Result(WON - of_white, white)}
