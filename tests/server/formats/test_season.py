"""Who meets next in a season, given who is there; the choice itself is tested with matchmaking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tournaments import tiny_spec

from arena_server.formats import active, plan, season
from arena_server.formats.matchmaking import Past
from arena_server.formats.season import Call, Here
from arena_server.model import Entrant, Pairing, Spec, UserError

MOMENTS = st.lists(
    st.dictionaries(st.integers(0, 7), st.tuples(st.integers(0, 4), st.booleans())), min_size=1, max_size=12
)


@given(st.integers(2, 3), MOMENTS, st.integers(1, 4), st.data())
def test_only_who_is_free_meets_and_nobody_of_its_own_owner(
    seats: int, moments: list[dict[int, tuple[int, bool]]], room: int, data: st.DataObject
) -> None:
    spec, past = tiny_spec(8, seats, seats=seats), Past()
    ratings = data.draw(st.lists(st.floats(0, 50), min_size=8, max_size=8))
    for day, there in enumerate(moments):
        call = Call(day, 0, tuple(Here(entrant, *there[entrant]) for entrant in sorted(there)), room)
        found = season.pairings(spec, call, ratings, past)
        assert found == season.pairings(spec, call, ratings, past)  # what verify asks for
        assert len(found) <= room
        sitting = [entrant for pairing in found for entrant in pairing.entrants]
        assert len(sitting) == len({*sitting})
        assert not any(there[entrant][1] for entrant in sitting)
        for pairing in found:
            assert len(pairing.entrants) == seats
            owners = [there[entrant][0] for entrant in pairing.entrants if there[entrant][0]]
            assert len(owners) == len({*owners})
        season.note(past, found, day)


def test_where_nobody_may_meet_there_is_no_table() -> None:
    spec = tiny_spec(3, 2, seats=2)
    for present in ((), (Here(0, 1),), (Here(0, 1), Here(1, 1), Here(2, 1)), (Here(0), Here(1, busy=True))):
        assert season.pairings(spec, Call(0, 0, present, 3), [25.0] * 3, Past()) == ()


def test_every_table_plays_every_rotation() -> None:
    spec = tiny_spec(3, 6, seats=3)
    found = season.pairings(spec, Call(0, 0, (Here(0), Here(1), Here(2))), [25.0] * 3, Past())
    assert found == (Pairing((0, 1, 2)), Pairing((1, 2, 0)))


def test_a_command_cannot_play_it() -> None:
    with pytest.raises(UserError, match="arena serve"):
        plan(tiny_spec(format="season"), ())


def test_one_version_of_a_bot_is_active() -> None:
    """The one that was entered last and is not withdrawn; with different options it may play twice."""
    entrants = (
        Entrant("mcts", "1", "aa"),
        Entrant("greedy", "1", "bb"),
        Entrant("MCTS", "2", "cc", (("playouts", 10),)),
        Entrant("mcts", "2", "cc", (("playouts", 20),)),
    )
    assert season.active(Spec(entrants)) == {1, 2, 3}
    assert season.active(Spec(entrants, withdrawn=((2, 5),))) == {1, 3}
    assert season.active(Spec(entrants, withdrawn=((2, 5), (3, 6)))) == {0, 1}
    assert active(Spec(entrants, format="season")) == frozenset({1, 2, 3})
    assert active(Spec(entrants)) is None
