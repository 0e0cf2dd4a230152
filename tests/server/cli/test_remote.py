"""What a server tells is what its database tells, byte for byte."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Iterator
from pathlib import Path

import command
import pytest
import trustme
from here import Arena
from serving import served
from sqlalchemy import text
from tournaments import begin, patchwork_spec, play_on, versions_spec
from vouching import credentials

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
        (("--server", "127.0.0.1:65536"), "not an address: '127.0.0.1:65536' - write HOST:PORT"),
        (("--server", "a..b:1", "--insecure"), "no answer from the server (unavailable"),
        (("--server", "x:1", "--db", "y"), "a database and a server"),
        (("--ca", "x.pem"), "a certificate authority without a server: x.pem"),
        (("--insecure",), "a plain wire without a server: --insecure"),
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


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number


def test_a_plain_server_beyond_this_machine(arena: Arena, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    local, server = arena("leaderboard").out, f"0.0.0.0:{port}"
    with Store.open(str(arena.database)) as store, served(store, also=server):
        refused = arena("leaderboard", "--server", server)
        assert refused.code == 2
        assert (
            f"arena: no safe connection to the server at {server}: it speaks no TLS - check the port; " in refused.err
        )
        assert "--insecure" in refused.err
        assert arena("leaderboard", "--server", server, "--insecure").out == local
        monkeypatch.setenv("ARENA_INSECURE", "1")
        assert arena("leaderboard", "--server", server).out == local
        assert arena("leaderboard").out == local


def test_a_server_with_tls(
    arena: Arena, port: int, authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local, server, ca = arena("leaderboard").out, f"127.0.0.1:{port}", str(tmp_path / "ca.pem")
    vouched = credentials(authority.issue_cert("127.0.0.1"))
    with Store.open(str(arena.database)) as store, served(store, also=server, credentials=vouched) as unix:
        assert arena("leaderboard", "--server", server, "--ca", ca).out == local
        plain = arena("leaderboard", "--server", server)
        assert (plain.code, plain.out) == (2, "")
        assert f"no safe connection to the server at {server}: it speaks TLS - name the file" in plain.err
        monkeypatch.setenv("ARENA_CA", ca)
        for words in (("--server", server), ("--server", unix), ()):
            assert arena("leaderboard", *words).out == local, words


@pytest.mark.parametrize(
    ("name", "trusted", "complaint"),
    [
        ("127.0.0.1", "stranger.pem", "no one trusted vouches for its certificate - name the file of one: "),
        ("arena.example.org", "ca.pem", "its certificate is for another name - dial it by the name that"),
        ("127.0.0.1", "none.pem", "the file of who vouches for it holds no certificate - check "),
        ("", "ca.pem", "it speaks no TLS - check the port"),
    ],
)
def test_what_is_wrong_with_tls_is_one_line(
    arena: Arena,
    port: int,
    authority: trustme.CA,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    name: str,
    trusted: str,
    complaint: str,
) -> None:
    """Also gRPC itself logs nothing, in a process that has not imported it before."""
    monkeypatch.delenv("GRPC_VERBOSITY", raising=False)
    server = f"127.0.0.1:{port}"
    vouched = credentials(authority.issue_cert(name)) if name else None
    with Store.open(str(arena.database)) as store, served(store, also=server, credentials=vouched):
        done = command.arena("leaderboard", "--server", server, "--ca", trusted, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"server {server}\narena: no safe connection to the server at {server}: {complaint}")
    assert done.stderr.count("\n") == 2


def test_what_shows_a_failure_again_asks_the_same_server(arena: Arena) -> None:
    with Store.open(str(arena.database)) as store, served(store) as address:
        shown = arena("games", "show", "nightly/8", "--server", address).out
        again = shlex.split(shown.partition("see it again: ")[2].partition("\n")[0])
        assert again[-2:] == ["--server", address]
        arena.database.rename(arena.database.with_name("elsewhere.db"))
        seen = arena(*again[1:])
    assert (seen.code, seen.err) == (0, f"server {address}\n")
    assert seen.out.startswith("game nightly/8: ")
