"""Who meets next in a season: properties of its planner, played with random comings and goings."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tournaments import tiny_spec

from arena_server.formats import plan, season
from arena_server.formats.season import Call, Planned
from arena_server.model import Pairing, UserError

SEATS = st.integers(2, 3)


def free(entrants: int) -> st.SearchStrategy[dict[int, int]]:
    """Some of them, each with its owner."""
    return st.dictionaries(st.integers(0, entrants - 1), st.integers(0, 4))


@given(SEATS, st.lists(free(8), min_size=1, max_size=12), st.integers(1, 4), st.data())
def test_only_who_is_there_meets_and_nobody_of_its_own_owner(
    seats: int, moments: list[dict[int, int]], room: int, data: st.DataObject
) -> None:
    spec, planned = tiny_spec(8, seats, seats=seats), Planned()
    ratings = data.draw(st.lists(st.floats(0, 50), min_size=8, max_size=8))
    for owners in moments:
        call = Call(0, 0, tuple(sorted(owners.items())), room)
        found = season.pairings(spec, call, ratings, planned)
        assert found == season.pairings(spec, call, ratings, planned)  # what verify asks for
        assert len(found) <= room
        sitting = [entrant for pairing in found for entrant in pairing.entrants]
        assert len(sitting) == len({*sitting})
        for pairing in found:
            assert len(pairing.entrants) == seats
            mine = [owners[entrant] for entrant in pairing.entrants if owners[entrant]]
            assert len(mine) == len({*mine})
        planned.add(found)


@given(SEATS, st.integers(4, 9), st.integers(1, 3))
def test_waiting_is_bounded_and_everybody_meets_everybody(seats: int, entrants: int, room: int) -> None:
    """Where all are there all the time; ratings far apart draw neighbours together, but not only these."""
    spec, planned = tiny_spec(entrants, seats, seats=seats), Planned()
    ratings = [5.0 * entrant for entrant in range(entrants)]
    everyone = tuple((entrant, 0) for entrant in range(entrants))
    waited = Counter[int]()
    for _ in range(20 * entrants):
        found = season.pairings(spec, Call(0, 0, everyone, room), ratings, planned)
        planned.add(found)
        waited.update(range(entrants))
        for pairing in found:
            for entrant in pairing.entrants:
                del waited[entrant]
        assert all(stages <= 2 * entrants for stages in waited.values())
    assert len(planned.met) == entrants * (entrants - 1) // 2


def test_a_tie_of_ratings_is_sought_but_not_for_ever() -> None:
    spec, planned, met = tiny_spec(4, 2, seats=2), Planned(), Counter[tuple[int, ...]]()
    everyone = tuple((entrant, 0) for entrant in range(4))
    for _ in range(40):
        (pairing,) = season.pairings(spec, Call(0, 0, everyone), [25, 25, 40, 40], planned)
        planned.add([pairing])
        met[tuple(sorted(pairing.entrants))] += 1
    assert min(met[0, 1], met[2, 3]) > max(met[0, 2], met[0, 3], met[1, 2], met[1, 3]) > 0


def test_where_nobody_may_meet_there_is_no_table() -> None:
    spec = tiny_spec(3, 2, seats=2)
    for present in ((), ((0, 1),), ((0, 1), (1, 1), (2, 1))):
        assert season.pairings(spec, Call(0, 0, present, 3), [25.0] * 3, Planned()) == ()


def test_every_table_plays_every_rotation() -> None:
    spec = tiny_spec(3, 6, seats=3)
    found = season.pairings(spec, Call(0, 0, ((0, 0), (1, 0), (2, 0))), [25.0] * 3, Planned())
    assert found == (Pairing((0, 1, 2)), Pairing((1, 2, 0)))


def test_a_command_cannot_play_it() -> None:
    with pytest.raises(UserError, match="arena serve"):
        plan(tiny_spec(format="season"), ())
