"""What is recorded, in which order ever, and what is refused."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from sqlalchemy import text
from tournaments import Playing, begin, patchwork_spec, tiny_spec

from arena_server.model import FAILURES, MAX_ATTEMPTS, ArenaError, Ending, Pairing, Probation, Result, Token, UserError
from arena_server.store import GameStatus, Standing, Status, Store, queries
from arena_server.store.verify import verify
from arena_server.store.views import Remarks


def board(playing: Playing) -> list[Standing]:
    return playing.store.standings(playing.tournament)


def record(playing: Playing, results: list[Result], batch: int = 7) -> None:
    for start in range(0, len(results), batch):
        for one in playing.store.record(results[start : start + batch]):
            assert not one.refused


def test_a_stage_is_planned_with_every_rotation(url: str) -> None:
    with Store.open(url) as store:
        playing = begin(store, tiny_spec(bots=4, games=3))
        games = [planned for planned, _ in store.open_games(playing.tournament)]
        assert [game.number for game in games] == list(range(1, 13))
        assert [game.pairing for game in games] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
        assert [game.seats for game in games[:3]] == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
        assert len({tuple(game.deal.items()) for game in games[:3]}) == 1
        assert store.closed_stages(playing.tournament) == ()
        record(playing, playing.results())
        (stage,) = store.closed_stages(playing.tournament)
        assert stage.number == 1
        assert stage.pairings[0] == Pairing((0, 1, 2))
        assert len(stage.pairings) == 4
        assert store.open_games(playing.tournament) == []


def test_a_stage_is_planned_once(store: Store) -> None:
    playing = begin(store, tiny_spec())
    with pytest.raises(ArenaError, match=r"stage 1 .* cannot follow stage 1"):
        store.add_stage(playing.tournament, 1, [Pairing((0, 1, 2))], [{"order": "abc"}])
    store.add_stage(playing.tournament, 2, [Pairing((0, 1, 2))], [{"order": "abc"}])
    assert store.open_games(playing.tournament)[-1][0].number == 9


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_recording_gives_the_same_table(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    boards, heads = [], set()
    for shuffled in (False, True):
        with Store.open(str(tmp_path_factory.mktemp("db") / "arena.db")) as store:
            playing = begin(store, tiny_spec(bots=5, games=6))
            results = playing.results()
            if shuffled:
                random.Random(seed).shuffle(results)
            record(playing, results, batch=1 + seed if shuffled else 8)
            boards.append(board(playing))
            heads.add(store.enter(playing.spec).tournament.chain_head)
            assert verify(store, playing.tournament).ok
    assert boards[0] == boards[1]
    assert len(heads) == 2


def test_both_databases_give_the_same_bits(store: Store, postgres: str) -> None:
    with Store.open(postgres) as other:
        boards = []
        for one in (store, other):
            playing = begin(one, patchwork_spec(games=6))
            record(playing, playing.results())
            boards.append(board(playing))
    assert boards[0] == boards[1]


def test_ratings_wait_for_earlier_games(url: str) -> None:
    with Store.open(url) as store:
        playing = begin(store, tiny_spec(games=9))
        results = playing.results()
        record(playing, results[3:])
        progress = store.progress(playing.tournament)
        assert (progress.planned, progress.finished, progress.folded, progress.waiting) == (9, 6, 0, 6)
        assert all(standing.games == 0 for standing in board(playing))
        record(playing, results[:3])
        assert store.progress(playing.tournament).waiting == 0
        assert all(standing.games == 9 for standing in board(playing))


PLAYED_FAILURES = [ending for ending in FAILURES if ending is not Ending.FORFEIT]
"""A forfeit is the store's own: no result that is given to it."""


@pytest.mark.parametrize("ending", [*PLAYED_FAILURES, Ending.NORMAL, Ending.VOID, Ending.ABANDONED])
def test_r18_whatever_ends_a_game_its_transaction_rates_all_that_became_contiguous(
    store: Store, ending: Ending
) -> None:
    """Later games wait for the first; the one transaction that closes it folds them all, and a void one none."""
    playing = begin(store, tiny_spec(games=6))
    first, *rest = playing.assignments()
    record(playing, [playing.normal(one) for one in rest])
    for attempt in range(1, MAX_ATTEMPTS if ending is Ending.ABANDONED else 1):
        record(playing, [playing.void(replace(first, token=Token(first.token.epoch, attempt)))])
        first = replace(first, token=Token(first.token.epoch, attempt + 1))
    assert store.progress(playing.tournament).folded == 0
    if ending in FAILURES:
        result = playing.forfeit(first, "a", ending)
    else:
        result = playing.normal(first) if ending is Ending.NORMAL else playing.void(first)
    record(playing, [result])
    folded = 0 if ending is Ending.VOID else 5 if ending is Ending.ABANDONED else 6
    assert store.progress(playing.tournament).folded == folded
    assert [standing.games for standing in board(playing)] == [folded] * 3
    assert verify(store, playing.tournament).ok


def test_r18_the_transaction_that_parks_a_bot_rates_the_games_that_it_forfeits(store: Store) -> None:
    playing = begin(store, tiny_spec(games=6, probation=Probation(failures=1, share=0)))
    first, second, *rest = playing.assignments()
    record(playing, [playing.normal(one) for one in rest[1:]])
    record(playing, [playing.forfeit(first, "a", Ending.CRASH)])
    forfeits = [one.number for one in queries.games(store, playing.tournament) if one.ending == Ending.FORFEIT]
    assert forfeits == [2, 3, 4, 5, 6]
    assert [standing.games for standing in board(playing)] == [6] * 3
    assert store.progress(playing.tournament).folded == 6
    assert store.record([playing.normal(second)])[0].needless
    assert verify(store, playing.tournament).ok


def test_forfeits_count_as_losses_without_margin(store: Store) -> None:
    playing = begin(store, patchwork_spec(bots=2, games=4))
    first, *rest = playing.assignments()
    record(playing, [playing.forfeit(first, "b", Ending.ILLEGAL_MOVE), *map(playing.normal, rest)])
    blamed = next(row for row in board(playing) if row.failures)
    assert blamed.entrant.name == "bot1"
    assert blamed.failures == {Ending.ILLEGAL_MOVE: 1}
    margins = []
    for result in map(playing.normal, rest):
        assert result.outcome is not None
        points = dict(zip(result.assignment.planned.seats, result.outcome.scores, strict=True))
        margins.append(points[1] - points[0])
    assert blamed.margin == sum(margins) / 3


def test_a_void_game_is_played_again_and_abandoned_in_the_end(url: str) -> None:
    with Store.open(url) as store:
        playing = begin(store, tiny_spec())
        for attempt in range(1, MAX_ATTEMPTS + 1):
            assignment = playing.assignments()[0]
            assert assignment.token.attempt == attempt
            (recorded,) = store.record([playing.void(assignment)])
            expected = GameStatus.ABANDONED if attempt == MAX_ATTEMPTS else GameStatus.PLANNED
            assert recorded.status is expected
        record(playing, playing.results())
        progress = store.progress(playing.tournament)
        assert (progress.abandoned, progress.finished, progress.folded, progress.open) == (1, 5, 5, 0)
        assert all(row.games == 5 for row in board(playing))
        assert verify(store, playing.tournament).ok


def test_f17_a_game_that_cannot_be_calculated_is_rated_approximately_and_says_so(url: str) -> None:
    with Store.open(url) as store:
        playing = begin(store, patchwork_spec(bots=2, games=4))
        upset, *rest = playing.assignments()
        with store.database.write() as connection:  # no tournament drifts so far apart in a test's time
            connection.execute(text("UPDATE entrant SET mu = 425 - 400 * position, sigma = 1"))
        favourite = upset.planned.letters[upset.planned.seats.index(0)]
        record(playing, [playing.forfeit(upset, favourite)])
        shown = queries.leaderboard(store, playing.tournament)
        assert shown.progress.folded == 1
        assert shown.remarks == Remarks(approximated=(1,))
        assert shown.remarks.lines[0].endswith("so huge a gap: game 1")
        assert all(25 < standing.mu < 425 and standing.games == 1 for standing in shown.standings)
        record(playing, [playing.normal(one) for one in rest])
        assert store.progress(playing.tournament).folded == 4


def test_games_that_are_given_up_are_named() -> None:
    assert Remarks((3,)).lines == ["abandoned after void attempts, rated for nobody: game 3"]
    many = Remarks(tuple(range(1, 100)))
    assert many.lines[0].endswith(": games 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 89 more")


def test_r15_a_restarted_coordinator_goes_on_and_what_the_dead_one_gave_out_is_refused(store: Store) -> None:
    playing = begin(store, tiny_spec())
    stale = playing.results()
    playing.lock.release()
    again = begin(store, tiny_spec())
    assert again.tournament.epoch == 2
    for one in store.record(stale):
        assert one.refused == "given out in epoch 1, now is 2"
        assert one.status is GameStatus.PLANNED
    with pytest.raises(ArenaError, match="another command has taken over"):
        store.add_stage(playing.tournament, 2, [Pairing((0, 1, 2))], [{"order": "abc"}])
    record(again, again.results())


def test_r16_a_result_reported_twice_counts_once(store: Store) -> None:
    playing = begin(store, tiny_spec())
    first, second, *_ = playing.results()
    answers = store.record([first, first, second])
    assert [answer.refused for answer in answers] == ["", "game 1 is finished already", ""]
    before = board(playing)
    assert store.record([first])[0].refused == "game 1 is finished already"
    assert board(playing) == before


def test_only_the_next_attempt_is_taken(store: Store) -> None:
    playing = begin(store, tiny_spec())
    result = playing.results()[0]
    epoch = playing.tournament.epoch
    early = replace(result, assignment=replace(result.assignment, token=Token(epoch, 2)))
    assert store.record([early])[0].refused == "attempt 2 of game 1, where 1 is the next"
    store.record([playing.void(result.assignment)])
    assert store.record([result])[0].refused == "attempt 1 of game 1, where 2 is the next"
    nowhere = replace(
        result, assignment=replace(result.assignment, planned=replace(result.assignment.planned, number=99))
    )
    assert store.record([nowhere])[0].refused == "there is no game 99"


def test_nothing_is_recorded_nowhere(store: Store) -> None:
    assert store.record([]) == []
    playing = begin(store, tiny_spec())
    result = playing.results()[0]
    planned = replace(result.assignment.planned, tournament="elsewhere")
    with pytest.raises(UserError, match="no such tournament in this database: elsewhere"):
        store.record([replace(result, assignment=replace(result.assignment, planned=planned))])


def test_a_finished_tournament_says_so(store: Store) -> None:
    playing = begin(store, tiny_spec())
    assert playing.tournament.status is Status.RUNNING
    record(playing, playing.results())
    store.finish(playing.tournament)
    first = store.enter(playing.spec).tournament
    store.finish(playing.tournament)
    assert first.status is Status.FINISHED
    assert first.finished is not None
    assert store.enter(playing.spec).tournament == first


def test_r17_eight_writers_never_meet_a_locked_database(url: str) -> None:
    """Each plays its own tournament in the same database."""
    errors: list[BaseException] = []

    def play(place: int) -> None:
        try:
            with Store.open(url) as store:
                playing = begin(store, tiny_spec(games=12), name=f"t{place}")
                record(playing, playing.results(), batch=1)
                assert store.progress(playing.tournament).folded == 12
        except BaseException as error:
            errors.append(error)
            raise

    Store.open(url).close()
    threads = [threading.Thread(target=play, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_writers_of_one_tournament_record_each_game_once(store: Store) -> None:
    """A result delivered twice, by two threads at the same time."""
    playing = begin(store, tiny_spec(games=24))
    results = playing.results()
    answers: list[str] = []

    def deliver(order: list[Result]) -> None:
        for result in order:
            answers.extend(one.refused for one in store.record([result]))

    threads = [threading.Thread(target=deliver, args=(order,)) for order in (results, results[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.count("") == 24
    assert len(answers) == 48
    assert verify(store, playing.tournament).ok


_KILLED = """
import os, sys
from tournaments import begin, tiny_spec
from arena_server.store import Store
playing = begin(Store.open(sys.argv[1]), tiny_spec(games=30))
results = playing.results()
for at, result in enumerate(results):
    if at == 17:
        os.kill(os.getpid(), 9)
    playing.store.record([result])
    print(at + 1, flush=True)
"""


def test_a_killed_command_loses_nothing_it_reported(sqlite: str, request: pytest.FixtureRequest) -> None:
    support = str(request.config.rootpath / "tests" / "support")
    killed = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {support!r})\n{_KILLED}", sqlite],
        capture_output=True,
        text=True,
        check=False,
    )
    assert killed.returncode == -9, killed.stderr
    assert killed.stdout.split()[-1] == "17"
    with Store.open(sqlite) as store:
        playing = begin(store, tiny_spec(games=30))
        assert store.progress(playing.tournament).finished == 17
        record(playing, playing.results())
        resumed = board(playing)
        assert verify(store, playing.tournament).ok
    with Store.open(f"{sqlite}.whole") as store:
        playing = begin(store, tiny_spec(games=30))
        record(playing, playing.results())
        assert board(playing) == resumed


def test_commits_are_as_durable_as_sqlite_can(store: Store, sqlite: str) -> None:
    with store.database.write() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            sqlite3.connect(sqlite, timeout=0).execute("BEGIN IMMEDIATE")
