"""Bots that fail too often are parked after the same game, however the games were played and recorded."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from tournaments import Playing, begin, go_on, patchwork_spec, tiny_spec

from arena_server.formats import plan
from arena_server.model import Assignment, Ending, Probation, Result, Spec, UserError
from arena_server.store import GameStatus, Standing, Store, queries
from arena_server.store.verify import verify

Script = Mapping[int, Mapping[int, Ending]]
"""What entrants do wrong, by game number."""


@dataclass(frozen=True)
class Table:
    """What must be the same however a tournament was played."""

    games: list[tuple[object, ...]]
    board: list[Standing]


def result(playing: Playing, assignment: Assignment, script: Script) -> Result:
    planned = assignment.planned
    failing = {
        letter: script[planned.number][entrant]
        for letter, entrant in zip(planned.letters, planned.seats, strict=True)
        if entrant in script.get(planned.number, {})
    }
    if not failing:
        return playing.normal(assignment)
    return playing.forfeit(assignment, list(failing), next(iter(failing.values())))


def play(store: Store, spec: Spec, script: Script, dice: random.Random | None = None, *, at_once: int) -> Table:
    """Gives out so many games at a time, records them in any order, and is killed now and then."""
    playing = begin(store, spec)
    while opened := playing.assignments():
        given = opened[:at_once]
        if dice is not None:
            dice.shuffle(given)
            given = given[: dice.randint(1, len(given))]  # the others are lost with the coordinator
        for recorded in store.record([result(playing, one, script) for one in given]):
            assert not recorded.refused or recorded.needless or recorded.stopped
        if dice is not None and dice.random() < 0.2:
            playing.lock.release()
            playing = begin(store, spec)
    tournament = playing.tournament
    report = verify(store, tournament)
    assert report.ok, report.problems
    playing.lock.release()
    games: list[tuple[object, ...]] = [
        (one.number, one.status, one.ending, one.ranks, one.scores) for one in queries.games(store, tournament)
    ]
    return Table(games, list(store.standings(tournament)))


def parked_by_hand(spec: Spec, schedule: list[tuple[int, ...]], script: Script) -> dict[int, int]:
    """The rule told once more, as simply as possible: who is parked, after which game."""
    rule, parked = spec.probation, dict[int, int]()
    played, failed, unstarted = Counter[int](), Counter[int](), Counter[int]()
    for number, seats in enumerate(schedule, 1):
        absent = [entrant for entrant in seats if entrant in parked]
        if absent and rule.then == "cancel":
            continue
        kinds = (
            {} if absent else {entrant: kind for entrant, kind in script.get(number, {}).items() if entrant in seats}
        )
        kind = next((kinds[entrant] for entrant in seats if entrant in kinds), None)  # `result` blames all for one
        for entrant in seats:
            played[entrant] += 1
            failed[entrant] += entrant in kinds and kind is not Ending.RESIGN
            unstarted[entrant] = unstarted[entrant] + 1 if entrant in kinds and kind is Ending.START_FAILURE else 0
            many = rule.failures is not None and failed[entrant] >= rule.failures
            if unstarted[entrant] == 3 or (many and failed[entrant] > rule.share * played[entrant]):
                parked.setdefault(entrant, number)
    return parked


KINDS = st.sampled_from([Ending.TIMEOUT, Ending.CRASH, Ending.START_FAILURE, Ending.START_FAILURE, Ending.RESIGN])
RULES = st.builds(
    Probation, st.none() | st.integers(1, 4), st.sampled_from([0.0, 0.1, 0.5]), st.sampled_from(["forfeit", "cancel"])
)


@settings(max_examples=12, deadline=None)
@given(
    rule=RULES,
    script=st.dictionaries(
        st.integers(1, 24), st.dictionaries(st.integers(0, 3), KINDS, min_size=1), min_size=4, max_size=20
    ),
    at_once=st.integers(4, 12),
    dice=st.randoms(use_true_random=False),
)
def test_in_any_order_the_same_games_are_lost(
    tmp_path_factory: pytest.TempPathFactory, rule: Probation, script: Script, at_once: int, dice: random.Random
) -> None:
    spec = tiny_spec(bots=4, games=6, probation=rule)
    folder = tmp_path_factory.mktemp("probation")
    with Store.open(str(folder / "one.db")) as one, Store.open(str(folder / "many.db")) as many:
        playing = begin(one, spec)
        schedule = [assignment.planned.seats for assignment in playing.assignments()]
        playing.lock.release()
        table = play(one, spec, script, at_once=24)
        assert play(many, spec, script, dice, at_once=at_once) == table
    parked = parked_by_hand(spec, schedule, script)
    lost = {number for number, seats in enumerate(schedule, 1) if any(parked.get(one, 99) < number for one in seats)}
    if rule.then == "cancel":
        assert {number for number, status, *_ in table.games if status == GameStatus.CANCELLED} == lost
    else:
        assert {number for number, _, ending, *_ in table.games if ending == Ending.FORFEIT} == lost


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("then", ["forfeit", "cancel"])
def test_with_a_stop_rule_beside_it(tmp_path: Path, then: str, seed: int) -> None:
    """Whichever comes first in schedule order: forfeits count for the test, games that are taken off do not."""
    dice = random.Random(seed)
    rule = Probation(failures=dice.randint(1, 5), then=then)
    spec = patchwork_spec(2, 40, stop="sprt elo0=0 elo1=300 alpha=0.2 beta=0.2", probation=rule)
    script = {
        number: {dice.randint(0, 1): Ending.CRASH} for number in range(dice.randint(1, 12), 40, dice.randint(2, 5))
    }
    tables = []
    for at_once in (40, 7):
        with Store.open(str(tmp_path / f"{at_once}.db")) as store:
            tables.append(play(store, spec, script, dice if at_once == 7 else None, at_once=at_once))
    assert [game[:3] for game in tables[0].games] == [game[:3] for game in tables[1].games]
    assert tables[0].board == tables[1].board
    assert any(row.parked for row in tables[0].board) or GameStatus.CANCELLED in {game[1] for game in tables[0].games}


@pytest.fixture
def parked(url: str) -> Playing:
    """Bot 0 fails in its games 1, 2 and 3; games 4 to 9 were played before that was known."""
    store = Store.open(url)
    playing = begin(store, patchwork_spec(3, 8, probation=Probation(failures=3)), name="cup")
    first, *rest = [result(playing, one, FAILS) for one in playing.assignments()[:9]]
    assert not [one for one in store.record(rest) if one.refused or one.parked]
    store.record([first])
    return playing


FAILS: Script = {number: {0: Ending.CRASH} for number in range(1, 10)}


def test_what_was_played_too_late_stays_on_record(parked: Playing) -> None:
    store, cup = parked.store, parked.tournament
    board = next(row for row in store.standings(cup) if row.entrant.name == "bot0")
    assert board.parked is not None
    assert board.parked.why == "it failed in 3 of 3 games (crash 3)"
    games = queries.games(store, cup)
    theirs = [one.number for one in games if one.number > board.parked.number and "bot0" in str(one.seats)]
    assert {one.number for one in games if one.ending == Ending.FORFEIT} == set(theirs)
    early = next(number for number in theirs if number <= 9)
    counts = queries.record(store, queries.find_game(store, f"cup/{early}"))
    assert (counts.id, counts.termination, counts.moves) == (f"cup/{early}", "forfeit", ())
    assert counts.failed is not None
    assert f"parked after game {board.parked.number}: it failed in 3 of 3 games" in counts.failed.reason
    assert "the last time: too slow" in counts.failed.reason
    assert queries.record(store, queries.find_game(store, f"cup/{early}.1")).id == f"cup/{early}.1"
    exported = [record.id for record in queries.export(store, cup)]
    assert exported.count(f"cup/{early}") == 1
    assert f"cup/{early}.1" not in exported
    assert f"cup/{early}.1" in [record.id for record in queries.export(store, cup, all_attempts=True)]
    store.record(parked.results())
    assert verify(store, cup).ok
    store.close()


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE entrant SET parked = parked + 1 WHERE parked IS NOT NULL",
        "UPDATE entrant SET parked = NULL, parked_why = NULL",
        "UPDATE entrant SET parked_why = 'because'",
        "UPDATE entrant SET unstarted = 1 WHERE position = 0",
        "UPDATE game SET status = 'cancelled', ending = NULL, plies = NULL WHERE ending = 'forfeit'",
    ],
)
def test_parking_is_verified(parked: Playing, edit: str) -> None:
    assert verify(parked.store, parked.tournament).ok
    with parked.store.database.write() as connection:
        assert connection.execute(text(edit)).rowcount
    assert not verify(parked.store, parked.tournament).ok
    parked.store.close()


def test_a_result_that_comes_too_late_is_needless(parked: Playing) -> None:
    store, cup = parked.store, parked.tournament
    forfeited = [one for one in queries.games(store, cup) if one.ending == Ending.FORFEIT][-1]
    one = parked.assignments()[0]
    late = replace(one, planned=replace(one.planned, number=forfeited.number))
    (refused,) = store.record([parked.normal(late)])
    assert refused.refused
    assert refused.needless
    store.close()


@pytest.mark.parametrize("format_", ["swiss", "knockout", "double-elimination", "ladder"])
def test_in_stages_the_others_get_the_points(store: Store, format_: str) -> None:
    """Whoever is parked goes on to be paired; its games are forfeited as soon as they are planned."""
    rounds = {"rounds": 3} if format_ in ("swiss", "ladder") else {}
    spec = patchwork_spec(6, 2, format=format_, probation=Probation(failures=1, share=0), **rounds)
    playing = begin(store, spec)
    script = {number: {0: Ending.CRASH, 1: Ending.CRASH} for number in range(1, 9)}
    while True:
        for one in playing.assignments():
            (recorded,) = store.record([result(playing, one, script)])
            assert not recorded.refused or recorded.needless
        playing = go_on(store, playing.lock)
        if not playing.assignments():
            break
    store.finish(playing.tournament)
    report = verify(store, playing.tournament)
    assert report.ok, report.problems
    forfeits = [one for one in queries.games(store, playing.tournament) if one.ending == Ending.FORFEIT]
    assert forfeits
    for game in forfeits:
        absent = {place for place, seat in enumerate(game.seats) if "bot0" in str(seat) or "bot1" in str(seat)}
        assert {place for place, rank in enumerate(game.ranks) if rank == 1} == ({0, 1} - absent or {0, 1})


def test_who_meets_next_is_never_taken_off() -> None:
    spec = patchwork_spec(4, 2, format="swiss", rounds=2, probation=Probation(failures=3, then="cancel"))
    with pytest.raises(UserError, match="cannot be taken off"):
        plan(spec, ())


@pytest.mark.parametrize(
    ("rule", "told"),
    [({"failures": 0}, "number of failures"), ({"share": 1.5}, "share of games"), ({"then": "shoot"}, "no such end")],
)
def test_a_rule_that_makes_no_sense_is_told(rule: dict[str, object], told: str) -> None:
    with pytest.raises(UserError, match=told):
        Probation(**rule)  # type: ignore[arg-type]
