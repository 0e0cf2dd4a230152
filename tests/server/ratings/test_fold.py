"""What one game adds to its entrants."""

from __future__ import annotations

from arena_server.model import Ending
from arena_server.ratings import INITIAL, Finished, Tally, fold


def counts(tally: Tally) -> tuple[int, int, int, int]:
    return tally.games, tally.wins, tally.losses, tally.draws


def test_a_win() -> None:
    (won, lost), flagged = fold([Tally(), Tally()], Finished((1, 2), (21, 14), (None, None)), 0.0)
    assert counts(won) == (1, 1, 0, 0)
    assert counts(lost) == (1, 0, 1, 0)
    assert (won.margin_total, won.margin_games) == (7, 1)
    assert (lost.margin_total, lost.margin_games) == (-7, 1)
    assert won.rating.mu > INITIAL.mu > lost.rating.mu
    assert not flagged


def test_a_forfeit_counts_without_a_margin() -> None:
    before = Tally(failures={"crash": 1})
    (lost, won), _ = fold([before, Tally()], Finished((2, 1), (30, 14), (Ending.CRASH, None)), 0.0)
    assert counts(won) == (1, 1, 0, 0)
    assert counts(lost) == (1, 0, 1, 0)
    assert won.margin_games == lost.margin_games == 0
    assert lost.failures == {"crash": 2}
    assert before.failures == {"crash": 1}


def test_both_to_blame_lose_and_keep_their_ratings() -> None:
    game = Finished((1, 1), (0, 0), (Ending.START_FAILURE, Ending.START_FAILURE))
    after, _ = fold([Tally(), Tally()], game, 0.0)
    assert [counts(one) for one in after] == [(1, 0, 1, 0)] * 2
    assert [one.rating for one in after] == [INITIAL] * 2


def test_three_seats_share_the_first_rank() -> None:
    after, _ = fold([Tally()] * 3, Finished((1, 3, 1), (5, 2, 5), (None,) * 3), 0.2)
    assert [counts(one) for one in after] == [(1, 0, 0, 1), (1, 0, 1, 0), (1, 0, 0, 1)]
    assert [one.margin_total for one in after] == [0, -3, 0]
