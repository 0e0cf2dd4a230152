"""`arena run-tournament` with real bots, processes and databases."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import textwrap
import time
from pathlib import Path

import psutil
import pytest
from command import arena, bot, games, processes_of, start

SEEDED = "return self.random.choice(state.legal_moves())"
BOTS = ("one", "two", "three")


@pytest.fixture
def bots(tmp_path: Path) -> list[str]:
    """Deterministic bots of different strength."""
    return [
        bot(tmp_path, "one", SEEDED),
        bot(tmp_path, "two", "return state.legal_moves()[-1]"),
        bot(tmp_path, "three", "return max(state.legal_moves()[:9], key=lambda m: state.after(m).score(self.seat))"),
    ]


def board(folder: Path) -> str:
    done = arena("leaderboard", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_tournament_is_played_recorded_and_rated(tmp_path: Path, bots: list[str]) -> None:
    done = arena("run-tournament", *bots, "--games", "4", "--time", "1s", "--seed", "s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("database arena.db\n")
    assert board(tmp_path).strip() in done.stdout
    records = games(tmp_path)
    assert [record["number"] for record in records] == list(range(1, 13))
    assert {record["termination"] for record in records} == {"normal"}
    pairs: dict[int, set[tuple[str, ...]]] = {}
    circles: dict[int, set[str]] = {}
    for record in records:
        pairs.setdefault(record["pairing"], set()).add(tuple(seat["bot"] for seat in record["seats"]))
        circles.setdefault(record["pairing"], set()).add(record["circle"])
    assert all(len(seatings) == 2 for seatings in pairs.values())  # each deal from both seats
    assert all(len(deal) == 1 for deal in circles.values())
    assert len(set.union(*circles.values())) == 6
    assert arena("verify", cwd=tmp_path).returncode == 0


def test_the_secret_of_deals_is_committed_to_first_and_revealed_last(tmp_path: Path, bots: list[str]) -> None:
    done = arena("run-tournament", *bots[:2], "--games", "2", "--time", "1s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = dict(
        line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith(("commitment", "secret"))
    )
    commitment = said["commitment"].partition(":")[0]
    assert hashlib.sha256(bytes.fromhex(said["secret"].partition(",")[0])).hexdigest() == commitment
    assert said["secret"].endswith(commitment)
    assert done.stdout.index("commitment ") < done.stdout.index("mu-3sigma") < done.stdout.index("chain head ")


def test_the_same_command_again_shows_what_is_finished(tmp_path: Path, bots: list[str]) -> None:
    command = ("run-tournament", *bots, "--games", "2", "--time", "1s", "--seed", "s")
    arena(*command, cwd=tmp_path)
    first = board(tmp_path)
    began = time.monotonic()
    again = arena(*command, cwd=tmp_path)
    assert again.returncode == 0
    assert time.monotonic() - began < 30
    assert board(tmp_path) == first
    assert len(games(tmp_path)) == 6
    fresh = arena(*command, "--new", cwd=tmp_path)
    assert fresh.returncode == 0
    assert len(json.loads(arena("tournaments", "--json", cwd=tmp_path).stdout)) == 2


def test_one_game_or_eight_at_once_give_the_same_bytes(tmp_path: Path, bots: list[str]) -> None:
    boards = []
    for concurrency in ("1", "8"):
        folder = tmp_path / concurrency
        folder.mkdir()
        command = ("run-tournament", *bots, "--games", "6", "--seed", "s", "--time", "5s")
        done = arena(*command, "--concurrency", concurrency, cwd=folder)
        assert done.returncode == 0, done.stderr
        boards.append(board(folder))
    assert boards[0] == boards[1]


def test_killed_and_run_again_it_is_as_if_nothing_had_happened(tmp_path: Path, bots: list[str]) -> None:
    command = ("run-tournament", *bots, "--games", "10", "--seed", "s", "--time", "5s", "--concurrency", "2")
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    whole.mkdir()
    torn.mkdir()
    assert arena(*command, cwd=whole).returncode == 0
    for patience in (1.5, 2.0, 2.5):
        process = start(*command, cwd=torn)
        time.sleep(patience + random.random() / 4)
        process.kill()
        process.communicate()
        deadline = time.monotonic() + 5
        while left := list(processes_of(tmp_path)):
            assert time.monotonic() < deadline, f"left running after kill -9: {left}"
            time.sleep(0.02)
    assert arena(*command, cwd=torn).returncode == 0
    assert board(torn) == board(whole)
    records = games(torn)
    assert [record["number"] for record in records] == list(range(1, 31))
    assert [record["moves"] for record in records] == [record["moves"] for record in games(whole)]
    verified = arena("verify", cwd=torn)
    assert verified.returncode == 0, verified.stdout


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_it_says_how_to_go_on(tmp_path: Path, bots: list[str], number: signal.Signals, code: int) -> None:
    command = ("run-tournament", *bots, "--games", "40", "--seed", "s", "--time", "5s")
    process = start(*command, cwd=tmp_path)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(3)
    os.killpg(process.pid, number)  # as Ctrl-C does: the whole group
    _, errors = process.communicate(timeout=20)
    assert process.returncode == code, errors
    assert "the same command goes on with the rest" in errors
    assert "Traceback" not in errors
    assert "loses by" not in errors
    assert arena("verify", cwd=tmp_path).returncode == 0


def test_a_second_command_on_the_same_tournament_is_refused(tmp_path: Path, bots: list[str]) -> None:
    command = ("run-tournament", *bots, "--games", "40", "--seed", "s", "--time", "5s")
    process = start(*command, cwd=tmp_path)
    try:
        deadline = time.monotonic() + 20
        while not psutil.Process(process.pid).children():  # the keeper comes after the lock
            assert time.monotonic() < deadline
            time.sleep(0.05)
        second = arena(*command, cwd=tmp_path)
        assert second.returncode == 2
        assert "is being played by another command" in second.stderr
        assert str(process.pid) in second.stderr
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 130


def test_a_lost_keeper_blames_nobody(tmp_path: Path, bots: list[str]) -> None:
    process = start("run-tournament", *bots, "--games", "40", "--seed", "s", "--time", "5s", cwd=tmp_path)
    deadline = time.monotonic() + 20
    while len(family := psutil.Process(process.pid).children(recursive=True)) < 3:  # the keeper and two bots
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (keeper,) = [child for child in family if child.ppid() == process.pid]
    keeper.kill()
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 3, errors
    assert "keeper" in errors
    assert "loses by" not in errors
    assert {record["termination"] for record in games(tmp_path)} <= {"normal"}


def test_a_bot_whose_files_changed_makes_a_new_tournament(tmp_path: Path, bots: list[str]) -> None:
    command = ("run-tournament", *bots, "--games", "2", "--time", "1s", "--seed", "s")
    arena(*command, cwd=tmp_path)
    bot(tmp_path, "one", "return state.legal_moves()[0]")
    changed = arena(*command, cwd=tmp_path)
    assert changed.returncode == 0
    assert "one 0 has changed" in changed.stdout
    refused = arena(*command, "--name", "mine", cwd=tmp_path)
    assert refused.returncode == 0
    bot(tmp_path, "one", SEEDED)
    refused = arena(*command, "--name", "mine", cwd=tmp_path)
    assert refused.returncode == 2
    assert "files of one 0" in refused.stderr


def test_a_spec_file(tmp_path: Path, bots: list[str]) -> None:
    names = json.dumps([Path(path).name for path in bots])
    (tmp_path / "event").mkdir()
    for path in bots:
        Path(path).rename(tmp_path / "event" / Path(path).name)
    spec = tmp_path / "event" / "spec.toml"
    spec.write_text(f'name = "cup"\nbots = {names}\ngames = 4\ntime = "1s"\nedition = "revised"\nseed = "s"\n')
    done = arena("run-tournament", "event/spec.toml", "--games", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    records = games(tmp_path)
    assert len(records) == 6  # the command line wins
    assert records[0]["tournament"] == "cup"
    assert records[0]["edition"] == "revised"


@pytest.mark.parametrize(("restart", "processes"), [("never", 1), ("every game", 4)])
def test_a_spec_says_how_often_bots_are_restarted(tmp_path: Path, restart: str, processes: int) -> None:
    noting = "import os\nopen('pids', 'a').write(f'{os.getpid()} ')\nreturn state.legal_moves()[0]"
    bot(tmp_path, "noting", noting)
    text = f"""
        games = 4
        time = "2s"
        concurrency = 1
        restart = "{restart}"
        tags = ["nightly"]
        bots = ["greedy", {{bot = "noting.py", owner = "Ada", tags = ["new"]}}]
    """
    (tmp_path / "spec.toml").write_text(textwrap.dedent(text))
    done = arena("run-tournament", "spec.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(set((tmp_path / "pids").read_text().split())) == processes
    assert {record["termination"] for record in games(tmp_path)} == {"normal"}
    told = json.loads(arena("tournaments", "show", "--json", cwd=tmp_path).stdout)
    assert (told["tags"], told["bots"][1]["owner"], told["bots"][1]["tags"]) == (["nightly"], "Ada", ["new"])
    (run,) = told["runs"]
    assert (run["epoch"], run["restart"], run["concurrency"], run["transport"]) == (1, restart, 1, "unix")
    assert run["command"] == ["arena", "run-tournament", "spec.toml"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--edition", "first"], ["'first'", "original", "revised"]),
        (["--time", "10+0.1"], ["'10+0.1'", "did you mean 10s+0.1s?"]),
        (["--time=-1s"], ["'-1s'"]),
        (["--time", "none"], ["'none'", "100ms"]),
        (["--games", "5"], ["5", "4 or 6"]),
        (["--games", "0"], ["0"]),
        (["--games=-2"], ["-2"]),
        (["--games", "x"], ["'x'"]),
        (["--concurrency", "0"], ["0", "1 or more"]),
        (["--name", "a/b"], ["a/b"]),
        (["--db", "no/such/folder/x.db"], ["no/such/folder"]),
        (["--db", "one.py"], ["one.py"]),
        (["--db", "mysql://x"], ["mysql"]),
        (["nobody"], ["'nobody'", "example bot"]),
        (["one.py"], ["one"]),
        (["missing.toml"], ["missing.toml"]),
        (["--gmaes", "2"], ["--gmaes"]),
    ],
)
def test_a_mistake_is_one_clear_line(tmp_path: Path, bots: list[str], arguments: list[str], words: list[str]) -> None:
    given = [] if arguments[0].endswith(".toml") else [Path(path).name for path in bots]
    done = arena("run-tournament", *given, *arguments, cwd=tmp_path)
    assert done.returncode == 2, (done.stdout, done.stderr)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, lines
    assert all(word in lines[0] for word in words), lines
    as_json = arena("run-tournament", *given, *arguments, "--json", cwd=tmp_path)
    assert as_json.returncode == 2
    assert set(json.loads(as_json.stderr)) == {"error", "what", "value", "fix"}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ('gmaes = 2\nbots = ["one.py", "two.py"]', ["line 1", "'gmaes'", "did you mean games?"]),
        ('games = "2"', ["line 1", "games", "whole number"]),
        ('\nbots = "one.py"', ["line 2", "bots", "list"]),
        ("games = ", ["spec.toml", "not TOML"]),
        ('bots = ["one.py", "nobody"]', ["nobody"]),
    ],
)
def test_a_mistake_in_a_spec_names_the_line(tmp_path: Path, bots: list[str], spec: str, words: list[str]) -> None:
    assert bots
    (tmp_path / "spec.toml").write_text(spec)
    done = arena("run-tournament", "spec.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert all(word in done.stderr for word in words), done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_cannot_be_written(tmp_path: Path, bots: list[str]) -> None:
    command = ["run-tournament", *bots, "--games", "2", "--time", "1s", "--seed", "s"]
    assert arena(*command, cwd=tmp_path).returncode == 0
    (tmp_path / "foreign.db").write_bytes(b"SQLite format 3\0" + b"x" * 4096)
    refused = arena(*command, "--db", "foreign.db", cwd=tmp_path)
    assert refused.returncode == 2
    assert "foreign.db" in refused.stderr


def test_tcp_serves_where_unix_sockets_are_missing(tmp_path: Path, bots: list[str]) -> None:
    done = arena("run-tournament", *bots[:2], "--games", "2", "--time", "1s", cwd=tmp_path, ARENA_TRANSPORT="tcp")
    assert done.returncode == 0, done.stderr
    assert {record["termination"] for record in games(tmp_path)} == {"normal"}
    wrong = arena("run-tournament", *bots[:2], cwd=tmp_path, ARENA_TRANSPORT="pigeon")
    assert wrong.returncode == 2
    assert "pigeon" in wrong.stderr


def test_a_pipe_that_closes_is_no_error(tmp_path: Path, bots: list[str]) -> None:
    arena("run-tournament", *bots, "--games", "2", "--time", "1s", cwd=tmp_path)
    with subprocess.Popen(["true"], stdin=subprocess.PIPE) as reader:
        reader.wait()
        from command import ARENA, environment  # noqa: PLC0415

        done = subprocess.run(
            [*ARENA, "leaderboard"],
            cwd=tmp_path,
            env=environment(),
            stdout=reader.stdin,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert b"Traceback" not in done.stderr
