"""The coordinator over a real store, with an executor that plays on paper."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
import tiny_game
from hypothesis import given, settings
from hypothesis import strategies as st
from on_paper import Paper, Watcher
from tournaments import patchwork_spec, tiny_spec

from arena_engine.game import find
from arena_server.coordinator import Coordinator, Interrupted
from arena_server.model import ArenaError, Assignment, Ending, Probation, Spec
from arena_server.store import Store, queries
from arena_server.store.verify import verify


def run(path: Path, spec: Spec, executor: Paper, stop_after: float | None = None) -> Watcher:
    """Plays what is open of a tournament, as one command does."""
    watcher = Watcher()
    with Store.open(str(path)) as store, store.lock(store.enter(spec).tournament) as lock:

        async def main() -> None:
            coordinator = Coordinator(store, lock.tournament, executor.game, executor, watcher)
            if stop_after is not None:
                asyncio.get_running_loop().call_later(stop_after, coordinator.stop)
            await coordinator.run()

        asyncio.run(main())
    return watcher


def check(path: Path, spec: Spec) -> list[tuple[str, float, int, int, int]]:
    """Verifies the tournament and gives its table."""
    with Store.open(str(path)) as store:
        tournament = store.enter(spec).tournament
        report = verify(store, tournament)
        assert report.ok, report
        return [(row.entrant.name, row.mu, row.wins, row.losses, row.draws) for row in store.standings(tournament)]


@pytest.mark.parametrize("spec", [patchwork_spec(), tiny_spec()], ids=["patchwork", "tiny"])
def test_any_number_of_games_at_once_gives_the_same_ratings(tmp_path: Path, spec: Spec) -> None:
    tables = []
    for capacity in (1, 3, 8):
        executor = Paper(find(spec.game), capacity)
        watcher = run(tmp_path / f"{capacity}.db", spec, executor)
        assert executor.most == capacity or executor.most == len(executor.given)
        assert len({number for number, _ in executor.given}) == len(executor.given) == len(watcher.results)
        assert watcher.last is not None
        assert watcher.last.progress.open == 0
        tables.append(check(tmp_path / f"{capacity}.db", spec))
    assert tables[0] == tables[1] == tables[2]


def test_a_void_game_is_played_again_alone_with_the_same_deal(tmp_path: Path) -> None:
    spec = patchwork_spec()

    def rule(assignment: Assignment) -> Ending:
        void = assignment.planned.number in (2, 5) and assignment.token.attempt == 1
        return Ending.VOID if void else Ending.NORMAL

    executor = Paper(find("patchwork"), 4, rule)
    watcher = run(tmp_path / "voids.db", spec, executor)
    assert Counter(number for number, _ in executor.given)[2] == 2
    assert executor.beside_alone == 0
    deals = {(result.assignment.planned.number, str(result.assignment.planned.deal)) for result in watcher.results}
    assert len(deals) == 12
    run(tmp_path / "quiet.db", spec, Paper(find("patchwork"), 4))
    assert check(tmp_path / "voids.db", spec) == check(tmp_path / "quiet.db", spec)


def test_three_voids_abandon_a_game_and_the_event_goes_on(tmp_path: Path) -> None:
    spec = patchwork_spec()
    executor = Paper(find("patchwork"), 4, lambda given: Ending.VOID if given.planned.number == 3 else Ending.NORMAL)
    watcher = run(tmp_path / "a.db", spec, executor)
    assert [attempt for number, attempt in executor.given if number == 3] == [1, 2, 3]
    assert watcher.last is not None
    assert watcher.last.progress.abandoned == 1
    assert watcher.last.progress.folded == 11
    check(tmp_path / "a.db", spec)


def endings(path: Path, spec: Spec) -> list[tuple[int, str, Ending | None]]:
    with Store.open(str(path)) as store:
        return [(one.number, one.status, one.ending) for one in queries.games(store, store.enter(spec).tournament)]


@pytest.mark.parametrize("spec", [patchwork_spec(games=10), tiny_spec(games=30)], ids=["patchwork", "tiny"])
def test_a_bot_that_never_starts_is_parked(tmp_path: Path, spec: Spec) -> None:
    def rule(assignment: Assignment) -> Ending:
        return Ending.START_FAILURE if 0 in assignment.planned.seats else Ending.NORMAL

    executor = Paper(find(spec.game), 1, rule)
    watcher = run(tmp_path / "a.db", spec, executor)
    kinds = Counter(ending for *_, ending in endings(tmp_path / "a.db", spec))
    assert kinds[Ending.START_FAILURE] == 3
    assert kinds[Ending.FORFEIT] + kinds[Ending.NORMAL] == kinds.total() - 3
    assert len(executor.given) < kinds.total()  # not all were tried
    assert [line for line in watcher.lines if "bot0 1.0 is parked" in line] == watcher.lines
    assert len(watcher.lines) == 1
    assert "did not start 3 times in a row" in watcher.lines[0]
    assert watcher.last is not None
    assert watcher.last.progress.open == 0
    assert watcher.last.standings[-1].losses == watcher.last.standings[-1].games
    check(tmp_path / "a.db", spec)


@pytest.mark.parametrize(
    "spec",
    [
        patchwork_spec(4, games=10, probation=Probation(failures=2)),
        patchwork_spec(4, games=10, probation=Probation(failures=2, then="cancel")),
        patchwork_spec(5, 2, format="swiss", rounds=4, probation=Probation(failures=1)),
    ],
    ids=["forfeit", "cancel", "swiss"],
)
def test_a_parked_bot_loses_the_same_games_however_it_is_played(tmp_path: Path, spec: Spec) -> None:
    """At any number of games at once, and stopped on the way."""

    def rule(assignment: Assignment) -> Ending:
        failing = 0 in assignment.planned.seats and assignment.planned.number % 3 == 0
        return Ending.START_FAILURE if failing else Ending.NORMAL

    for capacity in (1, 8):
        run(tmp_path / f"{capacity}.db", spec, Paper(find(spec.game), capacity, rule))
    stops = 0
    while True:
        try:
            run(tmp_path / "torn.db", spec, Paper(find(spec.game), 3, rule), stop_after=0.2)
            break
        except Interrupted:
            stops += 1
    assert stops
    tables = [(check(path, spec), endings(path, spec)) for path in sorted(tmp_path.glob("*.db"))]
    assert tables[0] == tables[1] == tables[2]
    assert any(ending is Ending.FORFEIT or status == "cancelled" for _, status, ending in tables[0][1])


def test_a_bot_that_fails_now_and_then_is_not_parked(tmp_path: Path) -> None:
    def rule(assignment: Assignment) -> Ending:
        return Ending.START_FAILURE if assignment.planned.seats[0] == 0 else Ending.NORMAL

    watcher = run(tmp_path / "a.db", patchwork_spec(games=10), Paper(find("patchwork"), 1, rule))
    assert not watcher.lines
    assert len(watcher.results) == 30


def test_stopped_and_run_again_it_ends_as_if_never_stopped(tmp_path: Path) -> None:
    spec = patchwork_spec(games=20)
    run(tmp_path / "whole.db", spec, Paper(find("patchwork"), 2))
    executor = Paper(find("patchwork"), 2)
    stops = 0
    while True:
        try:
            run(tmp_path / "torn.db", spec, executor, stop_after=0.1)
            break
        except Interrupted:
            stops += 1
    assert stops
    assert len(executor.given) == len(set(executor.given)) == 60  # none lost, none twice
    assert check(tmp_path / "torn.db", spec) == check(tmp_path / "whole.db", spec)


@pytest.mark.parametrize(
    "spec",
    [
        patchwork_spec(5, 2, format="swiss", rounds=4),
        patchwork_spec(4, 2, format="double-elimination"),
        tiny_spec(5, 3, format="ladder", rounds=5),
    ],
    ids=lambda spec: spec.format,
)
def test_formats_in_stages_go_on_where_they_were(tmp_path: Path, spec: Spec) -> None:
    """Stopped, with a game abandoned, and at any number of games at once: the same plan, results and ratings."""

    def rule(assignment: Assignment) -> Ending:
        return Ending.VOID if assignment.planned.number == 2 else Ending.NORMAL

    whole = Paper(find(spec.game), 3, rule)
    run(tmp_path / "whole.db", spec, whole)
    torn = Paper(find(spec.game), 1, rule)
    stops = 0
    while True:
        try:
            run(tmp_path / "torn.db", spec, torn, stop_after=0.25)
            break
        except Interrupted:
            stops += 1
    assert stops
    assert sorted(torn.given) == sorted(whole.given)
    assert check(tmp_path / "torn.db", spec) == check(tmp_path / "whole.db", spec)
    with Store.open(str(tmp_path / "torn.db")) as store:
        stages = store.closed_stages(store.enter(spec).tournament)
    assert len(stages) >= 4
    assert [stage.number for stage in stages] == list(range(1, len(stages) + 1))
    assert len(stages[0].results[0]) == spec.seats - 1
    with closing(sqlite3.connect(tmp_path / "torn.db")) as torn_database, torn_database:
        torn_database.execute("update seat set rank = 4 - rank where number = 1")
    with Store.open(str(tmp_path / "torn.db")) as store:
        report = verify(store, store.enter(spec).tournament)
    assert [problem.number for problem in report.problems] == [1]  # not also the rounds that followed from it


def test_an_executor_that_cannot_play_stops_the_run(tmp_path: Path) -> None:
    def broken(assignment: Assignment) -> Ending:
        if assignment.planned.number == 4:
            raise ArenaError("no more machines")
        return Ending.NORMAL

    with pytest.raises(ArenaError, match="no more machines"):
        run(tmp_path / "a.db", patchwork_spec(), Paper(find("patchwork"), 2, broken))
    run(tmp_path / "a.db", patchwork_spec(), Paper(find("patchwork"), 2))
    check(tmp_path / "a.db", patchwork_spec())


@settings(max_examples=15)
@given(st.integers(1, 9), st.dictionaries(st.integers(1, 12), st.integers(1, 3), max_size=4), st.randoms())
def test_whatever_is_void(
    tmp_path_factory: pytest.TempPathFactory, capacity: int, voids: dict[int, int], dice: random.Random
) -> None:
    """Every planned game is rated once or abandoned after three voids, whatever the order they end in."""
    spec = tiny_spec(bots=4, games=3)

    def rule(assignment: Assignment) -> Ending:
        void = assignment.token.attempt <= voids.get(assignment.planned.number, 0)
        return Ending.VOID if void else Ending.NORMAL

    executor = Paper(tiny_game.GAME, capacity, rule)
    executor.dice = dice
    path = tmp_path_factory.mktemp("voids") / "a.db"
    watcher = run(path, spec, executor)
    assert watcher.last is not None
    progress = watcher.last.progress
    lost = sum(1 for number, count in voids.items() if count == 3 and number <= progress.planned)
    assert progress.abandoned == lost
    assert progress.folded == progress.planned - lost
    assert executor.beside_alone == 0
    check(path, spec)
