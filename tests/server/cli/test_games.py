"""Games listed, shown, exported, replayed."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
from pathlib import Path

import pytest
from here import Arena

from arena_engine.record import GameRecord
from arena_server.cli.options import elsewhere


def test_a_list_in_pages(arena: Arena) -> None:
    first = arena("games", "list", "--limit", "10")
    assert [int(line.split()[0]) for line in first.out.splitlines()[2:-1]] == list(range(1, 11))
    assert first.out.endswith("more: --after 10\n")
    last = arena("games", "list", "--after", "20")
    assert [line.split()[0] for line in last.out.splitlines()[2:]] == ["21", "22", "23", "24"]
    assert arena("games", "list", "--after", "24").out == "tournament nightly: no games after 24\n"


def test_the_last_page_says_so(arena: Arena) -> None:
    assert arena("games", "list", "--json", "--limit", "23").json["next_after"] == 23
    assert arena("games", "list", "--json", "--limit", "24").json["next_after"] is None


def test_what_a_list_tells(arena: Arena) -> None:
    games = {game["number"]: game for game in arena("games", "list", "--json").json["games"]}
    assert games[8]["ending"] == "illegal_move"
    assert games[8]["ranks"] == [2, 1]
    assert games[24] == {
        "id": "nightly/24",
        "number": 24,
        "pairing": 12,
        "seats": games[24]["seats"],
        "status": "planned",
        "ending": None,
        "ranks": [],
        "scores": [],
        "plies": None,
    }
    assert "planned" in arena("games", "list", "--after", "23").out


def test_games_of_a_bot(arena: Arena) -> None:
    games = arena("games", "list", "--json", "--bot", "BOT1").json["games"]
    assert len(games) == 16
    assert all("bot1 1.0" in game["seats"] for game in games)


def test_the_evidence_of_a_failure_is_shown_and_harmless(arena: Arena) -> None:
    out = arena("games", "show", "nightly/8").out
    assert "ended: illegal move after ply 2" in out
    assert "seat a: illegal move at ply 3, 0.150 s after it was asked" in out
    assert r"reply: 'K9z9\x1b[2J\x9b31m[red]\u202e'" in out
    assert r"reason: no such move \x1b[2J\x9b31m[red]\u202e" in out
    assert "\n  Traceback:\n      in choose " in out
    assert "see it again: arena replay nightly/8 --at 2" in out
    assert "\x1b" not in out
    assert "\x9b" not in out
    assert "\u202e" not in out


def test_a_failure_in_json(arena: Arena) -> None:
    shown = arena("games", "show", "8", "--json").json
    assert shown["failures"][0]["evidence"].startswith("Traceback")
    assert shown["termination"] == "illegal_move"
    assert [ply["seat"] for ply in shown["plies"]] == list(shown["movers"])


def test_a_void_attempt_is_shown_on_request(arena: Arena) -> None:
    assert "ended: void after ply 1: stalled" in arena("games", "show", "1.1").out
    assert "ended: normal after ply" in arena("games", "show", "1").out


@pytest.mark.parametrize("text", ["nightly/22", "night/22", "22", "last", "NIGHTLY/22"])
def test_names_of_a_game(arena: Arena, text: str) -> None:
    assert arena("games", "show", text, "--json").json["id"] == "nightly/22"


def test_export_and_back(arena: Arena) -> None:
    lines = arena("games", "export", "--all").out.splitlines()
    assert [json.loads(line)["number"] for line in lines] == list(range(1, 23))
    assert GameRecord.from_json(lines[6]).to_json() == lines[6]
    everything = arena("games", "export", "--all", "--all-attempts").out.splitlines()
    assert len(everything) == 23
    assert json.loads(everything[0])["termination"] == "void"


def test_export_shows_no_control_characters(arena: Arena) -> None:
    for form in ("jsonl", "text"):
        out = arena("games", "export", "8", "--format", form).out
        assert all(letter.isprintable() or letter == "\n" for letter in out)
        assert "K9z9" in out


def test_export_as_text_to_a_file(arena: Arena, tmp_path: Path) -> None:
    done = arena("games", "export", "--all", "--format", "text", "--output", "all.txt", "--bot", "bot0")
    assert done.out == "14 games written to all.txt\n"
    texts = (tmp_path / "all.txt").read_text().split("\n\n[Id")
    assert len(texts) == 14
    assert '[Termination "normal"]' in texts[1]


def test_a_replay_shows_every_position(arena: Arena) -> None:
    plies = arena("games", "show", "7", "--json").json["moves"]
    out = arena("replay", "7").out
    assert out.startswith("game nightly/7: patchwork, a bot")
    assert f"ply {len(plies)}: " in out
    assert out.count("\nply ") == len(plies) + 1
    assert "ended: normal" in out.splitlines()[-1]
    positions = arena("replay", "7", "--json").json["positions"]
    assert [step["ply"] for step in positions] == list(range(len(plies) + 1))
    assert positions[0]["to_move"] == ["a"]


def test_a_replay_of_three_seats_at_once(arena: Arena) -> None:
    out = arena("replay", "tiny/1", "--at", "2").out
    assert [part.split()[0] for part in out.splitlines()[2].removeprefix("ply 2: ").split(", ")] == ["a", "b", "c"]


def test_one_position_of_a_failed_game(arena: Arena) -> None:
    step = arena("replay", "8", "--at", "2", "--json").json["positions"][0]
    assert step["position"] == arena("games", "show", "8", "--json").json["failures"][0]["position"]


@pytest.mark.parametrize("form", ["jsonl", "text"])
def test_a_replay_of_a_file_or_standard_input(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    stored = arena("replay", "7", "--at", "5")
    exported = arena("games", "export", "7", "--format", form).out
    (tmp_path / "game.patchwork").write_text(exported)
    assert arena("replay", "game.patchwork", "--at", "5").out == stored.out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(exported.encode())))
    assert arena("replay", "-", "--at", "5").out == stored.out


def test_verify(arena: Arena) -> None:
    done = arena("verify")
    assert done.code == 0
    assert done.out.startswith("tournament nightly: 22 games, 23 attempts replayed: all as recorded\nchain head ")
    report = arena("verify", "--json", "--tournament", "tiny").json
    assert report["ok"]
    assert len(report["chain_head"]) == 64


def test_verify_tells_its_progress_when_it_takes_a_while(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    assert arena("verify").err == "database arena.db\n"
    monkeypatch.setattr("arena_server.cli.progress.QUIET", 0.0)
    assert arena("verify").err.splitlines()[1:3] == ["1 of 23 attempts replayed", "2 of 23 attempts replayed"]


def test_verify_names_the_first_bad_game(arena: Arena) -> None:
    with sqlite3.connect(arena.database) as connection:
        connection.execute(
            "UPDATE seat SET score = score + 1 WHERE tournament_id = 2 AND number IN (5, 9) AND seat = 0"
        )
    connection.close()
    done = arena("verify")
    assert done.code == 1
    assert done.out.startswith("game nightly/5: ")
    report = arena("verify", "--json")
    assert report.code == 1
    assert report.json["problems"][0]["game"] == "nightly/5"


def test_a_damaged_record_is_told(arena: Arena) -> None:
    with sqlite3.connect(arena.database) as connection:
        connection.execute("UPDATE attempt SET journal = x'7b7d' WHERE tournament_id = 2 AND number = 5")
    connection.close()
    for command in (["games", "show", "5"], ["replay", "5"], ["games", "export", "--all"]):
        done = arena(*command)
        assert done.code == 3
        assert "the record of this game is damaged: nightly/5" in done.err
        assert "arena verify" in done.err
    assert arena("verify").code == 1


def test_a_database_elsewhere_is_named_in_what_shows_a_failure_again(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(*words: str) -> str:
        shown = arena("games", "show", "nightly/8", *words)
        return next(line for line in shown.out.splitlines() if line.startswith("see it again: "))

    assert "--db" not in told()
    assert "--db" not in told("--db", str(arena.database))
    other = tmp_path / "other place.db"
    arena.database.rename(other)
    assert told("--db", str(other)).endswith(f" --db '{other}'")
    monkeypatch.setenv("ARENA_DB", str(other))
    assert told().endswith(f" --db '{other}'")


def test_no_password_is_told() -> None:
    url = "postgresql://ada:secret@db.example:5432/arena"
    assert elsewhere(url) == "postgresql://ada@db.example:5432/arena"
    assert elsewhere("postgresql://db/arena") == "postgresql://db/arena"
