"""The table of a format beside the ratings."""

from __future__ import annotations

from here import Arena
from tournaments import begin, patchwork_spec

from arena_server.model import Ending, Probation
from arena_server.store import Store


def test_a_swiss_has_a_table_of_its_own(arena: Arena) -> None:
    spec = patchwork_spec(4, 2, format="swiss", rounds=3)
    with Store.open(str(arena.database)) as store, (playing := begin(store, spec, name="swiss")).lock:
        results = playing.results()
        store.record(results[:-1])
        assert "swiss after round 0 of 3" in arena("leaderboard").out
        store.record(results[-1:])
        store.finish(playing.tournament)  # as where no further round can be paired
    *_, title, heading, first, _, _, _ = arena("leaderboard").out.splitlines()
    assert title == "swiss after round 1 of 3; no further round is without a repeat"
    assert heading.split() == ["#", "bot", "points", "Buchholz", "S-B"]
    assert first.split()[0] == "1"
    places = arena("leaderboard", "--json").json["places"]
    assert [row["rank"] for row in places] == [1, 2, 3, 4]
    assert sum(float(row["points"]) for row in places) == 2
    assert {row["bot"] for row in places} == {"bot0", "bot1", "bot2", "bot3"}


def test_who_plays_no_more_is_marked_there_too(arena: Arena) -> None:
    spec = patchwork_spec(4, 2, format="swiss", rounds=2, probation=Probation(failures=1, share=0))
    with Store.open(str(arena.database)) as store, (playing := begin(store, spec, name="swiss")).lock:
        first = playing.assignments()[0]
        store.record([playing.forfeit(first, "a", Ending.CRASH)])
        store.record(playing.results())
        store.withdraw(playing.tournament, first.planned.seats[1])
    table = arena("leaderboard").out.partition("swiss after round 1")[2]
    assert table.count(" (parked) ") == 1
    assert table.count(" (withdrawn) ") == 1


def test_a_round_robin_has_none(arena: Arena) -> None:
    assert "places" not in arena("leaderboard", "--json").json
