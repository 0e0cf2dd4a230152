"""The same contract is the same tournament."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update
from tournaments import begin, entrants, tiny_spec

from arena_engine import deals
from arena_server.model import Entrant, Spec, TimeControl, UserError, canonical_json
from arena_server.store import Status, Store, queries
from arena_server.store.tables import TOURNAMENT


def with_files(spec: Spec, digest: str) -> Spec:
    first, *rest = spec.entrants
    return replace(spec, entrants=(replace(first, digest=digest), *rest))


def test_the_same_command_finds_its_tournament(url: str) -> None:
    with Store.open(url) as store:
        made = store.enter(tiny_spec())
        assert made.created
        assert made.notes == ()
        assert made.tournament.name == tiny_spec().default_name
        assert made.tournament.status is Status.PLANNED
        assert made.tournament.spec == tiny_spec()
    with Store.open(url) as store:
        found = store.enter(tiny_spec())
        assert not found.created
        assert found.tournament == made.tournament


def test_a_public_seed_gives_the_secret(store: Store) -> None:
    tournament = store.enter(tiny_spec(seed="42")).tournament
    assert tournament.public_seed
    assert tournament.secret == deals.public_secret("42")
    assert tournament.commitment == deals.commitment(tournament.secret)


def test_secrets_are_never_alike(store: Store) -> None:
    one = store.enter(tiny_spec(seed=None)).tournament
    two = store.enter(tiny_spec(seed=None), new=True).tournament
    assert not one.public_seed
    assert len(one.secret) == 32
    assert one.secret != two.secret
    assert repr(one.secret) not in repr(one)


def test_changed_files_make_a_new_tournament_and_a_line_says_so(store: Store) -> None:
    before = store.enter(tiny_spec()).tournament
    after = store.enter(with_files(tiny_spec(), "f" * 64))
    assert after.created
    assert after.notes == (f"bot0 1.0 has changed since {before.name}: this is a new tournament",)
    assert store.enter(with_files(tiny_spec(), "f" * 64)).notes == ()


def test_other_settings_make_a_new_tournament_in_silence(store: Store) -> None:
    store.enter(tiny_spec())
    other = store.enter(tiny_spec(games=9))
    assert other.created
    assert other.notes == ()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (tiny_spec(games=9), "games: 6 -> 9"),
        (tiny_spec(seed=None), "seed: 7 -> none"),
        (tiny_spec(time_control=TimeControl(limit_us=1_000_000)), "time_control: 100ms -> 1s"),
        (tiny_spec(deals=(("edition", "revised"),)), "deals: none -> edition=revised"),
        (with_files(tiny_spec(), "f" * 64), "files of bot0 1.0: 00000000 -> ffffffff"),
        (tiny_spec(bots=4), "bots: bot0 1.0:c=1.5, bot1 1.0:c=1.5, bot2 1.0:c=1.5 -> "),
        (tiny_spec(rules="2", games=9), "rules: 1 -> 2; games: 6 -> 9"),
    ],
)
def test_under_a_name_a_changed_contract_is_refused(store: Store, changed: Spec, told: str) -> None:
    store.enter(tiny_spec(), name="Nightly")
    with pytest.raises(UserError) as refused:
        store.enter(changed, name="nightly")
    assert f"tournament Nightly was made with another contract: {told}" in str(refused.value)
    assert "--new" in refused.value.fix


def test_a_bot_with_other_options_is_told(store: Store) -> None:
    (first, *rest) = entrants(3)
    other = replace(tiny_spec(), entrants=(Entrant(first.name, first.version, first.digest, (("c", 2),)), *rest))
    store.enter(tiny_spec(), name="n")
    with pytest.raises(UserError, match=r"-> bot0 1\.0:c=2, bot1"):
        store.enter(other, name="n")


def test_new_starts_afresh_under_the_next_name(store: Store) -> None:
    names = [store.enter(tiny_spec(), name="cup", new=True) for _ in range(3)]
    assert [entered.tournament.name for entered in names] == ["cup", "cup-2", "cup-3"]
    assert names[1].notes == ("a new tournament, cup-2: `--name cup-2` resumes it",)
    assert not store.enter(tiny_spec(), name="CUP-2").created


@pytest.mark.parametrize("name", ["", "a/b", "a b", "-a", "ä", "a\n", "x" * 65, "../x", "<b>"])
def test_a_name_that_is_none_is_told(store: Store, name: str) -> None:
    with pytest.raises(UserError, match="not a name for a tournament"):
        store.enter(tiny_spec(), name=name)


def test_r20_another_rating_library_does_not_go_on(store: Store) -> None:
    tournament = store.enter(tiny_spec()).tournament
    with store.database.write() as connection:
        connection.execute(update(TOURNAMENT).values(ratings="trueskill 9.9"))
    with pytest.raises(UserError, match=r"was rated by trueskill 9\.9, this arena has trueskill 0\.4\.5"):
        store.enter(tiny_spec())
    store.finish(tournament)
    assert store.enter(tiny_spec()).tournament.status is Status.FINISHED


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"ratings": "trueskill 9.9"}, r"was rated by trueskill 9\.9, this arena has trueskill 0\.4\.5"),
        (
            {"contract": canonical_json(tiny_spec(rules="0").contract()).decode()},
            "is played by rules 0, this arena has 1: tiny",
        ),
    ],
    ids=["library", "rules"],
)
def test_f15_whatever_goes_on_with_a_tournament_does_so_by_the_same_versions(
    store: Store, columns: dict[str, str], told: str
) -> None:
    """The lock is the way of every command that changes one; what is there stays as it is, for readers, too."""
    tournament = store.enter(tiny_spec()).tournament
    with store.database.write() as connection:
        connection.execute(update(TOURNAMENT).values(columns))
    other = queries.tournament(store, tournament.name)
    with pytest.raises(UserError, match=told):
        store.lock(other)
    assert queries.leaderboard(store, other).tournament.epoch == 0


def test_one_command_a_tournament(url: str) -> None:
    with Store.open(url) as store, Store.open(url) as other:
        first = store.enter(tiny_spec()).tournament
        second = store.enter(tiny_spec(), new=True).tournament
        with store.lock(first) as lock:
            assert lock.tournament.epoch == 1
            assert lock.tournament.started is not None
            for blocked in (store, other):
                with pytest.raises(UserError, match=rf"{first.name} is being played by another command: pid \d+"):
                    blocked.lock(first)
            with other.lock(second):
                pass
        with other.lock(first) as lock:
            assert lock.tournament.epoch == 2


_HOLDER = """
import os, sys, time
from tournaments import tiny_spec
from arena_server.store import Store
store = Store.open(sys.argv[1])
lock = store.lock(store.enter(tiny_spec()).tournament)
print(os.getpid(), flush=True)
time.sleep(60)
"""


def test_a_lock_goes_with_its_process(url: str, request: pytest.FixtureRequest) -> None:
    support = str(request.config.rootpath / "tests" / "support")
    code = f"import sys; sys.path.insert(0, {support!r})\n{_HOLDER}"
    with (
        Store.open(url) as store,
        subprocess.Popen([sys.executable, "-c", code, url], stdout=subprocess.PIPE) as holder,
    ):
        assert holder.stdout is not None
        assert int(holder.stdout.readline()) == holder.pid
        tournament = store.enter(tiny_spec()).tournament
        with pytest.raises(UserError, match=f"pid {holder.pid}"):
            store.lock(tournament)
        holder.kill()
        holder.wait()
        assert begin(store, tiny_spec()).tournament.epoch == 2


def test_what_exists_is_found_without_a_change(url: str) -> None:
    spec = tiny_spec()
    if "://" not in url:
        assert Store.existing(url, spec) is None
        assert not Path(url).exists()
    with Store.open(url) as store:
        made = store.enter(spec).tournament
        store.enter(tiny_spec(4), name="cup")
    assert Store.existing(url, spec) == made
    assert Store.existing(url, tiny_spec(5)) is None
    found = Store.existing(url, spec, name="CUP")
    assert found is not None
    assert len(found.spec.entrants) == 4


def test_an_empty_database_is_left_as_it_is(url: str) -> None:
    assert Store.existing(url, tiny_spec()) is None
    assert Store.existing(url, tiny_spec()) is None
    with Store.open(url) as store:
        assert store.enter(tiny_spec()).created
