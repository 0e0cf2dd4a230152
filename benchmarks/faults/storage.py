"""The store: WRITES results by each of eight writers, verification of VERIFIED games, and edits that it finds."""

from __future__ import annotations

import math
import random
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from command import ARENA, environment  # tests/support
from table import progress
from tournaments import begin, patchwork_spec, tiny_spec

from arena_server.model import ArenaError
from arena_server.store import Store, queries
from arena_server.store.verify import verify
from faults.running import size

SUPPORT = Path(begin.__code__.co_filename).parent
WRITERS = 8
EDITS = 400
TABLES = ("game", "seat", "attempt")
"""Those whose rows are games."""
FREE = ("id", "tournament_id")
"""Numbers of rows and of their tournament: they say nothing of a game."""
WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from tournaments import begin, tiny_spec
from arena_server.store import Store
with Store.open(sys.argv[2]) as store:
    playing = begin(store, tiny_spec(games=int(sys.argv[4])), name=sys.argv[3])
    for result in playing.results():
        (recorded,) = store.record([result])
        assert not recorded.refused
    assert store.progress(playing.tournament).folded == int(sys.argv[4])
"""


def measure() -> dict[str, float]:
    """All figures of the store."""
    with tempfile.TemporaryDirectory(prefix="f") as folder:
        return {
            "lock_errors": lock_errors(Path(folder) / "written.db", size("WRITES", 1000) // 3 * 3),
            "verify_s_per_10k_games": verify_seconds(Path(folder) / "arena.db", size("VERIFIED", 10_000)),
            "edits_found_fraction": edits_found(Path(folder) / "edited.db"),
        }


def lock_errors(path: Path, results: int) -> int:
    """Writers that failed."""
    Store.open(str(path)).close()
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, SUPPORT, path, f"t{number}", str(results)], stderr=subprocess.PIPE, text=True
        )
        for number in range(WRITERS)
    ]
    failed = 0
    for done, writer in enumerate(writers, 1):
        _, errors = writer.communicate()
        failed += writer.returncode != 0
        if errors:
            print(errors)
        progress(done, WRITERS, f"writers of {results} results each")
    return failed


def verify_seconds(path: Path, games: int) -> float:
    """How long `arena verify` takes, as for 10,000 games."""
    with Store.open(str(path)) as store:
        playing = begin(store, patchwork_spec(bots=2, games=games))
        assignments = playing.assignments()
        for first in range(0, games, 500):
            store.record([playing.normal(one) for one in assignments[first : first + 500]])
            progress(min(first + 500, games), games, "games to be verified")
        playing.lock.release()
    began = time.perf_counter()
    subprocess.run([*ARENA, "verify", "--db", path], env=environment(), check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 10_000 / games


def edits_found(path: Path) -> float:
    """The share of edits of a byte in rows of games that verification finds."""
    with Store.open(str(path)) as store:
        playing = begin(store, tiny_spec(bots=4, games=3))
        store.record([playing.void(playing.assignments()[1])])
        store.record(playing.results())
        store.finish(playing.tournament)
        playing.lock.release()
    dice = random.Random()
    found = done = 0
    while done < EDITS:
        with closing(sqlite3.connect(path)) as file, closing(sqlite3.connect(":memory:")) as copy:
            file.backup(copy)
            edit = edit_a_byte(file, dice)
            if edit:
                done += 1
                found += is_found(path, edit)
                progress(done, EDITS, "edits")
                copy.backup(file)
    return found / EDITS


def edit_a_byte(file: sqlite3.Connection, dice: random.Random) -> str:
    """Changes one byte of a value somewhere; what it did, or nothing where a key of another row came out."""
    table = dice.choice(TABLES)
    columns = [name for _, name, *_ in file.execute(f"PRAGMA table_info({table})") if name not in FREE]
    column = dice.choice(columns)
    rows = file.execute(f"SELECT rowid, {column} FROM {table} WHERE {column} IS NOT NULL").fetchall()
    if not rows:
        return ""
    row, value = dice.choice(rows)
    try:
        changed = another(value, dice)
        file.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (changed, row))
        file.commit()
    except sqlite3.IntegrityError:
        return ""
    return f"{table}.{column} of row {row}: {value!r} -> {changed!r}"


def other_bytes(value: bytes, dice: random.Random) -> bytes:
    """Those bytes, one of them changed."""
    at = dice.randrange(len(value))
    return value[:at] + bytes([value[at] ^ dice.randrange(1, 256)]) + value[at + 1 :]


def another(value: object, dice: random.Random) -> object:
    """The value with one byte changed."""
    match value:
        case bytes():
            return other_bytes(value, dice)
        case str():
            at = dice.randrange(len(value))
            return value[:at] + chr(ord(value[at]) ^ dice.randrange(1, 16)) + value[at + 1 :]
        case float():
            (changed,) = struct.unpack("d", other_bytes(struct.pack("d", value), dice))
            return changed if math.isfinite(changed) else 0.0
        case int():
            return value ^ dice.randrange(1, 256)
    raise TypeError(value)


def is_found(path: Path, edit: str) -> bool:
    """Whether verification tells of it."""
    with Store.open(str(path)) as store:
        try:
            found = not verify(store, queries.tournament(store)).ok
        except ArenaError:
            found = True
    if not found:
        print("not found:", edit)
    return found
