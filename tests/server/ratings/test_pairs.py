"""What games say about two entrants."""

from __future__ import annotations

import tracemalloc

from arena_server.model import Ending
from arena_server.ratings import INITIAL, Finished
from arena_server.ratings.pairs import Comparison, Meeting, comparisons, pairs


def meeting(entrants: tuple[int, ...], ranks: tuple[int, ...], *blamed: int, number: int = 1, deal: int = 1) -> Meeting:
    failures = tuple(Ending.TIMEOUT if seat in blamed else None for seat in range(len(entrants)))
    return Meeting(number, deal, entrants, (INITIAL,) * len(entrants), Finished(ranks, (0,) * len(ranks), failures))


def scores(game: Meeting) -> list[tuple[int, int, float]]:
    return [(met.one, met.other, met.score) for met in comparisons(game)]


def test_a_win_and_a_loss() -> None:
    assert list(comparisons(meeting((4, 2), (1, 2)))) == [Comparison(4, 0, 2, 1, 1.0)]
    assert scores(meeting((4, 2), (2, 1))) == [(4, 2, 0.0)]


def test_a_draw_is_half_a_win() -> None:
    assert scores(meeting((0, 1), (1, 1))) == [(0, 1, 0.5)]


def test_a_forfeit_is_a_loss() -> None:
    assert scores(meeting((0, 1), (2, 1), 0)) == [(0, 1, 0.0)]
    assert scores(meeting((0, 1), (1, 1), 1)) == [(0, 1, 1.0)]


def test_two_to_blame_are_not_compared() -> None:
    assert scores(meeting((0, 1), (1, 1), 0, 1)) == []
    assert scores(meeting((0, 1, 2), (2, 1, 2), 0, 2)) == [(0, 1, 0.0), (1, 2, 1.0)]


def test_three_seats_are_compared_two_by_two() -> None:
    assert scores(meeting((5, 6, 7), (2, 1, 2))) == [(5, 6, 0.0), (5, 7, 0.5), (6, 7, 1.0)]


def test_games_over_one_deal_are_one_pair() -> None:
    games = [
        meeting((0, 1), (1, 2), number=1, deal=1),
        meeting((2, 3), (1, 1), 0, 1, number=2, deal=2),
        meeting((1, 0), (1, 2), number=3, deal=1),
        meeting((2, 3), (1, 2), number=4, deal=3),
    ]
    assert [[(met.one, met.score) for met in pair] for pair in pairs(games)] == [[(0, 1.0), (1, 1.0)], [(2, 1.0)]]


def test_games_that_are_streamed_are_not_kept() -> None:
    games = 20_000
    streamed = (meeting((0, 1), (1, 1 + number % 2), number=number, deal=number // 2) for number in range(games))
    tracemalloc.start()
    try:
        found = pairs(streamed)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) == games // 2
    assert peak / games < 120  # bytes; a game with its ratings and results takes 700
