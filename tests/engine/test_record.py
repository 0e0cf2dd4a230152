"""Game records: both forms, their schema, and replays."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patchwork_games import attempt, games, mutations, played

from arena_engine import schema
from arena_engine.game import DealError, GameError, IllegalMoveError, RecordError, UnknownGameError
from arena_engine.patchwork import State
from arena_engine.record import SCHEMA, Failed, GameRecord, Seat, replay

MCTS = Seat("mcts", "0.3", "ab" * 32, {"c": 1.4, "playouts": 200})
LIKE_IT = Seat("mcts", "0.3", "ab" * 32, {"c": 2.0, "playouts": 200}, 'mcts 0.3 c=2.0 name="a b"')
GREEDY = Seat("greedy", "1.0", "cd" * 32)


def record_of(game: Any, **changes: Any) -> GameRecord:
    steps, last = game
    parts: dict[str, Any] = {
        "id": "nightly/17",
        "tournament": "nightly",
        "number": 17,
        "game": "patchwork",
        "date": "2026-11-29T10:20:30Z",
        "seconds": 1.25,
        "time_control": "10s+0.1s",
        "pairing": 9,
        "deal": {"edition": last.edition, "circle": steps[0][0].circle},
        "seats": (MCTS, GREEDY),
        "moves": tuple(str(move) for _, move in steps),
        "movers": "".join(state.seat_to_move for state, _ in steps),
        "times": tuple(round(0.0125 * ply, 6) for ply in range(len(steps))),
        "score": last.scores(),
        "winner": "ab"[last.outcome.ranks.index(1)],
        "ranks": last.outcome.ranks,
    }
    return GameRecord(**parts | changes)


GAME = played(4, "original", 1)
NORMAL = record_of(GAME)
FORFEIT = dataclasses.replace(
    NORMAL,
    moves=NORMAL.moves[:9],
    movers=NORMAL.movers[:9],
    times=NORMAL.times[:9],
    winner="a",
    ranks=(1, 2),
    termination="illegal_move",
    blame="b",
    blamed=("b",),
    failed=Failed("b", 9, 0.1, 'K6c4?! "\n\u202e\\' + "x" * 300, "no move", "position"),
)
VOID = dataclasses.replace(
    FORFEIT,
    id="nightly/17.2",
    attempt=2,
    termination="void",
    score=(),
    ranks=(),
    winner=None,
    blame=None,
    blamed=(),
    failed=None,
)
TINY = GameRecord(
    id="cup/3",
    tournament="cup",
    number=3,
    game="tiny",
    deal={"order": "cab"},
    date="2026-11-29",
    seats=(MCTS, GREEDY, Seat("random", "2")),
    moves=("rock", "paper", "rock", "rock", "rock", "paper", "paper"),
    movers="abcabcb",
    times=(0.5,) * 7,
    score=(0, 2, 1),
    ranks=(3, 1, 2),
    winner="b",
    termination="timeout",
    blame="a",
    blamed=("a",),
)
NAMESAKES = dataclasses.replace(NORMAL, seats=(MCTS, LIKE_IT))
RECORDS = [NORMAL, FORFEIT, VOID, TINY, NAMESAKES]
KINDS = ["normal", "forfeit", "void", "tiny", "namesakes"]


@pytest.mark.parametrize("record", RECORDS, ids=KINDS)
def test_json_gives_the_record_back(record: GameRecord) -> None:
    text = record.to_json()
    assert "\n" not in text
    assert GameRecord.from_json(text) == record
    assert list(schema.faults(json.loads(text), SCHEMA)) == []


@pytest.mark.parametrize("record", RECORDS, ids=KINDS)
def test_text_holds_what_a_replay_needs(record: GameRecord) -> None:
    again = GameRecord.from_text(record.to_text())
    assert again.to_text() == record.to_text()
    for part in ("id", "tournament", "number", "attempt", "game", "deal", "moves", "movers", "times", "score"):
        assert getattr(again, part) == getattr(record, part)
    for part in ("winner", "ranks", "termination", "blame", "blamed", "time_control"):
        assert getattr(again, part) == getattr(record, part)
    assert [(seat.bot, seat.version, seat.label) for seat in again.seats] == [
        (seat.bot, seat.version, seat.label) for seat in record.seats
    ]
    assert [text for *_, text in replay(again)] == [text for *_, text in replay(record)]
    assert GameRecord.from_text(record.to_text().replace("\n", "\r\n")) == again


def test_a_record_from_before_labels_is_read() -> None:
    data = json.loads(NORMAL.to_json())
    for seat in data["seats"]:
        del seat["label"]
    assert GameRecord.from_json(json.dumps(data)) == NORMAL


def test_the_schema_names_every_key() -> None:
    plain = {field.name for field in dataclasses.fields(GameRecord)} - {"deal"}
    assert set(SCHEMA["properties"]) == set(SCHEMA["required"]) == plain
    parts = SCHEMA["properties"]
    assert {*parts["seats"]["items"]["properties"]} == {field.name for field in dataclasses.fields(Seat)}
    assert {*parts["failed"]["properties"]} == {field.name for field in dataclasses.fields(Failed)}
    keys = list(NORMAL.as_dict())
    assert keys[keys.index("pairing") + 1 : keys.index("seed")] == ["edition", "circle"]


def test_the_text_form() -> None:
    lines = FORFEIT.to_text().splitlines()
    assert lines[:5] == [
        '[Id "nightly/17"]',
        '[Game "patchwork"]',
        '[Date "2026.11.29"]',
        '[a "mcts 0.3"]',
        '[b "greedy 1.0"]',
    ]
    assert '[Edition "original"]' in lines
    assert '[TimeControl "10s+0.1s"]' in lines
    assert '[Termination "illegal_move"]' in lines
    assert '[Blame "b"]' in lines
    assert '[Attempt "1"]' in lines
    reply = next(line for line in lines if line.startswith("[Reply"))
    assert reply.startswith(r'[Reply "b K6c4?! \"\n\u202e\\xxx')
    assert reply.count("x") == 200 - len('K6c4?! "\n\u202e\\')
    assert f"1. {NORMAL.movers[0]} {NORMAL.moves[0]} {{[%emt 0.000]}} 2. " in FORFEIT.to_text()
    assert max(map(len, lines[14:])) <= 80
    assert "[Attempt" not in NORMAL.to_text()
    assert "1. a rock {[%emt 0.500]} b paper {[%emt 0.500]} c rock {[%emt 0.500]}" in TINY.to_text()
    assert '[Ranks "3 1 2"]' in TINY.to_text()


@given(games())
@settings(max_examples=15)
def test_any_game_survives_both_forms(game: Any) -> None:
    record = record_of(game)
    assert GameRecord.from_json(record.to_json()) == record
    again = GameRecord.from_text(record.to_text())
    assert again.moves == record.moves
    *_, (ply, moves, state) = replay(again)
    assert ply == len(record.moves)
    assert {seat: str(move) for seat, move in moves.items()} == {record.movers[-1]: record.moves[-1]}
    assert state == game[1]
    assert state.outcome.ranks == record.ranks


def test_a_replay_begins_before_the_first_move() -> None:
    first, second, *_ = replay(NORMAL)
    assert first == (0, {}, GAME[0][0][0])
    assert second == (1, {"a": GAME[0][0][1]}, GAME[0][1][0])


def test_moves_of_a_ply_in_which_another_seat_failed_were_not_played() -> None:
    plies = list(replay(TINY))
    assert [ply for ply, _, _ in plies] == [0, 1, 2]
    assert plies[-1][1] == {"a": "rock", "b": "rock", "c": "paper"}
    assert plies[-1][2].text == "0 2 2 2"


@pytest.mark.parametrize(
    ("changes", "error", "why"),
    [
        ({"moves": ("*a1", *NORMAL.moves[1:])}, IllegalMoveError, "ply 1: seat a has no leather"),
        ({"movers": "b" + NORMAL.movers[1:]}, IllegalMoveError, "ply 1: seat a is to move, not b"),
        (
            {"moves": (*NORMAL.moves, ">"), "movers": NORMAL.movers + "a", "times": (*NORMAL.times, 0.0)},
            GameError,
            "over",
        ),
        ({"deal": {"edition": "original"}}, DealError, "needs circle"),
        ({"game": "chess"}, UnknownGameError, "no such game"),
    ],
)
def test_a_wrong_record_says_where(changes: dict[str, Any], error: type[GameError], why: str) -> None:
    with pytest.raises(error, match=why):
        list(replay(dataclasses.replace(NORMAL, **changes)))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"format":1', '"format":2', "format is none of 1"),
        ('"number":17', '"number":"17"', "number is no integer"),
        ('"number":17', '"number":true', "number is no integer"),
        ('"seconds":1.25', '"seconds":1e999', "seconds is no number"),
        ('"seconds":1.25', '"seconds":NaN', "NaN is no number"),
        ('"termination":"normal"', '"termination":"bored"', "termination is none of"),
        ('"bot":"mcts"', '"bott":"mcts"', r"seats\[0\].bot is missing"),
        ('"movers":"a', '"movers":"', "movers and"),
        ('"movers":"a', '"movers":"c', "no such seat: c"),
        ('"movers":"a', '"movers":"?', "does not match"),
        ('"ranks":[', '"ranks":[1,', "2 seats, but"),
        ("{", "", "no JSON"),
        ("{", "[" * 100_000, "no JSON"),
    ],
)
def test_bad_json_says_what_is_wrong(old: str, new: str, why: str) -> None:
    with pytest.raises(RecordError, match=why) as caught:
        GameRecord.from_json(NORMAL.to_json().replace(old, new, 1))
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("[Id ", "(Id ", "a tag is a line like"),
        ("[Id ", "[Idd ", r"tag \[Id\] is missing"),
        ("[Game ", "[Id ", "twice"),
        ('"nightly/17"', r'"\q"', "escapes"),
        ("nightly/17", "nightly/x", "holds no number"),
        ("[b ", "[c ", "none left out"),
        ('[Winner "', '[Winner "z', "no such seat"),
        ('"normal"', '"bored"', "no known termination"),
        ("\n2. ", "\n3. ", "ply"),
        (" 2. ", " 3. ", "should be numbered 2."),
        ("1. a ", "1. ", "a ply is its number"),
        ("%emt", "%clk", "a ply is its number"),
    ],
)
def test_bad_text_says_what_is_wrong(old: str, new: str, why: str) -> None:
    text = NORMAL.to_text()
    if old in text:
        with pytest.raises(RecordError, match=why):
            GameRecord.from_text(text.replace(old, new, 1))


@given(mutations(st.sampled_from([record.to_json() for record in RECORDS])))
@settings(max_examples=200)
def test_changed_json_is_a_record_or_refused(text: str) -> None:
    record = attempt(GameRecord.from_json, text)
    if isinstance(record, GameError):
        assert isinstance(record, RecordError)
    else:
        assert GameRecord.from_json(record.to_json()) == record


@given(mutations(st.sampled_from([record.to_text() for record in RECORDS])))
@settings(max_examples=200)
def test_changed_text_is_a_record_or_refused(text: str) -> None:
    record = attempt(GameRecord.from_text, text)
    if isinstance(record, GameError):
        assert isinstance(record, RecordError)
        return
    written = attempt(lambda _: record.to_text(), text)
    if isinstance(written, str):
        assert GameRecord.from_text(written).to_text() == written


def test_new_keys_are_passed_over() -> None:
    data = {**NORMAL.as_dict(), "later": {"key": 1}}
    data["seats"][0]["country"] = "x"
    assert GameRecord.from_json(json.dumps(data)) == NORMAL


def test_positions_of_a_replay_are_states() -> None:
    assert all(isinstance(state, State) for *_, state in replay(NORMAL))
