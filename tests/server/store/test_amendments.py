"""Tournaments grow and lose entrants; nothing is played twice, and every edit of an amendment is found."""

from __future__ import annotations

import random
import re
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from tournaments import begin, entrants, go_on, patchwork_spec, play_on, tiny_spec

from arena_engine import deals
from arena_server.formats import FORMATS
from arena_server.model import ArenaError, Spec, UserError
from arena_server.store import GameStatus, Status, Store, Tournament, contracts, queries
from arena_server.store.tables import AMENDMENT, ATTEMPT
from arena_server.store.verify import verify


def extend(store: Store, spec: Spec, name: str | None = None) -> Tournament:
    """As the command does."""
    with store.lock(store.to_extend(spec, name=name).tournament) as lock:
        return store.extend(lock.tournament, spec)


def withdraw(store: Store, name: str, entrant: int) -> Tournament:
    with store.lock(queries.tournament(store, name)) as lock:
        return store.withdraw(lock.tournament, entrant)


def sound(store: Store, name: str) -> None:
    report = verify(store, queries.tournament(store, name))
    assert report.ok, report.problems


def met(store: Store, name: str) -> Counter[frozenset[str]]:
    """How many games each two have finished with each other."""
    games = queries.games(store, queries.tournament(store, name), limit=1000)
    return Counter(frozenset(game.seats) for game in games if game.status is GameStatus.FINISHED)


def moves(store: Store, name: str) -> list[tuple[str, ...]]:
    """Of every game, in schedule order."""
    return [record.moves for record in queries.export(store, queries.tournament(store, name))]


def test_a_finished_tournament_grows_by_games_and_a_bot(url: str) -> None:
    small, large = patchwork_spec(3, 2), patchwork_spec(4, 4)
    with Store.open(url) as store:
        begin(store, small, name="cup").lock.release()
        before = play_on(store, "cup")
        head, number = before.chain_head, before.planned
        grown = extend(store, large, "cup")
        assert grown.status is Status.RUNNING
        assert grown.finished is None
        assert (grown.spec.entrants, grown.spec.games, grown.spec.late) == (large.entrants, 4, ((3, 2),))
        assert grown.terms[0] == before.terms[0]
        sound(store, "cup")
        after = play_on(store, "cup")
        assert after.planned == 24
        assert set(met(store, "cup").values()) == {4}
        assert after.chain_length == 25  # the amendment is a link
        assert head != after.chain_head
        sound(store, "cup")
        links: dict[int, str] = {}
        with store.database.read() as connection:
            for table in (ATTEMPT, AMENDMENT):
                links |= {row.sequence: row.chain_hash for row in connection.execute(select(table))}
        # Whoever noted a head finds it again.
        assert [links[one.chain_length] for one in (before, grown, after)] == [head, grown.chain_head, after.chain_head]
        assert queries.games(store, after, limit=number)[-1].stage == 1
        assert queries.games(store, after, after=number)[0].stage == 2
    with Store.open(url) as store:
        assert queries.tournament(store, "cup") == after


def test_an_open_tournament_grows_and_loses_nothing(store: Store) -> None:
    with (playing := begin(store, tiny_spec(3, 6), name="cup")).lock:
        store.record(playing.results()[:1])
    assert extend(store, tiny_spec(3, 9), "cup").terms[1].stage == 2
    after = play_on(store, "cup")
    assert after.planned == 9
    assert after.spec.late == ()
    sound(store, "cup")


def test_what_is_there_from_the_first_stage_is_not_late(store: Store) -> None:
    store.enter(patchwork_spec(2, 2), name="cup")
    assert extend(store, patchwork_spec(3, 2), "cup").spec.late == ()
    assert play_on(store, "cup").planned == 6
    sound(store, "cup")


def test_each_amendment_has_a_secret_of_its_own(store: Store) -> None:
    begin(store, patchwork_spec(2, 2, seed=None), name="cup").lock.release()
    first = play_on(store, "cup")
    grown = extend(store, patchwork_spec(2, 4, seed=None), "cup")
    assert grown.secret not in (b"", first.secret)
    assert grown.commitment == deals.commitment(grown.secret)
    assert [terms.secret for terms in queries.tournament(store, "cup").terms] == [b"", b""]  # until the end
    after = play_on(store, "cup")
    assert after.terms == grown.terms
    seeds = [record.seed for record in queries.export(store, after)]
    assert seeds == [first.secret.hex()] * 2 + [grown.secret.hex()] * 2
    sound(store, "cup")


def test_a_public_seed_stays_public(store: Store) -> None:
    begin(store, patchwork_spec(2, 2), name="cup").lock.release()
    play_on(store, "cup")
    assert extend(store, patchwork_spec(2, 4), "cup").secret == deals.public_secret("7")
    whole = begin(store, patchwork_spec(2, 4), name="whole")
    whole.lock.release()
    play_on(store, "cup")
    play_on(store, "whole")
    cup, whole_games = (
        [r.moves for r in queries.export(store, queries.tournament(store, n))] for n in ("cup", "whole")
    )
    assert cup == whole_games  # extended or planned at once


def test_extending_again_by_the_same_is_nothing(store: Store) -> None:
    begin(store, patchwork_spec(2, 2), name="cup").lock.release()
    assert extend(store, patchwork_spec(2, 4), "cup").chain_length == 1
    assert extend(store, patchwork_spec(2, 4), "cup").chain_length == 1


@pytest.mark.parametrize(
    ("held", "given", "told"),
    [
        (
            patchwork_spec(3, 4),
            patchwork_spec(3, 2),
            "games: 4 -> 2 - a round-robin can get more games and further bots",
        ),
        (patchwork_spec(3, 4), patchwork_spec(2, 4), "bots: bot0 1.0:c=1.5, "),
        (patchwork_spec(3, 4), patchwork_spec(3, 4, seed="8"), "seed: 7 -> 8"),
        (patchwork_spec(3, 4), patchwork_spec(3, 6, format="gauntlet"), "format: round-robin -> gauntlet"),
        (patchwork_spec(2, 4, format="match"), patchwork_spec(3, 6, format="match"), "a match can get more games, and"),
        (
            patchwork_spec(4, 2, format="knockout"),
            patchwork_spec(5, 2, format="knockout"),
            "a knockout is drawn once and",
        ),
        (
            patchwork_spec(4, 2, format="swiss", rounds=2),
            patchwork_spec(4, 4, format="swiss", rounds=3),
            "games: 2 -> 4 - a swiss can get more rounds and further bots",
        ),
        (
            patchwork_spec(4, 2, format="swiss", rounds=3),
            patchwork_spec(4, 2, format="swiss", rounds=2),
            "rounds: 3 -> 2",
        ),
        (patchwork_spec(3), replace(patchwork_spec(3), entrants=entrants(3)[::-1]), "bots: bot0 1.0:c=1.5, "),
        (
            patchwork_spec(3),
            replace(patchwork_spec(3), entrants=(replace(entrants(1)[0], digest="f" * 64), *entrants(3)[1:])),
            "files of bot0 1.0: 00000000 -> ffffffff",
        ),
    ],
)
def test_what_is_no_growth_is_told(store: Store, held: Spec, given: Spec, told: str) -> None:
    store.enter(held, name="cup")
    with pytest.raises(UserError) as refused:
        store.to_extend(given, name="cup")
    assert f"tournament cup cannot be extended so: {told}" in str(refused.value) or told in refused.value.fix


def test_more_than_can_be_played_is_told(store: Store) -> None:
    store.enter(patchwork_spec(4, 2, format="swiss", rounds=3), name="cup")
    with pytest.raises(UserError, match="number of rounds: 4 - 4 bots can play 1 to 3 without a repeat"):
        extend(store, patchwork_spec(4, 2, format="swiss", rounds=4), "cup")


def test_what_is_not_there_cannot_be_extended(store: Store) -> None:
    with pytest.raises(UserError, match="no such tournament to extend: 'cup'"):
        store.to_extend(patchwork_spec(), name="cup")
    store.enter(patchwork_spec(3, 8))
    with pytest.raises(UserError, match="no tournament to extend"):
        store.to_extend(patchwork_spec(3, 4))


def test_without_a_name_the_newest_that_can_grow_is_meant(store: Store) -> None:
    made = store.enter(patchwork_spec(3, 2)).tournament
    store.enter(patchwork_spec(3, 8))
    assert store.to_extend(patchwork_spec(3, 4)).tournament == made
    with pytest.raises(ArenaError, match="another command has taken over"):
        store.extend(replace(made, epoch=7), patchwork_spec(3, 4))


def test_the_extended_command_finds_it_again_and_the_first_one_is_told(store: Store) -> None:
    made = store.enter(patchwork_spec(3, 2)).tournament
    extend(store, patchwork_spec(3, 4))
    found = store.enter(patchwork_spec(3, 4))
    assert (found.created, found.tournament.name) == (False, made.name)
    with pytest.raises(UserError, match=rf"{made.name} was extended since: games: 4 -> 2 - .*--new"):
        store.enter(patchwork_spec(3, 2))
    assert store.enter(patchwork_spec(3, 4), new=True).created


def test_a_withdrawn_bot_keeps_its_games_and_plays_no_more(url: str) -> None:
    with Store.open(url) as store:
        with (playing := begin(store, patchwork_spec(4, 2), name="cup")).lock:
            store.record(playing.results()[1:6])  # game 1 is open: nothing is rated yet
        number = playing.assignments()[0].planned.number
        gone = playing.assignments()[0].planned.seats[0]
        after = withdraw(store, "cup", gone)
        assert number == 1
        assert after.spec.withdrawn == ((gone, 1),)
        assert after.status is Status.RUNNING
        progress = store.progress(after)
        assert (progress.finished, progress.folded, progress.cancelled) == (5, 5, 7 - progress.open)
        sound(store, "cup")
        done = play_on(store, "cup")
        sound(store, "cup")
        label = done.spec.labels[gone]
        assert sum(games for pair, games in met(store, "cup").items() if label not in pair) == 6  # the others: all
        assert [row.withdrawn for row in store.standings(done) if row.label == label] == [True]
        assert sum(row.withdrawn for row in store.standings(done)) == 1
        with pytest.raises(UserError, match=f"this bot is withdrawn already: {label}"):
            withdraw(store, "cup", gone)


def test_withdrawn_from_a_finished_tournament_it_stays_finished(store: Store) -> None:
    begin(store, patchwork_spec(3, 2), name="cup").lock.release()
    before = play_on(store, "cup")
    after = withdraw(store, "cup", 2)
    assert after.status is Status.FINISHED
    assert after.finished == before.finished
    assert after.spec.withdrawn == ((2, 2),)
    sound(store, "cup")
    extend(store, patchwork_spec(3, 4), "cup")
    assert play_on(store, "cup").planned == 8  # the two others meet twice more
    sound(store, "cup")


def test_with_fewer_than_sit_at_a_table_it_is_done(store: Store) -> None:
    begin(store, patchwork_spec(3, 2), name="cup").lock.release()
    withdraw(store, "cup", 0)
    after = withdraw(store, "cup", 1)
    assert after.status is Status.FINISHED
    assert store.progress(after).cancelled == 6
    sound(store, "cup")


def test_a_command_may_leave_out_who_is_withdrawn(store: Store) -> None:
    made = store.enter(patchwork_spec(3, 2)).tournament
    withdraw(store, made.name, 1)
    left = replace(patchwork_spec(3, 2), entrants=(entrants(3)[0], entrants(3)[2]))
    for spec in (left, patchwork_spec(3, 2)):
        found = store.enter(spec)
        assert found.tournament.name == made.name
        assert found.notes == (f"withdrawn from {made.name}: bot1 1.0",)
    four = replace(left, entrants=(*left.entrants, entrants(4)[3]))
    grown = extend(store, four)
    assert (grown.name, grown.spec.entrants) == (made.name, entrants(4))


def test_a_void_game_of_a_withdrawn_bot_is_cancelled(store: Store) -> None:
    with (playing := begin(store, patchwork_spec(2, 2), name="cup")).lock:
        store.record([playing.void(playing.assignments()[0])])
    assert withdraw(store, "cup", 0).status is Status.FINISHED
    sound(store, "cup")


@pytest.mark.parametrize("of", ["knockout", "double-elimination", "swiss", "ladder"])
def test_a_bot_may_leave_and_come_at_any_stage(store: Store, of: str) -> None:
    grows = of in ("swiss", "ladder")
    spec = patchwork_spec(6, 2, format=of, rounds=3 if grows else None)
    store.enter(spec, name="cup")
    with store.lock(queries.tournament(store, "cup")) as lock:
        store.record(go_on(store, lock).results())
    with store.lock(queries.tournament(store, "cup")) as lock:
        playing = go_on(store, lock)
        store.record(playing.results()[:1])
        gone = playing.assignments()[-1].planned.seats[0]
        assert store.withdraw(lock.tournament, gone).spec.withdrawn == ((gone, 2),)
    sound(store, "cup")
    if grows:
        extend(store, replace(spec, entrants=entrants(7), rounds=4), "cup")
    done = play_on(store, "cup")
    sound(store, "cup")
    stages = store.closed_stages(done)
    assert len(stages) == 4 or not grows
    assert all(gone not in pairing.entrants for stage in stages[2:] for pairing in stage.pairings)
    assert all(6 not in pairing.entrants for stage in stages[:2] for pairing in stage.pairings)
    assert any(6 in pairing.entrants for stage in stages[2:] for pairing in stage.pairings) is grows


def test_a_bracket_that_one_stage_decides_is_sound(store: Store) -> None:
    store.enter(patchwork_spec(2, 2, format="knockout", seed="2"), name="cup")
    assert len(store.closed_stages(play_on(store, "cup"))) == 1
    sound(store, "cup")


def go_some_way(store: Store, dice: random.Random) -> None:
    """Plays some of the open games, in any order, one of them void."""
    with store.lock(queries.tournament(store, "cup")) as lock:
        playing = go_on(store, lock)
        results = [result for result in playing.results() if dice.random() < 0.6]
        dice.shuffle(results)
        store.record([playing.void(result.assignment) for result in results[:1]] + results[1:])


def grow(store: Store, dice: random.Random) -> None:
    spec = replace(queries.tournament(store, "cup").spec, late=(), withdrawn=())
    more = [replace(spec, games=spec.games + 2), replace(spec, entrants=entrants(len(spec.entrants) + 1))]
    extend(store, dice.choice([*more, replace(spec, rounds=(spec.rounds or 0) + 1)]), "cup")


def lose_one(store: Store, dice: random.Random) -> None:
    withdraw(store, "cup", dice.randrange(len(queries.tournament(store, "cup").spec.entrants)))


@settings(max_examples=12)
@given(st.sampled_from([*FORMATS]), st.integers(2, 6), st.lists(st.integers(0, 4), max_size=8), st.randoms())
def test_whatever_happens_it_is_sound_and_ends(of: str, bots: int, steps: list[int], dice: random.Random) -> None:
    rounds = {"swiss": min(3, bots - 1), "ladder": 3}.get(of)
    spec = patchwork_spec(2 if of == "match" else bots, 2, format=of, rounds=rounds, seed=None)
    with tempfile.TemporaryDirectory() as folder, Store.open(f"{folder}/arena.db") as store:
        store.enter(spec, name="cup")
        for step in steps:
            with suppress(UserError):  # no growth of this format, or withdrawn already
                (go_some_way, go_some_way, go_some_way, grow, lose_one)[step](store, dice)
            sound(store, "cup")
        assert play_on(store, "cup").status is Status.FINISHED
        sound(store, "cup")


def test_an_amendment_costs_as_much_as_it_adds(store: Store) -> None:
    store.enter(tiny_spec(0, 3, format="season"), name="cup")
    with store.lock(queries.tournament(store, "cup")) as lock:
        tournament = lock.tournament
        for bots in range(1, 41):
            tournament = store.extend(tournament, tiny_spec(bots, 3, format="season"))
        tournament = store.withdraw(tournament, 7)
    assert [terms.spec.entrants for terms in tournament.terms] == [entrants(bots) for bots in (*range(41), 40)]
    assert [terms.spec.withdrawn for terms in tournament.terms] == [()] * 41 + [((7, 1),)]
    with store.database.read() as connection:
        told = [len(one) for one in connection.execute(select(AMENDMENT.c.contract)).scalars()]
    assert max(told) < 2 * min(told[:-1])
    sound(store, "cup")


# What an edit of an amendment does


@pytest.fixture(scope="module", params=["all told as growth", "some told whole"])
def grown(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, str]]:
    """Played, extended, played, one withdrawn, extended, played; perhaps in part by an earlier arena."""
    path = str(tmp_path_factory.mktemp("amendments") / "arena.db")
    with Store.open(path) as store:
        begin(store, patchwork_spec(2, 2, seed=None), name="cup").lock.release()
        play_on(store, "cup")
        with pytest.MonkeyPatch.context() as earlier:
            if request.param == "some told whole":
                earlier.setattr(contracts, "amended", lambda _before, after: contracts.whole(after))
            extend(store, patchwork_spec(3, 2, seed=None), "cup")
            play_on(store, "cup")
            withdraw(store, "cup", 1)
        extend(store, patchwork_spec(4, 2, seed=None), "cup")
        play_on(store, "cup")
        yield store, path


def test_it_is_sound(grown: tuple[Store, str]) -> None:
    store, _ = grown
    sound(store, "cup")
    tournament = queries.tournament(store, "cup")
    assert [terms.stage for terms in tournament.terms] == [1, 2, 3, 3]
    assert tournament.chain_length == tournament.planned + 3 == 13


COLUMNS = [column.name for column in AMENDMENT.columns if column.name not in ("tournament_id", "created_at")]


def tampered(store: Store, path: str, statement: str, values: Sequence[object] = ()) -> list[str]:
    """What verify says to a changed file, which is as it was afterwards."""
    with closing(sqlite3.connect(path)) as connection, closing(sqlite3.connect(":memory:")) as copy:
        connection.backup(copy)
        assert connection.execute(statement, values).rowcount == 1
        connection.commit()
        try:
            return [problem.what for problem in verify(store, queries.tournament(store, "cup")).problems]
        finally:
            copy.backup(connection)


def changed(column: str, value: Any) -> object:
    match value:
        case bytes():
            return bytes([*value[:-1], value[-1] ^ 1])
        case int():
            return value + 50
        case _ if column == "contract":
            return re.sub(r"[0-9](?=[^0-9]*$)", lambda digit: str((int(digit[0]) + 1) % 10), value)
        case _:
            return f"{value[:-1]}{'0' if value[-1] != '0' else '1'}"


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("column", COLUMNS)
def test_an_edit_of_an_amendment_is_found(grown: tuple[Store, str], column: str, number: int) -> None:
    store, path = grown
    with closing(sqlite3.connect(path)) as connection:
        (value,) = connection.execute(f"SELECT {column} FROM amendment WHERE number = ?", (number,)).fetchone()
    statement = f"UPDATE amendment SET {column} = ? WHERE number = ?"
    assert tampered(store, path, statement, (changed(column, value), number))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_missing_amendment_is_found(grown: tuple[Store, str], number: int) -> None:
    store, path = grown
    assert tampered(store, path, "DELETE FROM amendment WHERE number = ?", (number,))


def test_an_invented_amendment_is_found(grown: tuple[Store, str]) -> None:
    store, path = grown
    copied = "SELECT tournament_id, 4, 14, 4, contract, secret, commitment, chain_hash, created_at"
    told = tampered(store, path, f"INSERT INTO amendment {copied} FROM amendment WHERE number = 3")
    assert any("chain_hash of amendment 4" in what for what in told)


def test_a_game_cancelled_without_a_reason_is_found(grown: tuple[Store, str]) -> None:
    store, path = grown
    assert tampered(store, path, "UPDATE game SET status = 'cancelled' WHERE number = 3")


def test_an_open_game_of_a_withdrawn_bot_is_found(store: Store) -> None:
    begin(store, patchwork_spec(3, 2), name="cup").lock.release()
    withdraw(store, "cup", 0)
    with store.database.write() as connection:
        connection.exec_driver_sql("UPDATE game SET status = 'planned' WHERE status = 'cancelled'")
    report = verify(store, queries.tournament(store, "cup"))
    assert any("should be {'status': <GameStatus.CANCELLED" in problem.what for problem in report.problems)
