"""What readers are told, and what not yet."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from tournaments import Playing, begin, patchwork_spec, tiny_spec

from arena_engine.record import GameRecord
from arena_server.model import Ending, UserError
from arena_server.store import GameStatus, Store, crosstable, queries


@pytest.fixture
def cup(store: Store) -> Playing:
    """All games of three bots at Patchwork, with forfeits; the first one was void once."""
    playing = begin(store, patchwork_spec(bots=3, games=4, seed=None), name="cup")
    store.record([playing.void(playing.assignments()[0])])
    store.record(playing.results())
    return playing


def test_tournaments_stand_newest_first(store: Store) -> None:
    with pytest.raises(UserError, match=r"no tournament yet in this database: .*arena\.db"):
        queries.tournament(store)
    store.enter(tiny_spec(), name="one")
    store.enter(tiny_spec(), name="Two")
    assert [one.name for one in queries.tournaments(store)] == ["Two", "one"]
    assert queries.tournament(store).name == "Two"
    assert queries.tournament(store, "ONE").name == "one"
    with pytest.raises(UserError, match="no such tournament: 'tow' - did you mean Two"):
        queries.tournament(store, "tow")


def test_the_secret_is_told_at_the_end(cup: Playing) -> None:
    store = cup.store
    assert queries.tournament(store).secret == b""
    assert queries.record(store, queries.find_game(store, "1")).seed is None
    store.finish(cup.tournament)
    assert queries.tournament(store).secret == cup.tournament.secret
    assert queries.record(store, queries.find_game(store, "1")).seed == cup.tournament.secret.hex()


def test_the_leaderboard_holds_no_time(cup: Playing) -> None:
    board = queries.leaderboard(cup.store, queries.tournament(cup.store))
    assert [row.rank for row in board.standings] == [1, 2, 3]
    values = [row.rating.conservative for row in board.standings]
    assert values == sorted(values, reverse=True)
    assert board.progress.folded == 12
    assert sum(row.wins for row in board.standings) == sum(row.losses for row in board.standings) == 12


def test_the_crosstable_adds_up_to_the_leaderboard(url: str) -> None:
    with Store.open(url) as store:
        playing = begin(store, patchwork_spec(bots=4, games=4))
        store.record(playing.results()[:-3])
        table = queries.crosstable(store, playing.tournament)
        for row in store.standings(playing.tournament):
            place = table.entrants.index(row.entrant)
            cells = [cell for (one, _), cell in table.cells.items() if one == place]
            assert sum(cell.total.wins for cell in cells) == row.wins
            assert sum(cell.total.losses for cell in cells) == row.losses
            assert sum(cell.total.margin_games for cell in cells) > 0
            for cell in cells:
                assert sum((score.wins for score in cell.by_seat.values()), 0) == cell.total.wins
        for (one, other), cell in table.cells.items():
            back = table.cells[other, one].total
            assert (cell.total.wins, cell.total.margin_total) == (back.losses, -back.margin_total)


@pytest.mark.parametrize("at_once", [1, 2, 4, 5, 6, 7])
def test_games_are_added_up_a_few_at_a_time(store: Store, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """A bot that has played for months has more of them than one statement of a reader has time for."""
    playing = begin(store, patchwork_spec(bots=4, games=4))
    store.record(playing.results()[:-3])
    for last in (None, 7):
        whole = queries.crosstable(store, playing.tournament, last=last)
        with monkeypatch.context() as changed:
            changed.setattr(crosstable, "AT_ONCE", at_once)
            parts = queries.crosstable(store, playing.tournament, last=last)
        assert list(parts.cells.items()) == list(whole.cells.items())
        assert [list(cell.by_seat) for cell in parts.cells.values()] == [
            list(cell.by_seat) for cell in whole.cells.values()
        ]


def test_three_seats_are_compared_two_by_two(store: Store) -> None:
    playing = begin(store, tiny_spec(bots=3, games=6))
    results = playing.results()
    store.record(results)
    cell = queries.crosstable(store, playing.tournament).cells[0, 1].total
    assert cell.wins + cell.losses + cell.draws == 6
    ranks = [dict(zip(r.assignment.planned.seats, r.outcome.ranks, strict=True)) for r in results if r.outcome]
    assert cell.wins == sum(rank[0] < rank[1] for rank in ranks)


def test_games_come_in_pages(cup: Playing) -> None:
    store, tournament = cup.store, cup.tournament
    every = queries.games(store, tournament)
    assert [game.number for game in every] == list(range(1, 13))
    assert every[0].id == "cup/1"
    assert [game.number for game in queries.games(store, tournament, after=3, limit=2)] == [4, 5]
    assert len(queries.games(store, tournament, limit=-5)) == 1
    assert Counter(game.ending for game in every) == {Ending.NORMAL: 11, Ending.TIMEOUT: 1}
    assert all(game.status is GameStatus.FINISHED and game.plies for game in every)


def test_games_of_one_bot(cup: Playing) -> None:
    games = queries.games(cup.store, cup.tournament, bot="BOT1", after=2, limit=3)
    assert len(games) == 3
    assert all("bot1 1.0" in game.seats for game in games)
    assert games == queries.games(cup.store, cup.tournament, bot="bot1 1.0", after=2, limit=3)
    with pytest.raises(UserError, match="no such bot in cup: 'bto1' - did you mean bot1"):
        queries.games(cup.store, cup.tournament, bot="bto1")


def test_a_game_not_played_yet_shows_no_deal(store: Store) -> None:
    playing = begin(store, patchwork_spec(seed=None), name="cup")
    first, *_ = queries.games(store, playing.tournament)
    assert (first.status, first.ending, first.ranks, first.plies) == (GameStatus.PLANNED, None, (), None)
    assert "circle" not in repr(first)
    with pytest.raises(UserError, match=r"no record of this game: cup/1 - it was not played to its end, or not yet"):
        queries.record(store, queries.find_game(store, "cup/1"))
    with pytest.raises(UserError, match="no game was recorded yet"):
        queries.find_game(store, "last")


@pytest.mark.parametrize(
    ("text", "found"),
    [("cup/3", "cup/3"), ("CUP/3", "cup/3"), ("c/3", "cup/3"), ("3", "cup/3"), ("last", "cup/12"), ("1.1", "cup/1.1")],
)
def test_a_game_is_found(cup: Playing, text: str, found: str) -> None:
    assert queries.find_game(cup.store, text).id == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cup/13", "no such game: cup/13 - cup has games 1 to 12"),
        ("0", "no such game: cup/0"),
        ("cpu/3", "no such tournament: 'cpu' - did you mean cup"),
        ("hello", "not a game: 'hello'"),
        ("cup/", "not a game"),
        ("9" * 30, "not a game"),
    ],
)
def test_a_game_that_is_none_is_told(cup: Playing, text: str, told: str) -> None:
    with pytest.raises(UserError) as refused:
        queries.find_game(cup.store, text)
    assert told in str(refused.value)


def test_a_beginning_that_could_be_several_is_told(cup: Playing) -> None:
    cup.store.enter(tiny_spec(), name="cup-2")
    cup.store.enter(tiny_spec(), name="cupola")
    assert queries.find_game(cup.store, "cup/1").id == "cup/1"
    with pytest.raises(UserError, match="could be one of several: 'cu' - cupola, cup-2, cup"):
        queries.find_game(cup.store, "cu/1")


def test_a_record_is_the_game(cup: Playing) -> None:
    record = queries.record(cup.store, queries.find_game(cup.store, "cup/2"))
    assert GameRecord.from_json(record.to_json()) == record
    data = json.loads(record.to_json())
    assert data["id"] == "cup/2"
    assert data["edition"] == "original"
    assert len(data["moves"]) == len(data["movers"]) == len(data["times"])
    assert data["winner"] in ("a", "b")
    assert data["termination"] == "normal"
    assert data["failed"] is None


def test_a_forfeit_says_who_and_where(cup: Playing) -> None:
    record = queries.record(cup.store, queries.find_game(cup.store, "cup/8"))
    assert (record.termination, record.blame, record.winner) == ("timeout", "a", "b")
    assert record.failed is not None
    assert record.failed.reason == "too slow"
    assert record.failed.seconds == 0.15


def test_void_attempts_are_exported_on_request(cup: Playing) -> None:
    usual = [record.id for record in queries.export(cup.store, cup.tournament)]
    assert usual == [f"cup/{number}" for number in range(1, 13)]
    every = list(queries.export(cup.store, cup.tournament, all_attempts=True))
    assert every[0].id == "cup/1.1"
    assert (every[0].termination, every[0].ranks, every[0].winner) == ("void", (), None)
    assert [record.id for record in every[1:]] == usual
    of_one = list(queries.export(cup.store, cup.tournament, bot="bot2"))
    assert len(of_one) == 8


def test_records_and_what_they_leave_out(cup: Playing) -> None:
    store, tournament = cup.store, queries.tournament(cup.store)
    played = list(queries.played(store, tournament))
    assert [record for record, _ in played] == list(queries.export(store, tournament))
    for record, result in played:
        assert result == queries.result(store, queries.find_game(store, record.id))


def test_a_frozen_store_stays_as_it_was(url: str) -> None:
    with Store.open(url) as store, (playing := begin(store, patchwork_spec(2, 4), name="cup")).lock:
        first, *rest = playing.results()
        store.record([first])
        with store.frozen() as frozen:
            seen = queries.tournament(frozen)
            store.record(rest)
            assert queries.leaderboard(frozen, seen).progress.finished == 1
            both = [(record.number, len(queries.games(frozen, seen))) for record, _ in queries.played(frozen, seen)]
            assert both == [(1, 4)]
            assert queries.tournament(frozen).chain_head == seen.chain_head
        assert queries.leaderboard(store, seen).progress.finished == 4
