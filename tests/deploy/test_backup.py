"""The settings, the health check and the copies of a server, as its organiser uses them: with real processes."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from command import arena, bot, start
from tournaments import patchwork_spec

from arena_server.store import Store, queries

DEPLOY = Path(__file__).parents[2] / "deploy"


def script(name: str, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, DEPLOY / name, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=100, check=False)


def backup(*arguments: str, cwd: Path, code: int = 0) -> str:
    done = script("backup.py", *arguments, cwd=cwd)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


class Server:
    """`arena serve` by the example's settings, but for the places."""

    def __init__(self, folder: Path) -> None:
        places = {"db": "arena.db", "listen": "127.0.0.1:0", "metrics": "0", "socket": str(folder / "socket")}
        places |= {"tls-cert": "cert.pem", "tls-key": "key.pem"}
        # Bots that take their time, so that a copy is made in the middle of it.
        bots = [
            bot(folder, name, "import time; time.sleep(0.02); return state.legal_moves()[0]") for name in ("one", "two")
        ]
        options = [word for name, place in places.items() for word in (f"--{name}", place)]
        self.process = start(
            "serve", str(DEPLOY / "arena.toml"), *options, "--bot", bots[0], "--bot", bots[1], cwd=folder
        )
        self.said: list[str] = []

    def told(self, event: str, times: int = 1) -> list[dict[str, Any]]:
        """The next so many of these."""
        assert self.process.stdout
        found: list[dict[str, Any]] = []
        while len(found) < times:
            line = self.process.stdout.readline()
            assert line, f"ended: {self.said} {self.process.communicate()}"
            self.said.append(line)
            told = json.loads(line)
            found += [told] if told["event"] == event else []
        return found


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
        server.process.communicate()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    issued = trustme.CA().issue_cert("127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    return tmp_path


def games(database: Path) -> set[int]:
    """The games on record in it, once all of it is verified."""
    done = arena("verify", "--db", str(database), cwd=database.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    with Store.open(str(database), create=False) as store:
        return {record.number for record in queries.export(store, queries.tournament(store, None))}


def numbers(told: list[dict[str, Any]]) -> set[int]:
    return {int(game["game"].rpartition("/")[2].partition(".")[0]) for game in told}


def test_a_season_is_saved_while_it_is_played_restored_and_goes_on(site: Path) -> None:
    with serving(site) as server:
        server.told("serving")
        assert script("health.py", f"unix:{site / 'socket'}", cwd=site).stdout == "SERVING\n"
        before = numbers(server.told("game", 2))
        backup("save", "arena.db", "copy.db", cwd=site)
        assert (site / "copy.db").stat().st_mode & 0o777 == 0o600
        assert "exists" in backup("save", "arena.db", "copy.db", cwd=site, code=2)
        backup("save", "arena.db", "copy.db", "--force", cwd=site)
        after = numbers(server.told("game", 2))
        assert "a server or a tournament has" in backup("restore", "copy.db", "arena.db", "--force", cwd=site, code=2)
        after |= numbers(server.told("game"))  # it plays on
        server.process.kill()
        server.process.wait()
    down = script("health.py", f"unix:{site / 'socket'}", cwd=site)
    assert (down.returncode, down.stdout) == (1, "UNAVAILABLE\n")

    backup("save", "arena.db", "last.db", cwd=site)  # what a killed server has left in its log is in it
    assert before | after <= games(site / "last.db")

    assert "exists" in backup("restore", "copy.db", "arena.db", cwd=site, code=2)
    told = backup("restore", "copy.db", "arena.db", "--force", cwd=site)
    restored = games(site / "arena.db")
    assert before <= restored < games(site / "last.db")
    assert games(Path(told.strip().rpartition("earlier: ")[2])) == games(site / "last.db")

    with serving(site) as server:
        server.told("serving")
        assert not numbers(server.told("game", 2)) & restored
    assert not list(site.glob(".*.db.*"))


def test_a_running_tournament_keeps_its_database(site: Path) -> None:
    with Store.open(str(site / "arena.db")) as store, store.lock(store.enter(patchwork_spec(), name="cup").tournament):
        backup("save", "arena.db", "copy.db", cwd=site)
        assert "stop it first" in backup("restore", "copy.db", "arena.db", "--force", cwd=site, code=2)
    backup("restore", "copy.db", "arena.db", "--force", cwd=site)


def test_nothing_takes_the_place_of_a_database_but_a_sound_one(site: Path) -> None:
    with Store.open(str(site / "arena.db")):
        pass
    backup("save", "arena.db", "sound.db", cwd=site)
    whole = (site / "sound.db").read_bytes()
    (site / "half.db").write_bytes(whole[: len(whole) // 2])
    (site / "text.db").write_text("no database\n" * 1000)
    with closing(sqlite3.connect(site / "other.db")) as other:
        other.execute("CREATE TABLE t (x)")
    held = {path.name for path in site.iterdir()}
    for bad, code in (("half.db", 3), ("text.db", 3), ("other.db", 3), ("none.db", 2)):
        assert bad in backup("restore", bad, "arena.db", "--force", cwd=site, code=code)
        assert bad in backup("save", bad, "new.db", cwd=site, code=code)
    assert {path.name for path in site.iterdir()} - held <= {"arena.db.lock"}
    with Store.open(str(site / "arena.db"), create=False):
        pass
