"""A season in which everything breaks, with real processes, for SEASON minutes; then it is decided and verified.

Bots crash, cheat, dawdle, exit, are killed, frozen for seconds and started again. The organiser rotates tokens,
registers and retires versions and has bots challenge each other. Somebody reads. The server is stopped, hurried and
killed. Whoever behaves may lose games on the board alone; no command may fail for a reason that is ours.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from command import arena  # tests/support
from standing import Joined, Server, Site
from table import progress

from arena_server.model import Result
from arena_server.store import Store, journal, queries
from arena_server.store.verify import verify
from faults.running import size

STEADY = [f"steady{number}" for number in range(6)]
HOUSE = ["random", "greedy"]
MISCHIEF = {
    "crashes": "raise ValueError('boom')",
    "cheats": "return 'nonsense'",
    "dawdles": "time.sleep(4)",
    "exits": "os._exit(7)",
    "leaves": "pass",
    "comes": "pass",
}
"""What bots do now and then, by name; the last two are just killed."""
BODY = """
import os, random, time

time.sleep(random.random() / 50)
if random.random() < 0.004:
    {mischief}
return random.choice(state.legal_moves())
"""
READS = (
    ("leaderboard",),
    ("leaderboard", "--full"),
    ("crosstable",),
    ("games", "list"),
    ("bots", "show", STEADY[0]),
    ("tournaments",),
)
RUN_S = (10.0, 60.0)
"""Seconds that a server runs before it is stopped or killed."""
CLOSING_WAIT_H = 0.01
"""Hours that it waits for who does not come: a bot of which only a version comes that had not joined before the end."""
PATIENCE = 120.0
"""Seconds for the season to be decided."""


def measure() -> dict[str, float]:
    """All figures; prints every problem."""
    seed = size("SEED", random.SystemRandom().randrange(10**6))
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="f") as name:
        season = Season(Site(Path(name)), random.Random(seed))
        try:
            season.play(60 * size("SEASON", 5))
        finally:
            season.site.close()
        results = season.verified()
    for problem in season.problems:
        print(problem, flush=True)
    return {
        "season_games": len(results),
        "season_restarts": season.restarts,
        "season_false_losses": sum(map(false_losses, results)),
        "season_problems": len(season.problems),
    }


def false_losses(result: Result) -> int:
    """Failures of bots that never do anything wrong."""
    seats = dict(zip(result.assignment.planned.letters, result.assignment.entrants, strict=True))
    return sum(seats[failure.seat].name in (*STEADY, *HOUSE) for failure in result.failures)


class Season:
    """The season, and whoever disturbs it.

    Attributes:
        problems: what should not have happened.
        restarts: of the server.
    """

    def __init__(self, site: Site, dice: random.Random) -> None:
        self.site = site
        self.problems: list[str] = []
        self.restarts = 0
        self._dice = dice
        self._tokens = {name: site.token(name) for name in (*STEADY, *MISCHIEF)}
        self._bots: dict[str, Joined] = {}
        self._versions = 1
        self._server = self._serve(0)

    def play(self, seconds: float) -> None:
        """Plays it, and has it decided."""
        mischief = (self._kill, self._freeze, self._challenge, self._rotate, self._new_version, self._retire)
        began = time.monotonic()
        with self._reading():
            while (left := began + seconds - time.monotonic()) > 0:
                runs_until = time.monotonic() + min(left, self._dice.uniform(*RUN_S))
                while time.monotonic() < runs_until:
                    self._bring_back()
                    self._dice.choice(mischief)()
                    time.sleep(self._dice.random())
                self._restart()
                progress(round(time.monotonic() - began), round(seconds), f"s, {self.restarts} restarts")
            self._decide()
        self._stop(signal.SIGTERM)

    def verified(self) -> list[Result]:
        """Every attempt of every tournament; what does not verify is a problem, and what was told and is not there."""
        results = []
        with Store.open(str(self.site.folder / "arena.db"), create=False) as store:
            with store.database.read() as connection:
                names = connection.exec_driver_sql("SELECT id, name FROM tournament").all()
            for number, name in names:
                held = queries.tournament(store, name)
                self.problems += [f"{name}: {problem.what}" for problem in verify(store, held).problems]
                with store.database.read() as connection:
                    query = f"SELECT journal FROM attempt WHERE tournament_id = {number:d}"
                    entries = connection.exec_driver_sql(query).scalars().all()
                results += [journal.decode(entry, held.spec).result for entry in entries]
        recorded = {(result.assignment.game_id, result.assignment.token.attempt) for result in results}
        told = {(game["game"], game["attempt"]) for server in self.site.servers for game in server.events("game")}
        self.problems += [f"{game} was told and is not on record" for game, _ in sorted(told - recorded)]
        return results

    # The server

    def _serve(self, port: int) -> Server:
        settings = {
            "bots": HOUSE,
            "concurrency": 6,
            "socket": str(self.site.folder / "s"),
            "closing_wait": CLOSING_WAIT_H,
        }
        lines = [f"{name} = {json.dumps(value)}\n" for name, value in settings.items()]
        (self.site.folder / "arena.toml").write_text("".join(lines))
        return self.site.serve("arena.toml", port=port)

    def _restart(self) -> None:
        self._stop(self._dice.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGTERM)))
        self._server = self._serve(int(self._server.address.rpartition(":")[2]))
        self.restarts += 1

    def _stop(self, how: signal.Signals) -> None:
        process = self._server.process
        if process.poll() is not None:
            self.problems.append(f"the server has ended by itself: {process.returncode} {self._server.text()[-1000:]}")
        process.send_signal(how)
        if how is signal.SIGTERM and self._dice.random() < 0.5:
            time.sleep(self._dice.random() / 2)
            process.send_signal(how)
        if process.wait(60) not in (0, -signal.SIGKILL, 128 + signal.SIGTERM):
            self.problems.append(f"the server ended with {process.returncode}")
        self.problems += [f"the server: {line}" for line in self._server.text().splitlines() if "Traceback" in line]

    # Bots

    def _bring_back(self) -> None:
        """Starts those that are not there: the steady ones at once."""
        for name, token in self._tokens.items():
            ended = name in self._bots and self._bots[name].process.poll() is not None
            if ended and name in STEADY:
                self.problems.append(f"{name} has left: {self._bots[name].text()[-1000:]}")
            if name not in self._bots or (ended and (name in STEADY or self._dice.random() < 0.5)):
                body = BODY.format(mischief=MISCHIEF.get(name, "pass"))
                leaves = ("--games", "3") if name == "leaves" else ()
                self._bots[name] = self.site.join(name, self._server.address, token, *leaves, body=body)

    def _victim(self) -> str:
        return self._dice.choice(list(MISCHIEF))

    def _kill(self) -> None:
        how = self._dice.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
        self._bots[self._victim()].process.send_signal(how)

    def _freeze(self) -> None:
        process = self._bots[self._victim()].process
        process.send_signal(signal.SIGSTOP)
        threading.Timer(5 * self._dice.random(), process.send_signal, (signal.SIGCONT,)).start()

    # The organiser and his readers

    def _challenge(self) -> None:
        pair = self._dice.sample([*STEADY, *MISCHIEF, *HOUSE], 2)
        self._command("challenge", *pair, "--games", self._dice.choice(("2", "6")))

    def _rotate(self) -> None:
        name = self._victim()
        done = self._command("token", "rotate", name, "--json")
        self._tokens[name] = json.loads(done.stdout)["token"]

    def _new_version(self) -> None:
        self._versions += 1
        retiring = self._dice.choice(((), ("--retire-old",)))
        self._command("bots", "add", "comes", "--owner", "owner-comes", "--version", str(self._versions), *retiring)

    def _retire(self) -> None:
        self._command("bots", "retire", "comes", "--version", str(self._dice.randint(1, self._versions)))

    def _decide(self) -> None:
        for step in (("freeze",), ("close", "--top", "5", "--games", "4"), ("archive",)):
            deadline = time.monotonic() + PATIENCE
            while (done := self._command("season", step[0], "season", *step[1:])).returncode:
                if time.monotonic() > deadline:
                    self.problems.append(f"season {step[0]} could not be taken: {done.stderr}")
                    return
                self._bring_back()
                time.sleep(1)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        done, dice = threading.Event(), random.Random(self._dice.random())

        def read() -> None:
            while not done.wait(0.2):
                where = dice.choice(("", self._server.address, f"unix:{self.site.folder}/s"))
                self._command(*dice.choice(READS), *(("--server", where) if where else ()), asks_server=bool(where))

        thread = threading.Thread(target=read)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _command(self, *words: str, asks_server: bool = False) -> subprocess.CompletedProcess[str]:
        """One that may be refused, or not answered where it asks the server: that may be away."""
        done = arena(*words, cwd=self.site.folder, timeout=PATIENCE)
        if done.returncode not in ((0, 2, 3) if asks_server else (0, 2)) or "Traceback" in done.stderr:
            self.problems.append(f"arena {' '.join(words)}: {done.returncode} {done.stderr[-1000:]}")
        return done
