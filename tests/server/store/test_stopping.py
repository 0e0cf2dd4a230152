"""A stop rule on a store: the same game stops the tournament, however its results arrive."""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tournaments import Playing, begin, go_on, patchwork_spec, tiny_spec

from arena_server.model import Assignment, Probation, Result, Spec, UserError
from arena_server.ratings.stopping import canonical
from arena_server.store import GameStatus, Recorded, Store, Tournament, queries, stopping
from arena_server.store.verify import verify

SPRT = patchwork_spec(2, 80, format="match", stop=canonical("sprt elo0=0 elo1=150 alpha=0.1 beta=0.1"))
TOP = patchwork_spec(3, 20, stop=canonical("top 1 at 80%"))
THREE_SEATS = tiny_spec(4, 18, stop=canonical("top 1 at 80%"))
PARKED = patchwork_spec(4, 20, stop=TOP.stop, probation=Probation(failures=7, share=0.6, then="forfeit"))
TAKEN_OFF = replace(PARKED, probation=replace(PARKED.probation, then="cancel"))
RULES = pytest.mark.parametrize(
    "spec",
    [SPRT, TOP, THREE_SEATS, PARKED, TAKEN_OFF],
    ids=["sprt", "top", "three seats", "parked", "taken off"],
)


def result(playing: Playing, assignment: Assignment) -> Result:
    """By forfeit, since that is quick; the first entrants are the better ones. Some are void at first."""
    planned, dice = assignment.planned, random.Random(assignment.planned.number)
    if assignment.token.attempt == 1 and dice.random() < 0.1:
        return playing.void(assignment)
    weights = [1 + 9 * seat for seat in planned.seats]
    return playing.forfeit(assignment, dice.choices(planned.letters, weights))


def play(store: Store, spec: Spec, seed: int | None, batch: int, restarts: int) -> tuple[Any, ...]:
    """What readers see of a tournament at its end; a restart forgets what was not recorded. Without a seed in order."""
    dice = random.Random(seed)
    for left in range(restarts, -1, -1):
        with (playing := begin(store, spec)).lock:
            opened = playing.assignments()
            while opened and not (left and dice.random() < 0.1):
                ahead = opened[: 4 * batch]
                chosen = ahead[:1] if seed is None else dice.sample(ahead, min(batch, len(ahead)))
                opened = [one for one in opened if one not in chosen]
                for one in store.record([result(playing, assignment) for assignment in chosen]):
                    assert not one.refused or one.needless
                    opened = [] if one.stopped else opened
                    if one.status is GameStatus.PLANNED:
                        (again,) = (each.planned for each in chosen if each.planned.number == one.number)
                        opened.insert(0, playing.assign(again, one.attempt))
            if left == 0:
                assert store.open_games(playing.tournament) == []
                store.finish(playing.tournament)
    report = verify(store, held := queries.tournament(store))
    assert report.problems == ()
    return seen(store, held)


def seen(store: Store, held: Tournament) -> tuple[Any, ...]:
    """All that may not depend on the order of arrival."""
    games = [(game.status, game.ranks) for game in queries.games(store, held, limit=1000)]
    chosen = queries.selection(store, held).games
    closed = store.closed_stages(held)
    return held.sums, held.stopped, store.standings(held), queries.crosstable(store, held), games, chosen, closed


@cache
def in_order(spec: Spec) -> tuple[Any, ...]:
    with tempfile.TemporaryDirectory() as folder, Store.open(f"{folder}/arena.db") as store:
        return play(store, spec, None, 1, 0)


@RULES
@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 12), st.integers(0, 2))
def test_batches_order_and_restarts_do_not_matter(spec: Spec, seed: int, batch: int, restarts: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(f"{folder}/arena.db") as store:
        assert play(store, spec, seed, batch, restarts) == in_order(spec)


@RULES
def test_every_database_stops_at_the_same_game(url: str, spec: Spec) -> None:
    with Store.open(url) as store:
        assert play(store, spec, 1, 7, 1) == in_order(spec)
        held = queries.tournament(store)
        progress = store.progress(held)
    assert held.stopped
    assert held.stopped % spec.seats == 0
    taken_off = 16 if spec is TAKEN_OFF else 0
    assert (progress.finished, progress.waiting, progress.open) == (held.stopped - taken_off, 0, 0)
    assert progress.cancelled == held.planned - progress.finished


def test_what_was_finished_behind_the_stop_stays_on_record_and_does_not_count(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "arena.db")) as store:
        reference = in_order(SPRT)
        stopped = reference[1]
        playing = begin(store, SPRT, name="late")
        while early := [
            one for one in playing.assignments() if one.planned.number in (*range(1, stopped), stopped + 7)
        ]:
            store.record([result(playing, one) for one in early])
        late, last = (
            next(one for one in playing.assignments() if one.planned.number == number)
            for number in (stopped + 9, stopped)
        )
        answers: list[Recorded] = []
        while not answers or not answers[-1].stopped:
            again = next(one for one in playing.assignments() if one.planned.number == stopped)
            answers = store.record([playing.normal(late), result(playing, again)])
        assert [(one.number, one.status, one.stopped) for one in answers] == [
            (stopped + 9, GameStatus.CANCELLED, True),
            (stopped, GameStatus.FINISHED, True),
        ]
        (refused,) = store.record([playing.normal(playing.assign(last.planned))])
        assert (refused.stopped, refused.refused) == (True, f"game {stopped} is finished already")
        held = queries.tournament(store)
        assert seen(store, held)[:4] == reference[:4]
        assert store.progress(held).finished == stopped
        assert verify(store, held).problems == ()
        assert [record for record, _ in queries.played(store, held)] == list(queries.export(store, held))
        for number in (stopped + 7, stopped + 9):
            assert queries.record(store, queries.find_game(store, f"late/{number}")).number == number
        assert [game.number for game in queries.export(store, held)] == list(range(1, stopped + 1))
        everything = {game.number for game in queries.export(store, held, all_attempts=True)}
        assert everything == {*range(1, stopped + 1), stopped + 7, stopped + 9}


@pytest.mark.parametrize(
    ("edit", "game"),
    [
        ("UPDATE game SET status = 'planned' WHERE number = {after}", True),
        ("UPDATE game SET attempt = attempt + 1 WHERE number = {after}", True),
        ("UPDATE game SET ending = 'abandoned' WHERE number = {after}", True),
        ("UPDATE game SET status = 'cancelled' WHERE number = {last}", True),
        ("UPDATE tournament SET stopped = stopped + 2", False),
        ("UPDATE tournament SET stopped = NULL", False),
        ("UPDATE tournament SET sums = NULL", False),
        ("""UPDATE tournament SET sums = replace(sums, '"pairings": ', '"pairings": 1')""", False),
    ],
)
def test_an_edited_stop_is_found(stopped: Store, edit: str, game: bool) -> None:  # noqa: FBT001 - a parameter
    held = queries.tournament(stopped)
    assert held.stopped is not None
    with stopped.database.write() as connection:
        connection.exec_driver_sql(edit.format(last=held.stopped, after=held.stopped + 1))
    report = verify(stopped, queries.tournament(stopped))
    assert not report.ok
    assert (report.first is not None and report.first.number > 0) == game


@pytest.fixture
def stopped(store: Store) -> Store:
    play(store, SPRT, 3, 8, 0)
    return store


def finish(store: Store, name: str) -> Tournament:
    """Plays what is open, stage after stage."""
    with store.lock(queries.tournament(store, name)) as lock:
        while opened := (playing := go_on(store, lock)).assignments():
            store.record([result(playing, one) for one in opened])
        store.finish(lock.tournament)
    held = queries.tournament(store, name)
    assert verify(store, held).problems == ()
    return held


def extend(store: Store, spec: Spec, name: str) -> None:
    with store.lock(store.to_extend(spec, name=name).tournament) as lock:
        store.extend(lock.tournament, spec)


def test_undecided_it_can_be_given_more_games_but_no_more_bots(store: Store) -> None:
    """And then it stops where it would have stopped."""
    begin(store, replace(SPRT, games=4), name="short").lock.release()
    held = finish(store, "short")
    assert held.stopped is None
    assert stopping.told(held).startswith("undecided after 4 games: LLR ")
    with pytest.raises(UserError, match="cannot be extended so"):
        extend(store, replace(SPRT, stop=None), "short")
    extend(store, SPRT, "short")
    assert (finish(store, "short").sums, held.stopped) == (in_order(SPRT)[0], None)
    with pytest.raises(UserError, match="tournament short was stopped: what it asked is known"):
        extend(store, replace(SPRT, games=SPRT.games + 2), "short")
    begin(store, TOP, name="three").lock.release()
    with pytest.raises(UserError, match="can get more games, and nothing else"):
        extend(store, replace(TOP, entrants=patchwork_spec(4).entrants), "three")


def test_the_best_are_asked_for_also_where_one_was_taken_out(store: Store) -> None:
    spec = patchwork_spec(4, 40, stop=canonical("top 1 at 80%"))
    with (playing := begin(store, spec, name="cup")).lock:
        store.record([result(playing, one) for one in playing.assignments()[:17]])
        store.withdraw(playing.tournament, 3)
    assert verify(store, queries.tournament(store, "cup")).problems == ()
    held = finish(store, "cup")
    assert held.stopped
    assert held.sums is not None
    assert held.sums["best"] == [0]


def test_a_decided_question_is_told(stopped: Store) -> None:
    held = queries.tournament(stopped)
    assert stopping.told(held).startswith(
        f"stopped after game {held.stopped}: bot0 1.0 is better than bot1 1.0: Elo 150"
    )
    assert (stopping.as_dict(held) or {})["verdict"] == "better"
    assert stopped.question(held) == stopping.told(held)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (replace(SPRT, format="swiss", rounds=1), "a swiss cannot stop early"),
        (patchwork_spec(3, 2, stop=SPRT.stop), "a sequential test is between two bots, in a game of two seats"),
        (tiny_spec(3, 3, stop=SPRT.stop), "3 bots, 3 seats"),
        (patchwork_spec(3, 2, stop="top 3 at 95%"), "no such number of best bots"),
    ],
)
def test_what_cannot_be_asked_is_refused(spec: Spec, told: str) -> None:
    with pytest.raises(UserError, match=told):
        stopping.rule_of(spec)
