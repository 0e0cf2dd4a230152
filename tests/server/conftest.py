"""Databases with played games, the command in this process, and a PostgreSQL server where one is installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from here import Arena
from requirements import require
from sample_store import play_nightly, play_tiny

from arena_server.store import Store


@pytest.fixture
def arena(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, played: Path) -> Arena:
    """With a database of its own: `tiny`, finished, then `nightly`, with two games still to play."""
    database = tmp_path / "arena.db"
    shutil.copy(played, database)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ARENA_DB", raising=False)
    monkeypatch.delenv("ARENA_DEBUG", raising=False)
    return Arena(capsys, database)


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "arena.db"
    with Store.open(str(path)) as store:
        play_tiny(store)
        play_nightly(store)
    return path


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a PostgreSQL server of this session, without a database's name."""
    initdb, pg_ctl = require("initdb"), require("pg_ctl")
    user = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    if user:
        shutil.chown(folder, user)
    name = user or pwd.getpwuid(os.geteuid()).pw_name

    def run(*command: str | Path) -> None:
        subprocess.run(command, user=user, cwd=folder, stdout=subprocess.DEVNULL, timeout=60, check=True)

    try:
        run(initdb, "-D", folder / "data", "-A", "trust", "-U", name)
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run(pg_ctl, "-w", "-D", folder / "data", "-o", options, "-l", folder / "log", "start")
        try:
            yield f"postgresql://{name}@/{{}}?host={folder}"
        finally:
            run(pg_ctl, "-w", "-D", folder / "data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def postgres(server: str) -> str:
    """The URL of an empty database."""
    name = f"arena_{uuid4().hex}"
    with psycopg.connect(server.format("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.format(name)
