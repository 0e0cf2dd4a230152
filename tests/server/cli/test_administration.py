"""What the socket of a server does with the registry is what its database does, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from here import Arena, Done
from serving import administered
from tournaments import versions_spec

from arena_server.model import Entrant
from arena_server.store import Store, admissions, challenges, queries, registry

COMMANDS = [
    ("bots", "list"),
    ("bots", "add", "ada", "--owner", "Ada"),
    ("bots", "add", "ADA", "--owner", "Ada"),
    ("bots", "add", "ada", "--owner", "Eve", "--version", "2"),
    ("bots", "add", "a b", "--owner", "Ada"),
    ("bots", "add", "eve", "--owner", "house"),
    ("bots", "add", "ada", "--owner", "ada", "--version", "2", "--retire-old"),
    ("bots", "add", "bob", "--owner", "Bob"),
    ("bots", "open", "ada"),
    ("bots", "open", "bob"),
    ("bots", "hide", "bob"),
    ("bots", "open", "nobody"),
    ("token", "new", "ada"),
    ("token", "rotate", "bob"),
    ("bots", "list"),
    ("challenge", "ada", "bob"),
    ("token", "revoke", "bob", "arena_wrong"),
    ("token", "revoke", "ada"),
    ("token", "revoke", "nobody"),
    ("token", "new", "nobody"),
    ("bots", "retire", "ada", "--version", "1"),
    ("bots", "retire", "ada", "--version", ""),
    ("bots", "retire", "ada"),
    ("bots", "retire", "ada"),
    ("bots", "list"),
]
CHANCE = re.compile(r"arena_[A-Za-z0-9_-]{6,}|\d{4}-\d\d-\d\d(T[\d:+]+)?")
"""Tokens, their beginnings, times and dates."""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with Store.open(str(tmp_path / "served.db")) as store, administered(store) as opened:
        yield opened


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_the_same_output(arena: Arena, address: str, *, as_json: bool) -> None:
    for command in [(*words, *(("--json",) if as_json else ())) for words in COMMANDS]:
        local = arena(*command, "--db", str(arena.database))
        remote = arena(*command, "--server", address)
        assert without_chance(remote.out) == without_chance(local.out), command
        assert remote.err.replace(f"server {address}\n", "") == local.err.replace(f"database {arena.database}\n", "")
        assert remote.code == local.code, command


SEASONS = [
    ("season", "list"),
    ("season", "show", "spring"),
    ("season", "show", "sprung"),
    ("season", "close", "spring"),
    ("season", "archive", "spring"),
    ("season", "freeze", "spring"),
    ("season", "freeze", "SPRING"),
    ("season", "close", "spring", "--top", "1"),
    ("season", "close", "spring", "--games", "3"),
    ("season", "close", "spring", "--top", "2", "--games", "4"),
    ("season", "list"),
    ("season", "show", "spring"),
    ("season", "archive", "spring"),
    ("season", "archive", "autumn", "--without-closing"),
    ("season", "freeze", "autumn"),
    ("season", "archive", "autumn", "--without-closing"),
    ("season", "list"),
]


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_the_steps_of_a_season(arena: Arena, address: str, tmp_path: Path, *, as_json: bool) -> None:
    for path in (arena.database, tmp_path / "served.db"):
        with Store.open(str(path)) as store:
            for name in ("spring", "autumn"):
                store.enter(versions_spec(), name=name)
    codes = []
    for command in [(*words, *(("--json",) if as_json else ())) for words in SEASONS]:
        local = arena(*command, "--db", str(arena.database))
        remote = arena(*command, "--server", address)
        assert (remote.code, remote.out) == (local.code, local.out), command
        assert remote.err.replace(f"server {address}\n", "") == local.err.replace(f"database {arena.database}\n", "")
        codes.append(local.code)
    assert set(codes) == {0, 2}


def without_chance(text: str) -> str:
    return CHANCE.sub(lambda found: "x" * len(found[0]), text)


def test_a_token_from_the_socket_is_good(arena: Arena, address: str, tmp_path: Path) -> None:
    token = arena("bots", "add", "ada", "--owner", "Ada", "--server", address, "--json").json["token"]
    with Store.open(str(tmp_path / "served.db")) as store:
        assert registry.bearer(store.database, registry.digest(token))


def test_a_quota_is_told(arena: Arena, address: str) -> None:
    def add(version: int) -> Done:
        return arena("bots", "add", "ada", "--owner", "Ada", "--version", str(version), "--server", address)

    for version in range(registry.MAX_VERSIONS_A_DAY):
        assert add(version).code == 0
    refused = add(registry.MAX_VERSIONS_A_DAY)
    assert (refused.code, refused.out) == (2, "")
    assert "arena: Ada has added 10 versions within a day - come again tomorrow" in refused.err


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_terminal_shows_a_bot_on_a_line(arena: Arena, width: int) -> None:
    why = "game 2 of 3: illegal move at ply 17: '>>9' is no move: buy 1 to 3, or advance; mend it and come again"
    for name in ("ada", "my-neural-patchwork-bot", "bob"):
        assert arena("bots", "add", name, "--owner", "somebody.else", "--version", "2.0.1-beta").code == 0
    arena("bots", "retire", "ada")
    with Store.open(str(arena.database)) as store:
        admissions.record(store.database, Entrant("bob", "2.0.1-beta", ""), why)
    lines = arena.on_a_terminal(width, "bots", "list")
    assert max(map(len, lines)) <= width
    assert re.fullmatch(r"ada +2.0.1-beta .*retired \d{4}-\d\d-\d\d *", lines[1])
    assert re.fullmatch(r"bob +2.0.1-beta .*failed: game 2.*… *", lines[2])
    assert re.fullmatch(r"my-neural-patchwork-bot +2.0.1-beta .*new *", lines[3])
    assert lines[-1].strip() == "all about a test that failed: arena bots admission BOT"
    assert why in arena("bots", "list").out
    shown = [" ".join(line.split()) for line in arena.on_a_terminal(width, "bots", "admission", "bob")]
    assert re.match(r"2.0.1-beta \d{4}-\d\d-\d\d \d\d:\d\d:\d\d game 2 of 3", shown[1])
    assert " ".join(shown[1:]).endswith(why.partition(": ")[2])


def test_a_challenge(arena: Arena, address: str, tmp_path: Path) -> None:
    for name in ("ada", "bob"):
        assert arena("bots", "add", name, "--owner", name, "--server", address).code == 0
    with Store.open(str(tmp_path / "served.db")) as store:
        with store.lock(store.enter(replace(versions_spec(), entrants=()), name="spring").tournament) as lock:
            store.begin_run(lock.tournament, {"house": []})
        told = arena("challenge", "ada", "bob 1", "--games", "4", "--server", address)
        assert (told.code, told.out.splitlines()[0]) == (0, "challenge-1: ada 1 against bob 1, 4 games, unrated")
        assert queries.tournament(store, "challenge-1").spec.games == 4
    made = arena("challenge", "bob", "ada", "--server", address, "--json").json
    assert made == {"challenge": "challenge-2", "bots": ["bob 1", "ada 1"], "games": 10}
    most = challenges.MAX_GAMES
    for games, why in ((3, "multiple"), (-2, "greater than or equal to 1"), (1000, f"less than or equal to {most}")):
        refused = arena("challenge", "ada", "bob", "--games", str(games), "--server", address)
        assert (refused.code, why in refused.err) == (2, True), refused


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--server", "127.0.0.1:1"), "a server is administered on its Unix socket alone: 127.0.0.1:1"),
        (("--server", "unix:/nowhere/socket"), "no answer from the server (unavailable"),
        (("--server", "unix:/x", "--db", "y"), "a database and a server"),
    ],
)
def test_where_nobody_can_be_asked(arena: Arena, options: tuple[str, ...], told: str) -> None:
    done = arena("bots", "list", *options)
    assert done.code == (3 if "no answer" in told else 2)
    assert told in done.err


def test_the_server_itself(arena: Arena, address: str) -> None:
    shown = arena("server", "status", "--server", address).out
    assert shown.splitlines() == [
        "season spring on arena 1, since 2026-11-30T00:00:00+00:00",
        "at 127.0.0.1:5400",
        "1 of 2 games at once, 3 more planned, 1 bot connected",
        "",
        "game       seats          ply  seconds",
        "spring/17  ada 1 - bob 1    4       12",
        "",
        "bot    games at once",
        "ada 1              2",
    ]
    status = arena("server", "status", "--server", address, "--json").json
    assert (status["season"], status["games"][0]["seats"]) == ("spring", ["ada 1", "bob 1"])
    assert arena("server", "stop", "--server", address).out == "it stops: games that run have 20 s to finish\n"
    assert arena("server", "status", "--server", address, "--json").json["stopping"]
    assert arena("server", "stop", "--now", "--server", address).out == "it stops at once\n"
