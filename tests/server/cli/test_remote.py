"""What a server tells is what its database tells, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from here import Arena
from serving import served
from sqlalchemy import text
from tournaments import begin, patchwork_spec, play_on, versions_spec

from arena_server.model import MAX_ATTEMPTS
from arena_server.ratings.stopping import canonical
from arena_server.store import Store

SPRT = canonical("sprt elo0=0 elo1=150 alpha=0.1 beta=0.1")
COMMANDS = [
    ("leaderboard",),
    ("leaderboard", "--tournament", "TINY"),
    ("leaderboard", "--tournament", "swiss"),
    ("leaderboard", "--tournament", "asked"),
    ("leaderboard", "--tournament", "nigthly"),
    ("leaderboard", "--tournament", "void"),
    ("leaderboard", "--tournament", "season"),
    ("leaderboard", "--tournament", "season", "--all-versions"),
    ("crosstable", "--tournament", "season"),
    ("crosstable",),
    ("crosstable", "--tournament", "tiny"),
    ("tournaments",),
    ("tournaments", "show"),
    ("tournaments", "show", "TINY"),
    ("tournaments", "show", "nigthly"),
    ("leaderboard", "--full"),
    ("leaderboard", "--full", "--tournament", "tiny"),
    ("leaderboard", "--full", "--tournament", "nightly", "--anchor", "greedy=0"),
    ("leaderboard", "--full", "--tournament", "nightly", "--since", "9", "--opponent", "bot1"),
    ("leaderboard", "--full", "--tournament", "nightly", "--tag", "nice"),
    ("leaderboard", "--full", "--tournament", "nightly", "--since", "99"),
    ("leaderboard", "--full", "--tournament", "swiss"),
    ("bots", "show", "bot0"),
    ("bots", "show", "BOT1", "--tournament", "nightly", "--limit", "3"),
    ("bots", "show", "bot1 1.0", "--tournament", "nightly", "--limit", "3", "--before", "9"),
    ("bots", "show", "bot2", "--tournament", "tiny"),
    ("bots", "show", "nobody"),
    ("bots", "show", "ada", "--tournament", "season"),
    ("bots", "show", "ada 1", "--tournament", "season"),
    ("bots", "show", "eve", "--tournament", "season"),
    ("games", "list"),
    ("games", "list", "--limit", "3", "--after", "2"),
    ("games", "list", "--bot", "greedy", "--opponent", "random"),
    ("games", "list", "--ending", "timeout"),
    ("games", "list", "--stage", "2", "--tournament", "swiss"),
    ("games", "list", "--bot", "nobody"),
    ("games", "show", "last"),
    ("games", "show", "nightly/1"),
    ("games", "show", "tiny/2"),
    ("games", "show", "nightly/99"),
    ("games", "show", "nonsense"),
]


@pytest.fixture
def both(arena: Arena) -> Iterator[tuple[Arena, str]]:
    """The command, its database with some more tournaments, and a server of it."""
    with Store.open(str(arena.database)) as store:
        with store.lock(store.enter(versions_spec(), name="season").tournament) as lock:
            store.withdraw(lock.tournament, 4)
        store.enter(patchwork_spec(5, 2, format="swiss", rounds=3), name="swiss")
        play_on(store, "swiss")
        with (playing := begin(store, patchwork_spec(2, 8, format="match", stop=SPRT), name="asked")).lock:
            store.record(playing.results()[:3])
            store.withdraw(playing.tournament, 1)
        with (playing := begin(store, patchwork_spec(3, 2), name="void")).lock:
            for _ in range(MAX_ATTEMPTS):
                store.record([playing.void(playing.assignments()[1])])
            store.record(playing.results())
        with store.database.write() as connection:
            connection.execute(text("UPDATE seat SET flagged = true WHERE number = 4"))
        with served(store) as address:
            yield arena, address


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_the_same_output(both: tuple[Arena, str], *, as_json: bool) -> None:
    arena, address = both
    for words in COMMANDS:
        command = (*words, *(("--json",) if as_json else ()))
        local, remote = arena(*command, "--db", str(arena.database)), arena(*command, "--server", address)
        assert remote.code == local.code, (command, remote)
        assert remote.out == local.out, command
        if not as_json:
            local_told = local.err.replace(f"database {arena.database}\n", "")
            assert remote.err.replace(f"server {address}\n", "") == local_told, command
        else:
            assert remote.err == local.err, command


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--server", "127.0.0.1:1"), "no answer from the server (unavailable"),
        (("--server", "x:1", "--db", "y"), "a database and a server"),
        (("--ca", "x.pem"), "a certificate authority without a server: x.pem"),
        (("--server", "127.0.0.1:1", "--ca", "x.pem"), "cannot read the certificate authority: x.pem"),
    ],
)
def test_what_cannot_be_asked(arena: Arena, options: tuple[str, ...], told: str) -> None:
    done = arena("leaderboard", *options)
    assert done.code == (3 if "no answer" in told else 2)
    assert told in done.err
    assert done.out == ""


def test_an_empty_database(arena: Arena, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "empty.db")) as store, served(store) as address:
        assert arena("tournaments", "--server", address).out == "no tournament yet: arena run-tournament\n"
        assert "no tournament yet in this database" in arena("leaderboard", "--server", address).err


def test_a_name_alone_means_the_version_that_plays(arena: Arena) -> None:
    with (
        Store.open(str(arena.database)) as store,
        store.lock(store.enter(versions_spec(), name="season").tournament) as lock,
    ):
        told = {name: arena("bots", "show", name).out.split(" is at")[0] for name in ("ada", "ada 1", "eve")}
        assert told == {
            "ada": "tournament season: ADA 2",
            "ada 1": "tournament season: ada 1",
            "eve": "tournament season: eve 2",
        }
        store.withdraw(lock.tournament, 4)
        assert "season: eve 1 is at" in arena("bots", "show", "eve").out
        store.withdraw(lock.tournament, 2)
        assert "season: eve 2 (withdrawn) is at" in arena("bots", "show", "eve").out
