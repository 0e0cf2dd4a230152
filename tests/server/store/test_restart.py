"""A PostgreSQL server that goes away and comes back in the middle of a tournament."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tournaments import Playing, begin, tiny_spec

from arena_engine.game import find
from arena_server.coordinator import Coordinator, Snapshot
from arena_server.model import ArenaError, Assignment, Result, UserError
from arena_server.store import Store
from arena_server.store.verify import verify


def restart(server: str, away: float = 0.0) -> None:
    """Stops it as a crash would, and starts it again."""
    data = Path(server.partition("host=")[2]) / "data"
    user = "postgres" if os.geteuid() == 0 else None
    for command in (["-m", "immediate", "stop"], ["-l", data.parent / "log", "-o", _options(data), "start"]):
        subprocess.run(
            ["pg_ctl", "-w", "-D", data, *command],
            user=user,
            cwd=data,
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=60,
        )
        time.sleep(away)


def _options(data: Path) -> str:
    return f"-k {data.parent} -c listen_addresses='' -c fsync=off"


@dataclass
class OnPaper:
    """Executor and watcher in one."""

    playing: Playing
    capacity: int = 3
    given: list[int] = field(default_factory=list)
    ended_games: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    some: asyncio.Event = field(default_factory=asyncio.Event)

    async def play(self, assignment: Assignment) -> Result:
        self.given.append(assignment.planned.number)
        await asyncio.sleep(0.5)
        return self.playing.normal(assignment)

    def stands(self, snapshot: Snapshot) -> None:
        """Nobody looks."""

    def ended(self, result: Result) -> None:
        self.ended_games.append(result.assignment.planned.number)
        self.some.set()

    def notes(self, line: str) -> None:
        self.lines.append(line)


def test_f3_a_restarted_server_is_waited_for(server: str, postgres: str) -> None:
    """No game is lost or played twice, nobody else gets in, and the command says what it waits for."""
    spec = tiny_spec(games=24)
    with Store.open(postgres) as store, store.lock(store.enter(spec).tournament) as lock:
        paper = OnPaper(Playing(store, lock, find("tiny")))

        async def main() -> None:
            coordinator = Coordinator(store, lock.tournament, find("tiny"), paper, paper)
            running = asyncio.create_task(coordinator.run())
            await paper.some.wait()
            await asyncio.to_thread(restart, server, 1.0)
            while len(paper.lines) < 2 and not running.done():
                await asyncio.sleep(0.05)
            assert not running.done()
            with Store.open(postgres) as other, pytest.raises(UserError, match="is being played by another command"):
                other.lock(other.enter(spec).tournament)
            await running

        asyncio.run(main())
        assert sorted(paper.given) == sorted(paper.ended_games) == list(range(1, 25))
        assert [line.partition(": ")[0].partition(" (")[0] for line in paper.lines[:1]] == [
            "the database refused its work"
        ]
        assert paper.lines[1].endswith(" is back")
        report = verify(store, store.enter(spec).tournament)
        assert report.ok, report.problems
        assert store.progress(lock.tournament).folded == 24


def test_whoever_takes_over_while_the_server_is_away_keeps_it(server: str, postgres: str) -> None:
    with Store.open(postgres) as store, Store.open(postgres) as other:
        playing = begin(store, tiny_spec())
        first, second, *_ = playing.results()
        store.record([first])
        restart(server)
        taken = other.lock(other.enter(tiny_spec()).tournament)
        with pytest.raises(UserError, match="is being played by another command"):
            store.record([second])
        taken.release()
        with pytest.raises(ArenaError, match="another command has taken over"):
            store.record([second])
        assert store.progress(playing.tournament).finished == 1


def test_what_was_committed_unheard_is_not_refused_the_second_time(url: str) -> None:
    with Store.open(url) as store:
        playing = begin(store, tiny_spec())
        first, second, *_ = playing.results()
        store.record([first])
        assert [one.refused for one in store.record([first, second], again=True)] == ["", ""]
        other = replace(first, duration_us=first.duration_us + 1)
        assert store.record([other], again=True)[0].refused == "game 1 is finished already"
        assert store.record([first])[0].refused == "game 1 is finished already"
        assert store.progress(playing.tournament).finished == 2
        assert verify(store, playing.tournament).ok
