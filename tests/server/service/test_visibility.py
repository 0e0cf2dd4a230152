"""Who may see a game that is not over."""

from __future__ import annotations

from arena_server.service.visibility import FairPlay


def test_a_game_is_shown_where_all_its_owners_allow_it() -> None:
    policy = FairPlay({"spring"}, open={"ada", "bob"})
    for seats, shown in (
        (("ada 1", "bob 2"), True),
        (("ADA 1", "bob 2 playouts=10"), True),
        (("ada 1", "eve 1"), False),
        (("eve 1", "bob 2"), False),
        (("adam 1", "bob 2"), False),
    ):
        assert policy.shows_running("spring", seats) is shown
        assert policy.shows_running("another", seats)
    assert not FairPlay({"spring"}).shows_running("spring", ("ada 1", "bob 1"))
    assert not policy.shows_evidence("spring")
