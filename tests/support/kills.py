"""What must hold when a command is struck, and then run again: nothing lost, nothing twice, nothing left behind."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from command import bot, processes_of
from striking import COMMAND, UNSTRUCK, Ran, Strike, Striker

from arena_server.cli.leaderboard import print_leaderboard
from arena_server.model import UserError
from arena_server.service.reading import StoreReader
from arena_server.store import Store, queries
from arena_server.store.verify import verify

EVERY = 6
"""CI strikes every sixth point."""
ROOT = Path(__file__).parents[2]


@dataclass
class Subject:
    """A command that is struck in folders below one.

    Attributes:
        whole: how a run without a strike ended.
        board: the leaderboard that it left.
        games: the numbers of the games that it recorded.
    """

    striker: Striker
    folder: Path
    arguments: Sequence[str] = ()
    program: str = COMMAND
    whole: Ran = field(init=False)
    board: str = field(init=False)
    games: list[int] = field(init=False)

    def __post_init__(self) -> None:
        home = self.home("whole")
        self.whole = self.run(home)
        assert self.whole.code == 0, self.whole.err
        self.board, self.games = leaderboard(home), recorded(home)
        assert self.games == list(range(1, len(self.games) + 1))

    def home(self, name: str) -> Path:
        """An empty folder for a run."""
        home = self.folder / name
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        return home

    def run(self, home: Path, strike: Strike = UNSTRUCK) -> Ran:
        return self.striker(*self.arguments, cwd=home, strike=strike, program=self.program)

    def strike(self, *strikes: Strike) -> list[Ran]:
        """Strikes a run and those that go on with it, one after the other, then lets one complete; how each ended."""
        home, ran = self.home("struck"), []
        reported: set[str] = set()
        for strike in strikes:
            ran.append(self.run(home, strike))
            reported |= set(ran[-1].out.split()) if self.program != COMMAND else set()
            self.nothing_runs()
            assert {int(word) for word in reported} <= set(recorded(self.copied(home))), "a reported game is lost"
        last = self.run(home)
        assert last.code == 0, last.err
        assert recorded(home) == self.games
        assert leaderboard(home) == self.board
        self.nothing_runs()
        return ran

    def copied(self, home: Path) -> Path:
        """A copy to look into: a look repairs what the next run should find as it is."""
        copy = self.home("copy")
        return Path(shutil.copytree(home, copy, dirs_exist_ok=True))

    def nothing_runs(self) -> None:
        deadline = time.monotonic() + 10
        while left := list(processes_of(self.folder)):
            assert time.monotonic() < deadline, f"left running: {left}"
            time.sleep(0.02)


def the_command(striker: Striker, folder: Path) -> Subject:
    """`arena run-tournament` of two deterministic bots."""
    bots = [bot(folder, "first"), bot(folder, "last", "return state.legal_moves()[-1]")]
    options = ("--games", "2", "--seed", "s", "--time", "5s", "--concurrency", "1")
    return Subject(striker, folder, ("run-tournament", *bots, *options))


def recorded(home: Path) -> list[int]:
    """The numbers of the games on record, once all of them are verified."""
    if not (home / "arena.db").exists():
        return []
    with Store.open(str(home / "arena.db"), create=False) as store:
        try:
            tournament = queries.tournament(store)
        except UserError:  # none yet
            return []
        report = verify(store, tournament)
        assert report.ok, report.problems
        return [record.number for record in queries.export(store, tournament)]


def leaderboard(home: Path) -> str:
    """What `arena leaderboard --json` prints."""
    with Store.open(str(home / "arena.db"), create=False) as store, redirect_stdout(StringIO()) as printed:
        print_leaderboard(StoreReader(store), as_json=True)
    return printed.getvalue()


def rotated(last: int, every: int = EVERY) -> range:
    """Every so manieth point, others for each commit, so that in time all are struck."""
    return range(1 + commit() % every, last + 1, every)


def commit() -> int:
    """The commit's hash as a number; 0 where there is no repository."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(done.stdout.strip() or "0", 16)
