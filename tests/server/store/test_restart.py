"""A PostgreSQL server that goes away and comes back in the middle of a tournament."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg
import pytest
from tournaments import Playing, begin, patchwork_spec, tiny_spec

from arena_engine.game import find
from arena_server.coordinator import Coordinator, Snapshot
from arena_server.executors import Running
from arena_server.model import ArenaError, Assignment, Pairing, Result, UserError
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


@dataclass
class Deaf:
    """A proxy in front of the server's socket: once, the answer to the commit of a stage's games does not come through.

    Attributes:
        planning: whether that commit is on its way.
        lost: whether it has happened.
    """

    target: Path
    folder: Path
    planning: bool = False
    lost: bool = False

    def serve(self) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / self.target.name))
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(str(self.target))
            answers = threading.Thread(target=self._pump, args=(server, client), daemon=True)
            answers.start()
            self._pump(client, server)
            answers.join()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self.planning |= b"INSERT INTO game" in data
                if self.planning and not self.lost and b"C\0\0\0\x0bCOMMIT\0" in data:  # the server's answer
                    self.lost = True
                    break
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def test_a_connection_lost_during_the_commit_of_a_stage_costs_nothing(
    server: str, postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The stage is there, and nobody heard of it."""
    spec = patchwork_spec(4, 2, format="swiss", rounds=2)
    proxy = Deaf(Path(server.partition("host=")[2]) / ".s.PGSQL.5432", tmp_path_factory.mktemp("p"))
    proxy.serve()
    url = f"{postgres.partition('host=')[0]}host={proxy.folder}"
    with Store.open(url) as store, store.lock(store.enter(spec).tournament) as lock:
        paper = OnPaper(Playing(store, lock, find("patchwork")))

        async def main() -> None:
            await Coordinator(store, lock.tournament, find("patchwork"), paper, paper).run()

        asyncio.run(main())
        assert proxy.lost
        assert len(paper.lines) == 2
        assert sorted(paper.given) == list(range(1, 9))
        report = verify(store, store.enter(spec).tournament)
        assert report.ok, report.problems
    proxy.close()


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
