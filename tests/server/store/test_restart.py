"""A PostgreSQL server that goes away and comes back in the middle of a tournament."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg
import pytest
from deaf import Deaf
from tournaments import Playing, begin, patchwork_spec, tiny_spec

from arena_engine.game import find
from arena_server.coordinator import Coordinator, Snapshot
from arena_server.executors import Running
from arena_server.formats.season import Call
from arena_server.model import ArenaError, Assignment, Ending, Pairing, Result, UserError
from arena_server.store import Store, queries
from arena_server.store.dealing import shuffled
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


LAST = 24
"""The game that goes on until all has been looked at."""


@dataclass
class OnPaper:
    """Executor and watcher in one."""

    playing: Playing
    capacity: int = 3
    given: list[int] = field(default_factory=list)
    ended_games: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    some: asyncio.Event = field(default_factory=asyncio.Event)
    may_end: asyncio.Event = field(default_factory=asyncio.Event)

    def running(self) -> list[Running]:
        return []

    async def play(self, assignment: Assignment) -> Result:
        self.given.append(assignment.planned.number)
        await (self.may_end.wait() if assignment.planned.number == LAST else asyncio.sleep(0.5))
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
    spec = tiny_spec(games=LAST)
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
            paper.may_end.set()
            await running

        asyncio.run(main())
        assert sorted(paper.given) == sorted(paper.ended_games) == list(range(1, LAST + 1))
        assert [line.partition(": ")[0].partition(" (")[0] for line in paper.lines[:1]] == [
            "the database refused its work"
        ]
        assert paper.lines[1].endswith(" is back")
        report = verify(store, store.enter(spec).tournament)
        assert report.ok, report.problems
        assert store.progress(lock.tournament).folded == LAST


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


def test_a_lock_that_another_has_by_now_is_given_back_without_a_word(server: str, postgres: str) -> None:
    with Store.open(postgres) as store, Store.open(postgres) as other:
        playing = begin(store, tiny_spec())
        restart(server)
        with other.lock(other.enter(tiny_spec()).tournament):
            with pytest.raises(UserError, match="is being played by another command"), playing.lock:
                store.record(playing.results()[:1])
            assert not playing.lock.is_held


def test_several_recorders_that_find_their_connection_lost_at_once_agree(postgres: str) -> None:
    """Whatever a server plays has a recorder of its own, and each takes all locks again before it writes."""
    with Store.open(postgres) as store, ThreadPoolExecutor(4) as recorders:
        store.hold_site()
        playing = begin(store, tiny_spec())
        for _ in range(5):
            with psycopg.connect(postgres, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON oid = database"
                    " WHERE locktype = 'advisory' AND datname = current_database()"
                )
            barrier = threading.Barrier(4)

            def hold(barrier: threading.Barrier = barrier) -> None:
                barrier.wait()
                store.hold()

            for held in [recorders.submit(hold) for _ in range(4)]:
                held.result()
        assert not store.record(playing.results())[0].refused


def test_a_stage_that_was_committed_unheard_is_not_planned_twice(url: str) -> None:
    with Store.open(url) as store:
        cup = begin(store, tiny_spec()).tournament
        stage = (cup, 2, [Pairing((0, 1, 2)), Pairing((1, 0, 2))], [{"order": "abc"}, {"order": "bca"}])
        for again in (True, True):  # the first time it is not there yet
            store.add_stage(*stage, again=again)
        assert [planned.number for planned, _ in store.open_games(cup)] == list(range(1, 13))
        for other in ((*stage[:3], stage[3][::-1]), (*stage[:2], stage[2][::-1], stage[3])):
            with pytest.raises(ArenaError, match=r"stage 2 .* cannot follow stage 2"):
                store.add_stage(*other, again=True)
        with pytest.raises(ArenaError, match=r"stage 2 .* cannot follow stage 2"):
            store.add_stage(*stage)


def test_a_connection_lost_during_the_commit_of_a_stage_costs_nothing(
    postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The stage is there, and nobody heard of it."""
    spec = patchwork_spec(4, 2, format="swiss", rounds=2)
    proxy = Deaf(postgres, tmp_path_factory.mktemp("p"), b"INSERT INTO game")
    with proxy as url, Store.open(url) as store, store.lock(store.enter(spec).tournament) as lock:
        paper = OnPaper(Playing(store, lock, find("patchwork")))

        async def main() -> None:
            await Coordinator(store, lock.tournament, find("patchwork"), paper, paper).run()

        asyncio.run(main())
        assert proxy.lost
        assert len(paper.lines) == 2
        assert sorted(paper.given) == list(range(1, 9))
        report = verify(store, store.enter(spec).tournament)
        assert report.ok, report.problems


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


def test_whom_a_commit_has_parked_unheard_the_second_time_tells(url: str) -> None:
    """By either game of a pairing: what a server plays counts once both are over."""
    for spec in (tiny_spec(4, 24), replace(patchwork_spec(4, 6, seed=None), format="season", games=2)):
        with Store.open(url) as store:
            playing = Playing(store, store.lock(store.enter(spec, new=True).tournament), find(spec.game))
            pairings = [Pairing(tuple(range(spec.seats)))] * 2
            given = shuffled(playing.tournament.at(1), playing.game, 1, [spec.deals] * 2)
            store.add_stage(playing.tournament, 1, pairings, given, call=Call(1, 0, ()))
            failed = [
                playing.forfeit(one, one.planned.letters[one.planned.seats.index(0)], Ending.START_FAILURE, plies=0)
                for one in playing.assignments()
            ]
            for results in (failed[3:], failed[:2], failed[2:3]):
                told = [one.parked for one in store.record(results)]
                assert [one.parked for one in store.record(results, again=True)] == told
            assert [(one.entrant, one.number) for one in told[-1]] == [(0, 3)]


def test_what_was_begun_or_ended_unheard_is_not_done_twice(url: str) -> None:
    with Store.open(url) as store, store.lock(store.enter(tiny_spec(4)).tournament) as lock:
        for again in (True, True):  # the first time it is not there yet
            store.begin_run(lock.tournament, {"pid": 1}, again=again)
            held = store.withdraw(lock.tournament, 2, again=again)
        assert [run.facts for run in queries.runs(store, held)] == [{"pid": 1}]
        assert (len(held.terms), [entrant for entrant, _ in held.spec.withdrawn]) == (2, [2])
        with pytest.raises(UserError, match="withdrawn already"):
            store.withdraw(lock.tournament, 2)
