"""Bad input: one clear line, the right exit code, no traceback."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import pytest
from command import ARENA, environment
from command import arena as run
from here import Arena
from tournaments import patchwork_spec

from arena_engine.game import IllegalMoveError
from arena_server.cli import errors
from arena_server.model import ArenaError
from arena_server.store import Store

BAD = {
    "leaderboard --db nowhere.db": "no such database: nowhere.db",
    "bots list --db nowhere.db": "no such database: nowhere.db - `arena run-tournament`, `arena bots add` and",
    "leaderboard --db nowhere/arena.db": "no such folder for the database: nowhere",
    "leaderboard --db text.txt": "not an SQLite database: text.txt",
    "leaderboard --db .": "a database in memory: . -",
    "leaderboard --db mysql://x/y": "no such kind of database: mysql",
    "leaderboard --tournament nigthly": "no such tournament: 'nigthly' - did you mean nightly?",
    "crosstable --tournament x/y": "no such tournament: 'x/y'",
    "games list --bot bot9": "no such bot in nightly: 'bot9' - did you mean",
    "games list --limit 0": "'--limit'",
    "games list --limit 1001": "'--limit'",
    "games list --limit x": "'--limit'",
    "games list --after -1": "'--after'",
    "games list --after 99999999999999999999": "'--after'",
    "games show nightly/99": "no such game: nightly/99 - nightly has games 1 to 24",
    "games show nightly/0": "no such game: nightly/0",
    "games show nightly/24": "no record of this game: nightly/24",
    "games show 1.7": "no record of this game: nightly/1.7",
    "games show nonsense": "not a game: 'nonsense'",
    "games show xyz/1": "no such tournament: 'xyz'",
    "games show": "missing argument 'GAME' - see `arena games show --help`",
    "games export": "which games?: neither GAME nor --all",
    "games export 1 --all": "which games?: 1 and --all",
    "games export 1 --format xml": "'xml' is not one of 'jsonl', 'text'",
    "games export 1 --output nowhere/x": "cannot write there (No such file or directory): nowhere/x",
    "games export 1 --output .": "cannot write there (Is a directory): .",
    "games lst": "no such command 'lst'. Did you mean 'list'?",
    "games": "missing command - see `arena games --help`",
    "bots": "missing command - see `arena bots --help`",
    "token": "missing command - see `arena token --help`",
    "server": "missing command - see `arena server --help`",
    "leaderboard --server nohost": "not an address: 'nohost' - write HOST:PORT, or unix:PATH",
    "leaderboard --server host:port": "not an address: 'host:port' - write HOST:PORT, or unix:PATH",
    "replay 1 --at 99": "no such position: --at 99 - the game has",
    "replay 1 --at -1": "no such position: --at -1 - the game has",
    "replay 1 --at x": "'--at'",
    "replay text.txt": "no game record in text.txt",
    "replay empty.json": "no game record: empty.json is empty",
    "replay nowhere.patchwork": "cannot read the game record: nowhere.patchwork: No such file",
    "replay binary.json": "not a game record: binary.json",
    "replay many.jsonl": "several game records: many.jsonl holds 2 - pick one: sed -n 1p many.jsonl | arena replay -",
    "replay wrong.json": "no game record in wrong.json: '{\"format\": 1}'",
    "join greedy --token t --until-sigma 0": "not a deviation to leave at: 0.0 - give a number above 0",
    "join greedy --token t --until-sigma -1": "not a deviation to leave at: -1.0",
    "join greedy --token t --until-sigma nan": "not a deviation to leave at: nan",
    "leaderbord": "no such command: 'leaderbord' - did you mean leaderboard?",
    "xyzzy": "no such command: 'xyzzy' - `arena --help` lists them",
    "leaderboard --jsn": "no such option: --jsn",
    "leaderboard extra": "extra",
    "--nonsense": "no such option: --nonsense",
}


@pytest.mark.parametrize("command", BAD)
def test_one_clear_line(arena: Arena, tmp_path: Path, command: str) -> None:
    (tmp_path / "text.txt").write_text("words\n")
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "many.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    (tmp_path / "wrong.json").write_text('{"format": 1}')
    done = arena(*command.split())
    line = re.sub(r"\A(database|server) .*\n", "", done.err)  # where it looks
    assert done.code == 2
    assert line.startswith("arena: ")
    assert BAD[command] in line
    assert line.count("\n") == 1
    assert done.out == ""


@pytest.mark.parametrize("command", ["leaderboard --db nowhere.db", "games show nightly/99", "games list --limit x"])
def test_the_same_in_json(arena: Arena, command: str) -> None:
    done = arena(*command.split(), "--json")
    assert done.code == 2
    assert set(done.error) == {"error", "what", "value", "fix"}
    assert done.out == ""


def test_a_name_that_could_be_several(arena: Arena) -> None:
    with Store.open("arena.db") as store:
        store.enter(patchwork_spec(games=2), name="nightly-2")
    assert arena("games", "show", "nightly/1").code == 0
    done = arena("games", "show", "night/1")
    assert done.code == 2
    assert "the name could be one of several: 'night' - nightly-2, nightly" in done.err


def test_no_tournament_yet(arena: Arena, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "new.db")):
        pass
    for command in ("leaderboard", "crosstable", "games list", "games show 1", "games export --all", "verify"):
        done = arena(*command.split(), "--db", "new.db")
        assert done.code == 2
        assert "no tournament yet in this database: new.db - play one: arena run-tournament" in done.err
    assert "no game was recorded yet" in arena("replay", "last", "--db", "new.db").err
    assert arena("tournaments", "--db", "new.db").out == "no tournament yet: arena run-tournament\n"


def test_a_foreign_database_is_left_alone(arena: Arena, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "foreign.db")
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    done = arena("leaderboard", "--db", "foreign.db")
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_the_database_of_the_environment(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_DB", "elsewhere.db")
    assert "no such database: elsewhere.db" in arena("leaderboard").err
    assert arena("leaderboard", "--db", "arena.db").code == 0


def test_a_game_error_names_value_position_and_reason(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise IllegalMoveError("K9\x1b", "some position", "no such patch")

    assert errors.guard(work, as_json=False) == 2
    assert capsys.readouterr().err == "arena: no such patch, in position 'some position': 'K9\\x1b'\n"


def test_our_own_trouble(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise ArenaError("the disk is full", "/data", "free some space")

    assert errors.guard(work, as_json=True) == 3
    told = json.loads(capsys.readouterr().err)
    assert told == {"error": "ArenaError", "what": "the disk is full", "value": "/data", "fix": "free some space"}


def test_trouble_of_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        Path("/nowhere/file").read_text()

    assert errors.guard(work, as_json=False) == 3
    assert capsys.readouterr().err.startswith("arena: No such file or directory: /nowhere/file - ")


def test_a_bug_keeps_its_traceback_in_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("ARENA_DEBUG", raising=False)

    assert errors.guard(_fails, as_json=False) == 3
    line = capsys.readouterr().err
    [kept] = tmp_path.iterdir()
    assert "arena: this is a bug in the arena: KeyError: 'surprise'" in line
    assert line.count("\n") == 1
    assert str(kept) in line
    assert "in _fails" in kept.read_text()


def test_debugging_shows_the_traceback(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_DEBUG", "1")
    assert errors.guard(_fails, as_json=False) == 3
    assert "in _fails" in capsys.readouterr().err


def test_control_c() -> None:
    def work() -> None:
        raise KeyboardInterrupt

    assert errors.guard(work, as_json=False) == 130


def test_a_reader_that_leaves_is_no_error(played: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*ARENA, "games", "export", "--all"],
        env=environment(ARENA_DB=str(played)),
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_that_knows_ascii_only(played: Path, tmp_path: Path) -> None:
    done = run("games", "show", "8", cwd=tmp_path, ARENA_DB=str(played), PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert r"\u202e" in done.stdout


def _fails() -> None:
    raise KeyError("surprise")
