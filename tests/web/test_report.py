"""The pages of a report in a real browser."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sample_store import play_nightly, play_tiny
from tournaments import begin, patchwork_spec

from arena_server.cli import main
from arena_server.model import Entrant
from arena_server.report import writing
from arena_server.store import Store, queries

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., Any]
MINUS = "\u2212"
HOSTILE = (
    "</script><script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "\u202egnp.exe\u2066 \u05d0\u05d1\u05d2",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with three tournaments, each with its report beside it."""
    folder = tmp_path_factory.mktemp("reports")
    with Store.open(str(folder / "arena.db")) as store:
        play_tiny(store)
        play_nightly(store)
        spec = patchwork_spec(3, 2)
        evil = tuple(Entrant(name, "1'\"<b>", one.digest) for name, one in zip(HOSTILE, spec.entrants, strict=True))
        with (playing := begin(store, replace(spec, entrants=evil), name="evil")).lock:
            store.record(playing.results())
        for name in ("tiny", "nightly", "evil"):
            writing.write(store, name, folder / name, parquet=False)
    return folder


def answer(home: Path, capsys: pytest.CaptureFixture[str], *command: str) -> Any:
    with contextlib.suppress(SystemExit):
        main([*command, "--db", str(home / "arena.db"), "--json"])
    return json.loads(capsys.readouterr().out)


def cells(page: Page, table: str) -> list[list[str]]:
    """The texts of a section's table, row by row."""
    found: list[list[str]] = page.evaluate(
        "(id) => [...document.querySelectorAll(`#${id} tbody tr`)].map("
        "row => [...row.children].map(cell => cell.innerText.trim()))",
        table,
    )
    return [[cell.replace(MINUS, "-") for cell in row] for row in found]


def test_the_tables_say_what_the_leaderboard_says(home: Path, visit: Open, capsys: pytest.CaptureFixture[str]) -> None:
    board = answer(home, capsys, "leaderboard", "--full", "--tournament", "nightly")["standings"]
    with visit(home / "nightly/report.html") as page:
        shown, sure, cross = cells(page, "standings"), cells(page, "strength"), cells(page, "crosstable")
    assert len(shown) == len(board)
    for row, elo, standing in zip(shown, sure, board, strict=True):
        low, high = standing["rank_range"]
        assert row[:8] == [
            str(standing["rank"]),
            f"{standing['bot']} {standing['version']}",
            str(low) if low == high else f"{low}–{high}",  # noqa: RUF001 - as shown
            f"{standing['conservative']:.2f}",
            f"{standing['mu']:.2f}",
            f"{standing['sigma']:.2f}",
            f"{standing['wins']}-{standing['losses']}",
            str(standing["games"]),
        ]
        assert elo[2:4] == [
            f"{standing['elo']['value']:+.0f}",
            f"{standing['elo']['low']:+.0f} to {standing['elo']['high']:+.0f}",
        ]
    table = answer(home, capsys, "crosstable", "--tournament", "nightly")
    wins = {(table["bots"][one["bot"]]["bot"], table["bots"][one["against"]]["bot"]): one for one in table["cells"]}
    names = [standing["bot"] for standing in board]
    for name, row in zip(names, cross, strict=True):
        for other, cell in zip(names, row[2:], strict=True):
            if name != other:
                score = wins[name, other]
                seats = [f"{letter} {one['wins']}-{one['losses']}" for letter, one in score["seats"].items()]
                assert cell.split("\n") == [f"{score['wins']}-{score['losses']}", *seats]


def test_a_replay_steps_to_the_final_score(home: Path, visit: Open) -> None:
    with Store.open(str(home / "arena.db")) as store:
        record = queries.record(store, queries.find_game(store, "nightly/3"))
    with visit(home / "nightly/report.html") as page:
        page.get_by_role("link", name="replay game 3", exact=True).click()
        told = page.locator("#told")
        page.locator("#told", has_text="ply 0 of").wait_for()
        assert page.locator("#first").is_disabled()
        for ply, (seat, move) in enumerate(zip(record.movers, record.moves, strict=True), 1):
            page.locator("#next").click()
            assert " ".join(told.inner_text().split()).startswith(f"ply {ply} of {len(record.moves)} {seat} {move}")
        assert page.locator("#next").is_disabled()
        notes = page.locator("#boards figure.large .note").all_inner_texts()
        assert [int(note.split()[0]) for note in notes] == list(record.score)
        shown = page.locator("#player-ending").inner_text().replace(MINUS, "-")
        assert shown == f"{record.winner} wins, {' : '.join(map(str, record.score))}"
        covered = page.locator("#boards figure.large").first.locator("rect:not(.empty)").count()
        with Store.open(str(home / "arena.db")) as store:
            position = queries.result(store, queries.find_game(store, "nightly/3")).position
        assert covered == sum(symbol.isalpha() or symbol == "*" for symbol in position.split(" ")[1])


def test_keys_slider_moves_and_the_address(home: Path, visit: Open) -> None:
    with visit(home / "nightly/report.html", "#game-3/5") as page:
        told = page.locator("#told")
        page.locator("#told", has_text="ply 5 of").wait_for()
        page.keyboard.press("ArrowRight")
        assert told.inner_text().startswith("ply 6 ")
        assert page.url.endswith("#game-3/6")
        page.keyboard.press("End")
        assert page.locator("#last").is_disabled()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowLeft")
        assert told.inner_text().startswith("ply 0 ")
        page.locator("#slider").fill("9")
        assert told.inner_text().startswith("ply 9 ")
        page.locator("#moves li").nth(12).click()
        assert told.inner_text().startswith("ply 12 ")
        page.locator("#play").click()
        page.locator("#told", has_text="ply 14 of").wait_for()
        page.locator("#play").click()
        page.locator("#close").click()
        page.locator("#player").wait_for(state="hidden")


def test_the_list_is_filtered(home: Path, visit: Open, capsys: pytest.CaptureFixture[str]) -> None:
    listed = answer(home, capsys, "games", "list", "--tournament", "nightly")["games"]
    with visit(home / "nightly/report.html") as page:
        page.locator("#of-ending").select_option("illegal move")
        rows = cells(page, "games")
        assert [int(row[0]) for row in rows] == [one["number"] for one in listed if one["ending"] == "illegal_move"]
        assert rows[0][-1] == "illegal move (a)"
        page.locator("#of-ending").select_option("")
        page.locator("#of-bot").select_option(label="bot1 1.0")
        assert len(cells(page, "games")) == sum("bot1 1.0" in one["seats"] and bool(one["scores"]) for one in listed)


def test_a_failure_is_shown_and_harmless(home: Path, visit: Open) -> None:
    with visit(home / "nightly/report.html", "#game-8") as page:
        page.locator("#player").wait_for()
        ending = page.locator("#player-ending").inner_text()
    assert "illegal move by a: no such move \\x1b[2J" in ending
    assert "the reply was K9z9" in ending
    assert "\u202e" not in ending


def test_a_game_of_three_seats_without_pictures(home: Path, visit: Open) -> None:
    with Store.open(str(home / "arena.db")) as store:
        record = queries.record(store, queries.find_game(store, "tiny/1"))
    with visit(home / "tiny/report.html", "#game-1") as page:
        page.locator("#player").wait_for()
        page.locator("#last").click()
        position = page.locator("#boards pre").inner_text()
        assert position.split()[:3] == [str(score) for score in record.score]
        assert page.locator("#told .token").all_inner_texts() == ["c"]
        assert cells(page, "standings")[0][6].count("-") == 2


@pytest.mark.parametrize(
    ("name", "scheme"), [("nightly", "light"), ("nightly", "dark"), ("evil", "dark"), ("tiny", "light")]
)
def test_a_narrow_page_scrolls_only_downwards(home: Path, visit: Open, name: str, scheme: str) -> None:
    with visit(
        home / name / "report.html", "#game-1/9", viewport={"width": 400, "height": 800}, color_scheme=scheme
    ) as page:
        page.locator("#player").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") == 400
        background, ink = page.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
        )
        assert (brightness(background) < brightness(ink)) == (scheme == "dark")
        assert len(page.screenshot(full_page=True)) > 20_000


def brightness(colour: str) -> int:
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))


def test_hostile_names_are_only_names(home: Path, visit: Open) -> None:
    with visit(home / "evil/report.html", "#game-1") as page:
        page.locator("#player").wait_for()
        names = {row[1] for row in cells(page, "standings")}
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 2
        listed = {name for row in cells(page, "games") for name in row[1:3]}
    assert f"{HOSTILE[0]} 1'\"<b>" in names
    assert any("\\u202egnp.exe\\u2066 \u05d0\u05d1\u05d2" in name for name in names)
    assert listed == names


def test_every_image_and_table_has_a_name(home: Path, visit: Open) -> None:
    with visit(home / "nightly/report.html", "#game-3/9") as page:
        page.locator("#player").wait_for()
        unnamed = page.evaluate(
            "[...document.querySelectorAll('svg, button, input, select, section, .wide')].filter(one => !("
            "one.getAttribute('aria-hidden') || one.getAttribute('aria-label') || one.getAttribute('aria-labelledby')"
            " || one.labels?.length || one.innerText?.trim())).map(one => one.outerHTML.slice(0, 80))"
        )
        dangling = page.evaluate(
            "[...document.querySelectorAll('[aria-labelledby], a[href^=\"#\"]')]"
            ".map(one => one.getAttribute('aria-labelledby') ?? one.getAttribute('href').slice(1))"
            ".filter(id => !id.startsWith('game-') && !document.getElementById(id))"
        )
        headers = page.evaluate("[...document.querySelectorAll('th')].every(one => one.scope)")
    assert unnamed == []
    assert dangling == []
    assert headers


def test_later_games_are_on_pages_that_are_linked(home: Path, visit: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "EMBEDDED", 10)
    with Store.open(str(home / "arena.db")) as store:
        writing.write(store, "nightly", home / "split", parquet=False)
    with visit(home / "split/report.html") as page:
        page.get_by_role("link", name="replay game 21", exact=True).click()
        page.locator("#player").wait_for()
        assert page.url.endswith("games/21.html#game-21")
        assert [row[0] for row in cells(page, "games")] == ["21", "22"]
        page.get_by_role("link", name="the report").click()
        assert page.title() == "nightly"
    shutil.rmtree(home / "split")


def test_one_game_to_share(home: Path, visit: Open, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared = tmp_path / "game.html"
    command = ["games", "export", "nightly/3", "--format", "html", "--db", str(home / "arena.db")]
    with pytest.raises(SystemExit) as done:
        main([*command, "--output", str(shared)])
    assert done.value.code == 0
    assert capsys.readouterr().out == f"1 game written to {shared}\n"
    with visit(shared) as page:
        page.locator("#player").wait_for()
        assert page.title() == "nightly/3"
        page.keyboard.press("End")
        assert page.locator("#boards svg").count() >= 3
    sys.stdout.flush()
