"""What is said of tournaments and entrants beside the contract, and what runs ran with."""

from __future__ import annotations

import pytest
from tournaments import tiny_spec

from arena_server.model import About, UserError
from arena_server.store import Store, queries, samples


def test_what_is_said_last_holds_and_the_rest_stays(url: str) -> None:
    with Store.open(url) as store:
        made = store.enter(tiny_spec(3)).tournament
        other = store.enter(tiny_spec(3), name="other").tournament
        assert queries.abouts(store, made) == (About(),) * 3
        store.describe(made, tags=["nightly"], about=[About("Ada", "blue", ("a", "b")), About()])
        store.describe(made, tags=None, about=[About(), About(None, "red"), About("Bo", tags=())])
        store.describe(made, about=[About(group="green")])
        assert queries.abouts(store, made) == (
            About("Ada", "green", ("a", "b")),
            About(None, "red"),
            About("Bo", None, ()),
        )
        again = store.enter(tiny_spec(3))
        assert not again.created
        assert again.tournament.tags == queries.tournament(store, made.name).tags == ("nightly",)
        assert queries.abouts(store, other) == (About(),) * 3
        assert queries.tournament(store, "other").tags == ()


def test_what_is_said_shapes_no_contract(store: Store) -> None:
    made = store.enter(tiny_spec(3)).tournament
    store.describe(made, tags=["x"], about=[About("Ada")])
    assert queries.tournament(store, made.name).spec == made.spec


def test_every_run_is_kept(url: str) -> None:
    with Store.open(url) as store:
        made = store.enter(tiny_spec(3)).tournament
        for cores in (1, 2):
            with store.lock(made) as lock:
                store.begin_run(lock.tournament, {"machine": {"cores": cores}})
        runs = queries.runs(store, made)
        assert [(run.epoch, run.facts["machine"]["cores"]) for run in runs] == [(1, 1), (2, 2)]
        assert all(run.started for run in runs)


def test_bots_are_chosen_by_tag_and_group(store: Store) -> None:
    made = store.enter(tiny_spec(4)).tournament
    store.describe(made, about=[About(tags=("Search",)), About(None, "Blue", ("search", "new")), About(None, "red")])
    assert samples.among(queries.abouts(store, made), tags=(), groups=()) is None
    assert samples.among(queries.abouts(store, made), tags=("search",), groups=()) == {0, 1}
    assert samples.among(queries.abouts(store, made), tags=("new",), groups=("red",)) == set()
    assert samples.among(queries.abouts(store, made), tags=("new", "search"), groups=("BLUE", "red")) == {1}
    with pytest.raises(UserError, match=r"no bot has this tag: 'serch' - did you mean [sS]earch\?"):
        samples.among(queries.abouts(store, made), tags=("serch",), groups=())
    with pytest.raises(UserError, match="no bot has this group: 'x'"):
        samples.among(queries.abouts(store, made), tags=(), groups=("x",))
