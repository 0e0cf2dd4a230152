"""The tables and records of a report: whole, documented, harmless, the same each time."""

from __future__ import annotations

import csv
import html
import json
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from here import Arena
from hypothesis import given
from hypothesis import strategies as st
from requirements import require_module
from tournaments import begin, patchwork_spec

from arena_server.model import About, BlackBox, Ending, Entrant
from arena_server.ratings.stopping import canonical
from arena_server.report import failures, games, standings, tables, writing
from arena_server.report.columns import Table
from arena_server.store import Store

DOCS = Path(__file__).parents[3] / "docs" / "report.md"
HOSTILE = '=cmd|"/C calc"!A0,\r\n<script>alert(1)</script>\u202e'


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_report_says_where_it_is(arena: Arena) -> None:
    done = arena("report")
    assert done.out.startswith(
        "report: nightly-report/report.html, and beside it games.csv, records.jsonl, standings.csv"
    )
    told = arena("report", "TINY", "--out", "there/it/is", "--json").json
    assert told == {
        "tournament": "tiny",
        "folder": "there/it/is",
        "files": ["games.csv", "records.jsonl", "report.html", "standings.csv"],
        "games": 24,
    }
    assert set(contents(Path("there/it/is"))) == set(told["files"])
    assert sorted(path.name for path in Path("there/it").iterdir()) == ["is"]


def test_a_report_on_the_scale_of_anchors(arena: Arena) -> None:
    everybody = [word for bot in range(3) for word in ("--anchor", f"bot{bot}=0")]
    assert arena("report", "nightly", *everybody).code == 0
    assert [float(row["elo_high"]) for row in read(Path("nightly-report/standings.csv"))] == [0, 0, 0]
    assert "Elo with bot0 1.0 at 0, bot1 1.0 at 0" in Path("nightly-report/report.html").read_text("utf-8")
    assert arena("report", "nightly", "--anchor", "nobody=0").code == 2


def test_standings_are_those_of_the_leaderboard(arena: Arena) -> None:
    for name in ("nightly", "tiny"):
        assert arena("report", name).code == 0
        board = arena("leaderboard", "--full", "--json", "--tournament", name).json["standings"]
        rows = read(Path(f"{name}-report/standings.csv"))
        assert len(rows) == len(board)
        for row, standing in zip(rows, board, strict=True):
            for key in ("rank", "games", "wins", "losses", "draws", "margin", "mu", "sigma", "conservative", "pairs"):
                assert float(row[key]) == standing[key]
            assert (row["bot"], row["version"], row["digest"]) == tuple(
                standing[k] for k in ("bot", "version", "digest")
            )
            assert json.loads(row["options"]) == standing["options"]
            assert [int(row["rank_best"]), int(row["rank_worst"])] == standing["rank_range"]
            assert float(row["elo_low"]) == standing["elo"]["low"]
            failures = {kind: int(row[kind]) for kind in ("illegal_move", "timeout", "crash") if row[kind] != "0"}
            assert failures == standing["failures"]
            ended = [*standing["failures"].values(), int(row["normal"]), int(row["others_failed"])]
            assert sum(ended) == standing["games"]
            assert float(row["win_rate"]) == pytest.approx(
                (standing["wins"] + standing["draws"] / 2) / standing["games"]
            )
            assert 0 <= float(row["win_rate_low"]) < float(row["win_rate"]) < float(row["win_rate_high"]) <= 1


def test_owners_and_who_was_withdrawn(arena: Arena) -> None:
    with Store.open("arena.db") as store, (playing := begin(store, patchwork_spec(3, 4), name="cup")).lock:
        store.record(playing.results())
        store.describe(playing.tournament, about=[About("=Ada", "blue")])
        store.withdraw(playing.tournament, 1)
    assert arena("report", "cup").code == 0
    rows = {row["bot"]: row for row in read(Path("cup-report/standings.csv"))}
    told = {name: (row["owner"], row["group"], row["withdrawn"], row["games"]) for name, row in rows.items()}
    assert told == {
        "bot0": ("'=Ada", "blue", "false", "8"),
        "bot1": ("", "", "true", "8"),
        "bot2": ("", "", "false", "8"),
    }
    page = Path("cup-report/report.html").read_text("utf-8")
    assert re.search(r"bot1 1\.0</bdi> <small[^>]*>withdrawn<", page)
    assert "<bdi>=Ada</bdi>" in page


def test_every_game_has_a_row_and_every_played_one_a_record(arena: Arena) -> None:
    arena("report")
    listed = {game["number"]: game for game in arena("games", "list", "--json").json["games"]}
    rows = read(Path("nightly-report/games.csv"))
    assert [int(row["number"]) for row in rows] == list(range(1, 25))
    for row in rows:
        game = listed[int(row["number"])]
        assert [row["bot_a"], row["bot_b"]] == game["seats"]
        assert (row["ending"] or None) == game["ending"]
        assert [int(row[key]) for key in ("score_a", "score_b") if row[key]] == game["scores"]
    assert rows[0]["attempt"] == "2"
    assert rows[7]["blamed"] == "a"
    assert rows[7]["winner"] == "b"
    assert [row["status"] for row in rows[22:]] == ["planned"] * 2
    assert not any(row[key] for row in rows[22:] for key in ("deal", "position", "started", "rank_a"))
    records = Path("nightly-report/records.jsonl").read_text("utf-8")
    assert records == arena("games", "export", "--all").out


def test_the_times_of_a_game_add_up(arena: Arena) -> None:
    arena("report")
    records = Path("nightly-report/records.jsonl").read_text().splitlines()
    assert len(records) == 22
    for row, text in zip(read(Path("nightly-report/games.csv"))[:22], records, strict=True):
        record = json.loads(text)
        assert float(row["seconds_a"]) + float(row["seconds_b"]) == pytest.approx(sum(record["times"]))
        assert json.loads(row["deal"]).items() <= record.items()
        assert int(row["moves"]) == len(record["moves"])


def test_the_same_results_give_the_same_bytes(arena: Arena) -> None:
    require_module("pyarrow")
    arena("report", "--out", "one", "--parquet")
    arena("report", "--out", "two", "--parquet")
    assert contents(Path("one")) == contents(Path("two"))
    before = contents(Path("one"))
    arena("report", "--out", "one", "--parquet")
    assert contents(Path("one")) == before


def test_parquet_holds_the_same(arena: Arena) -> None:
    require_module("pyarrow")
    parquet = require_module("pyarrow.parquet")
    assert arena("report", "--parquet").code == 0
    for stem in ("standings", "games"):
        rows = parquet.read_table(f"nightly-report/{stem}.parquet").to_pylist()
        told = read(Path(f"nightly-report/{stem}.csv"))
        assert [[tables._cell(value) for value in row.values()] for row in rows] == [list(row.values()) for row in told]
        assert list(rows[0]) == list(told[0])


def test_parquet_without_its_extra(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = arena("report", "--parquet", "--json")
    assert done.code == 2
    assert done.error["fix"] == "pip install 'patchwork-arena[parquet]'"
    assert not Path("nightly-report").exists()


@given(
    st.lists(st.tuples(st.text(st.characters(codec="utf-8")), st.none() | st.integers() | st.booleans()), max_size=5)
)
def test_any_text_comes_back_from_a_csv_and_none_acts(rows: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "any.csv"
        tables.write_csv(Table(("text", "other"), (str, int), rows), path)
        raw = path.read_bytes()
        with path.open(encoding="utf-8", newline="") as file:
            (heading, *found) = csv.reader(file, strict=True)
    assert heading == ["text", "other"]
    assert raw.endswith(b"\r\n")
    assert [row[0].removeprefix("'") for row in found] == [row[0] for row in rows]
    assert not [row for row in found if row[0].startswith(tables._ACTING[:-1])]


def test_a_hostile_bot_is_harmless(arena: Arena) -> None:
    spec = patchwork_spec(2, 2)
    evil = tuple(Entrant(f"{HOSTILE}{index}", "@1", one.digest) for index, one in enumerate(spec.entrants))
    with Store.open("arena.db") as store, (playing := begin(store, replace(spec, entrants=evil), name="evil")).lock:
        store.record(playing.results())
    assert arena("report", "evil").code == 0
    page = Path("evil-report/report.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "\u202e" not in page
    rows = read(Path("evil-report/standings.csv"))
    assert {row["bot"] for row in rows} == {f"'{HOSTILE}{index}" for index in range(2)}
    assert {row["version"] for row in rows} == {"'@1"}


def test_the_docs_name_every_column() -> None:
    text = DOCS.read_text("utf-8")
    parts = re.split(r"^## ", text, flags=re.MULTILINE)
    told = {part.split("\n")[0]: re.findall(r"^\| `(.+?)` \| (\w+) \| (.+?) \|$", part, re.MULTILINE) for part in parts}
    kinds = {str: "text", int: "whole", float: "number", bool: "truth"}
    assert told["standings.csv"] == [(one.name, kinds[one.kind], one.meaning) for one in standings.COLUMNS]
    seats = [(f"{name}_a", kinds[kind], meaning) for name, kind, meaning, _ in games.SEAT_COLUMNS]
    assert told["games.csv"] == [(one.name, kinds[one.kind], one.meaning) for one in games.COLUMNS] + seats


def test_later_games_go_to_pages_of_their_own(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "EMBEDDED", 10)
    done = arena("report")
    assert "2 pages of further games" in done.out
    folder = Path("nightly-report")
    assert sorted(path.name for path in (folder / "games").iterdir()) == ["11.html", "21.html"]
    data = {name: page_data(folder / name) for name in ("report.html", "games/11.html", "games/21.html")}
    assert [game.get("page") for game in data["report.html"]["games"]] == [None] * 10 + ["games/11.html"] * 10 + [
        "games/21.html"
    ] * 2
    assert [len(one["replays"]) for one in data.values()] == [10, 10, 2]


def page_data(page: Path) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert found
    return json.loads(found[1])


def test_a_report_of_nothing_yet(arena: Arena) -> None:
    with Store.open("arena.db") as store:
        store.enter(patchwork_spec(games=2), name="empty")
    assert arena("report").code == 0
    assert len(read(Path("empty-report/standings.csv"))) == 3
    assert read(Path("empty-report/games.csv")) == []
    assert "no games yet" in Path("empty-report/report.html").read_text("utf-8")


def test_a_question_is_told_as_the_leaderboard_tells_it(arena: Arena) -> None:
    spec = patchwork_spec(2, 8, format="match", stop=canonical("sprt elo0=0 elo1=150 alpha=0.1 beta=0.1"))
    with Store.open("arena.db") as store, (playing := begin(store, spec, name="asked")).lock:
        store.record(playing.results())
    told = arena("leaderboard", "--tournament", "asked").out.strip().splitlines()[-1]
    assert "llr" in told.lower()
    arena("report", "asked")
    page = html.unescape(Path("asked-report/report.html").read_text("utf-8"))
    assert f'<p class="question">{told}</p>' in page


@pytest.mark.parametrize("form", ["swiss", "knockout", "double-elimination", "ladder"])
def test_a_format_shows_its_own_table(arena: Arena, form: str) -> None:
    rounds = 1 if form in {"swiss", "ladder"} else None
    with Store.open("arena.db") as store:
        spec = patchwork_spec(4, 2, format=form, rounds=rounds)
        with (playing := begin(store, spec, name="cup")).lock:
            store.record(playing.results())
    assert arena("report", "cup").code == 0
    page = Path("cup-report/report.html").read_text("utf-8")
    assert f"The {form} after" in page
    places = arena("leaderboard", "--tournament", "cup", "--json").json["places"]
    section = page[page.index('<section id="places"') :]
    assert re.findall(r"<bdi>(.*?)</bdi>", section)[: len(places)] == [
        f"{row['bot']} {row['version']}" for row in places
    ]


def test_failures_are_shown_with_their_evidence_harmless_and_bounded(arena: Arena, tmp_path: Path) -> None:
    with Store.open(str(arena.database)) as store, (playing := begin(store, patchwork_spec(2, 4), name="bad")).lock:
        first, *rest = playing.assignments()
        failed = playing.forfeit(first, "a", Ending.CRASH)
        box = BlackBox(exit="killed by SIGSEGV", stderr="y" * 99_999, messages=("</pre><script>alert(2)</script>",))
        told = replace(failed.failures[0], evidence=HOSTILE, reason="boom", box=box)
        store.record([replace(failed, failures=(told,)), *map(playing.normal, rest)])
    assert arena("report", "bad", "--out", str(tmp_path / "out")).code == 0
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    (details,) = re.findall(r'<details class="failure">(.*?)</details>', page, re.DOTALL)
    assert "bad/1" in details
    assert "crash at ply 3" in details
    assert "process: killed by SIGSEGV" in details
    assert "&lt;script&gt;alert(1)" in details
    assert "<script>" not in details
    assert "\u202e" not in details
    assert "all of it: arena games show bad/1" in details
    assert len(details) < 2 * failures.MAX_CHARACTERS
