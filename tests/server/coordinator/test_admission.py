"""Which games an admission test has, and what is a failure in them."""

from __future__ import annotations

import pytest

from arena_server.coordinator.admission import failure_of, told, trials
from arena_server.model import Assignment, Ending, Entrant, Failure, PlannedGame, Result, Spec, Token

NEWCOMER, TESTER = (Entrant(name, "1", "") for name in ("ada", "random"))


def seatings(seats: int, games_at_once: int) -> list[str]:
    spec = Spec((NEWCOMER, TESTER), game="tiny", seats=seats)
    return ["".join("nt"[seat] for seat in trial.seats) for trial in trials(spec, games_at_once)]


def test_every_seat_is_tried_against_the_tester() -> None:
    assert seatings(2, 1) == ["nt", "tn"]
    assert seatings(3, 2) == ["ntt", "ttn", "tnt"]


def test_whoever_takes_a_game_for_each_seat_plays_itself_first() -> None:
    assert seatings(2, 2) == ["nn", "nt", "tn"]
    assert seatings(3, 8)[0] == "nnn"


def test_games_are_told_by_number() -> None:
    spec = Spec((NEWCOMER, TESTER))
    assert [trial.told for trial in trials(spec, 2)] == [
        "game 1 of 3, against itself",
        "game 2 of 3, against random 1",
        "game 3 of 3, against random 1",
    ]


def lost(seats: tuple[int, ...], *failures: Failure) -> Result:
    planned = PlannedGame("test", 1, 1, 1, seats, {})
    assignment = Assignment(planned, Token(0, 1), Spec((NEWCOMER, TESTER)), (0, 0))
    ending = failures[0].ending if failures else Ending.NORMAL
    return Result(assignment, ending, None, (), failures, "", "", 0)


@pytest.mark.parametrize(
    ("seats", "failures", "blamed"),
    [
        ((0, 1), {}, ""),
        ((0, 1), {"a": Ending.CRASH}, "a"),
        ((0, 1), {"b": Ending.CRASH}, ""),
        ((1, 0), {"a": Ending.TIMEOUT, "b": Ending.ILLEGAL_MOVE}, "b"),
        ((0, 0), {"b": Ending.DISCONNECT}, "b"),
        ((0, 0), {"a": Ending.RESIGN, "b": Ending.CRASH}, "b"),
        ((0, 1), {"a": Ending.RESIGN}, ""),
    ],
)
def test_a_bot_fails_by_what_its_own_seats_did(
    seats: tuple[int, ...], failures: dict[str, Ending], blamed: str
) -> None:
    game = lost(seats, *(Failure(seat, ending, 3, "why") for seat, ending in failures.items()))
    found = failure_of(game, NEWCOMER)
    assert (found.seat if found else "") == blamed


def test_what_a_bot_did_is_one_harmless_line() -> None:
    failure = Failure("a", Ending.ILLEGAL_MOVE, 3, "no such\n\x1b[2Jmove", reply="\x1b[2J\n>")
    assert told(failure) == "illegal move '\\x1b[2J\\n>': no such\\n\\x1b[2Jmove"
