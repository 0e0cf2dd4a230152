"""Attack 12, what people see: whatever a bot is called, logs or dies of, it is refused or shown escaped."""

from __future__ import annotations

import csv
import os
import pty
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from command import ARENA, arena, environment
from field import Field
from rival import Rival

from arena.v1 import referee_pb2 as pb
from arena_server.model import UserError
from arena_server.store import Store, registry

ACTING = ("\x1b]", "\x1b[2J", "\x07", "\x9b", "\u202e", "\r", "\x00")
"""What must reach no terminal; commands have colours of their own."""
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp</pre><script>alert(1)</script>'; DROP TABLE game; --"


@pytest.fixture(scope="module")
def game(field: Field) -> str:
    """One in which a bot said all kinds of things and then died of it."""

    def before(_: Rival, asked: pb.MoveRequest) -> Iterator[pb.PlayRequest]:
        if asked.ply > 5:
            yield pb.PlayRequest(
                failure=pb.Failure(handle=asked.handle, ply=asked.ply, traceback=f"{EVIL}\n=1+1 {EVIL}")
            )
        else:
            move = pb.Move(handle=asked.handle, ply=asked.ply, move=asked.legal_moves[0], log=[f"{EVIL}\r\n", "=1+1"])
            yield pb.PlayRequest(move=move)

    with Rival(field.address, field.token("loudmouth"), before) as one:
        one.wait_for(lambda: one.rated, "a game")
    found = next(iter(one.rated))
    assert "=1+1" in field.result(found).failures[0].reason
    return found


def on_a_terminal(*arguments: str, cwd: Path) -> str:
    """What a command shows there."""
    ours, its = pty.openpty()
    with subprocess.Popen([*ARENA, *arguments], cwd=cwd, env=environment(), stdout=its, stderr=its) as process:
        os.close(its)
        shown = b""
        with suppress(OSError):  # how a terminal ends
            while data := os.read(ours, 1 << 16):
                shown += data
        os.close(ours)
    assert process.returncode == 0
    return shown.decode().replace("\r\n", "\n")


def check(shown: str) -> None:
    assert not [acting for acting in ACTING if acting in shown]


@pytest.mark.parametrize("command", [("games", "show"), ("games", "list"), ("leaderboard",), ("replay",)], ids=" ".join)
def test_nothing_of_it_acts_on_a_terminal(field: Field, game: str, command: tuple[str, ...]) -> None:
    named = (game,) if command in (("games", "show"), ("replay",)) else ()
    shown = on_a_terminal(*command, *named, cwd=field.site.folder)
    check(shown)
    assert len(shown) > 100
    if command == ("games", "show"):
        assert r"\x1b]0;owned\x07" in shown


def test_nothing_of_it_acts_in_files(field: Field, game: str) -> None:
    folder = field.site.folder
    done = arena("report", "season", "--out", "report", cwd=folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "report" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "loudmouth" in page
    for path in (folder / "report").glob("*.csv"):
        with path.open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert cells
        assert not [cell for cell in cells if cell.startswith(("=", "@", "+"))]
    for text in (page, *(path.read_text() for path in (folder / "report").glob("*.*"))):
        check(text.replace("\r\n", "\n"))
    exported = arena("games", "export", game, cwd=folder)
    check(exported.stdout)
    assert exported.returncode == 0


def test_nothing_of_it_acts_in_the_server_s_log(field: Field, game: str) -> None:
    field.look()
    check(field.server.text())
    assert game in field.server.text()


@pytest.mark.parametrize(
    "name", ["\x1b]0;x\x07", "../../etc/passwd", "\u202egnp", "-x", "a" * 65, "=1+1", "<b>", "\udcff"]
)
def test_a_hostile_name_is_refused_in_one_harmless_line(tmp_path: Path, name: str) -> None:
    with Store.open(str(tmp_path / "arena.db")) as store:
        for arguments in ((name, "1", "team"), ("bot", name, "team"), ("bot", "1", name)):
            if name == "-x":
                continue  # a name as any other; a command takes it behind `--`
            with pytest.raises(UserError) as refused:
                registry.add(store.database, *arguments)
            told = str(refused.value)
            check(told)
            assert len(told) < 300
            assert "\n" not in told


def test_a_hostile_name_on_the_command_line(tmp_path: Path) -> None:
    done = arena("bots", "add", "\x1b]0;x\x07\u202e", "--owner", "team", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("arena: not a name for a bot")
    assert "Traceback" not in done.stderr
    check(done.stderr)


def test_a_flood_of_registrations_ends_at_the_quotas(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "arena.db")) as store:

        def register(number: int) -> str:
            try:
                registry.add(store.database, f"bot{number}", "1", "flooder")
            except UserError as refused:
                return str(refused)
            return ""

        with ThreadPoolExecutor(8) as threads:
            told = list(threads.map(register, range(60)))
        assert told.count("") == min(registry.MAX_BOTS, registry.MAX_VERSIONS_A_DAY)
        assert all("within a day" in one or f"{registry.MAX_BOTS} bots" in one for one in told if one)
        registry.add(store.database, "other", "1", "another")
