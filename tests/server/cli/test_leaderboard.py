"""Standings, crosstable, tournaments."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from here import Arena
from sample_store import EVIL
from tournaments import begin, patchwork_spec

from arena_server.model import MAX_ATTEMPTS, About
from arena_server.ratings.stopping import canonical
from arena_server.store import Store, queries


def test_the_standings_of_the_tournament_started_last(arena: Arena) -> None:
    done = arena("leaderboard")
    assert done.code == 0
    assert done.err == "database arena.db\n"
    title, heading, *rows = done.out.splitlines()
    assert title == "tournament nightly: 22 of 24 games rated, 2 to play"
    assert heading.split() == ["#", "bot", "mu", "sigma", "mu-3sigma", "W-L", "games", "margin", "failures"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert sum("illegal move 1" in row for row in rows) == 2


def test_another_tournament_with_draws(arena: Arena) -> None:
    done = arena("leaderboard", "--tournament", "TINY", "--db", f"sqlite:///{arena.database}")
    assert done.out.startswith("tournament tiny: 24 games rated\n")
    assert "W-L-D" in done.out


def test_json_holds_every_digit(arena: Arena) -> None:
    board = arena("leaderboard", "--json").json
    assert board["tournament"] == "nightly"
    assert board["games"] == {"planned": 24, "rated": 22, "waiting": 0, "abandoned": 0, "cancelled": 0}
    first = board["standings"][0]
    assert first["conservative"] == first["mu"] - 3 * first["sigma"]
    assert first["games"] == first["wins"] + first["losses"] + first["draws"]
    assert sum(row["wins"] for row in board["standings"]) == 22
    assert first["options"] == {"c": 1.5}


def test_a_game_that_was_given_up_is_named(arena: Arena) -> None:
    with Store.open(str(arena.database)) as store, (playing := begin(store, patchwork_spec(3, 2), name="cup")).lock:
        for _ in range(MAX_ATTEMPTS):
            store.record([playing.void(playing.assignments()[1])])
        store.record(playing.results())
    shown = arena("leaderboard").out
    assert shown.startswith("tournament cup: 5 of 6 games rated, 1 abandoned\n")
    assert "abandoned after void attempts, rated for nobody: game 2" in shown.splitlines()
    assert arena("leaderboard", "--json").json["remarks"] == {"abandoned": [2], "approximated": []}
    assert arena("verify").code == 0


def test_json_prints_nothing_else(arena: Arena) -> None:
    assert arena("leaderboard", "--json").err == ""


def test_equal_results_give_equal_bytes(arena: Arena, tmp_path: Path) -> None:
    """Whatever the database is called, and in whatever order the games ended."""
    printed = set()
    for number, turn in enumerate((1, -1)):
        path = tmp_path / f"other{number}.db"
        with Store.open(str(path)) as store, (playing := begin(store, patchwork_spec(3, 4), name="same")).lock:
            for result in playing.results()[::turn]:
                store.record([result])
        printed.add(arena("leaderboard", "--db", str(path)).out + arena("leaderboard", "--json", "--db", str(path)).out)
    assert len(printed) == 1


def test_two_option_sets_of_one_bot_are_told_apart_everywhere(arena: Arena) -> None:
    spec = patchwork_spec(3, 2)
    mild, _, other = spec.entrants
    twins = [replace(mild, name="mcts", options=(("c", c), ("playouts", 9))) for c in (1.4, 2.0)]
    with (
        Store.open("arena.db") as store,
        (playing := begin(store, replace(spec, entrants=(*twins, other)), name="twins")).lock,
    ):
        store.record(playing.results())
    for command in ("leaderboard", "leaderboard --full", "crosstable", "games list"):
        for form in ("", " --json"):
            out = arena(*f"{command}{form}".split()).out
            assert "mcts 1.0 c=1.4" in out, command
            assert "mcts 1.0 c=2.0" in out, command
            assert "playouts=" not in out, command
    number = next(game["number"] for game in arena("games", "list", "--json").json["games"] if "bot2" in str(game))
    for command in ("games show", "games show --json", "replay", "games export", "games export --format text"):
        assert "mcts 1.0 c=" in arena(*command.split(), f"twins/{number}").out, command
    assert len(arena("games", "list", "--bot", "mcts 1.0 c=2.0", "--json").json["games"]) == 4


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("command", ["leaderboard", "crosstable", "tournaments", "games list"])
def test_a_terminal_shows_what_fits(arena: Arena, width: int, command: str) -> None:
    lines = arena.on_a_terminal(width, *command.split())
    assert max(map(len, lines[1:])) <= width
    text = "\n".join(lines)
    assert "nightly" in text
    if command == "leaderboard":
        assert re.search(r"1 +bot\d 1\.0 .*\d\.\d\d +\d+-\d+", text)
        assert ("games" in lines[1]) == (width > 60)


def test_a_pipe_gets_everything_in_plain_text(arena: Arena) -> None:
    out = arena("leaderboard").out
    assert "\x1b" not in out
    assert all(line == line.rstrip() for line in out.splitlines())


def test_the_crosstable(arena: Arena) -> None:
    done = arena("crosstable")
    matrix, pairs = done.out.split("\n\n")
    assert len(matrix.splitlines()) == 2 + 3
    assert pairs.splitlines()[0].split() == ["bot", "against", "W-L", "as", "a", "as", "b", "margin"]
    assert len(pairs.splitlines()) == 1 + 3


def test_the_crosstable_in_json_adds_up(arena: Arena) -> None:
    for name, seats in (("nightly", "ab"), ("tiny", "abc")):
        table = arena("crosstable", "--json", "--tournament", name).json
        cells = {(cell["bot"], cell["against"]): cell for cell in table["cells"]}
        assert cells
        for (row, column), cell in cells.items():
            assert cells[column, row]["wins"] == cell["losses"]
            assert cells[column, row]["draws"] == cell["draws"]
            assert set(cell["seats"]) == set(seats)
            assert sum(split["wins"] for split in cell["seats"].values()) == cell["wins"]


def test_tournaments(arena: Arena) -> None:
    lines = arena("tournaments").out.splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [["nightly", "running", "22/24"], ["tiny", "finished", "24/24"]]
    nightly, tiny = arena("tournaments", "--json").json
    assert nightly["secret"] is not None  # from a public seed
    assert (tiny["games"], tiny["chain_length"]) == ({"planned": 24, "finished": 24, "open": 0}, 24)


def test_a_secret_is_not_told_before_the_end(arena: Arena) -> None:
    with Store.open("arena.db") as store, (playing := begin(store, patchwork_spec(seed=None), name="hidden")).lock:
        assert arena("tournaments", "--json").json[0]["secret"] is None
        assert playing.tournament.secret.hex() not in arena("games", "list", "--json").out
        store.finish(playing.tournament)
    assert arena("tournaments", "--json").json[0]["secret"] == playing.tournament.secret.hex()


def test_before_the_first_game(arena: Arena) -> None:
    with Store.open("arena.db") as store:
        store.enter(patchwork_spec(games=2), name="empty")
    assert arena("leaderboard").out.startswith("tournament empty: no games yet\n")
    assert arena("crosstable").code == 0
    assert arena("games", "list").out == "tournament empty: no games\n"
    assert arena("games", "export", "--all").out == ""
    assert arena("verify").code == 0


def test_all_about_one_tournament(arena: Arena) -> None:
    with Store.open(str(arena.database)) as store:
        held = queries.tournament(store, "tiny")
        store.describe(held, tags=["nightly"], about=[About(f"Ada{EVIL}", "blue", ("a", "b"))])
        with store.lock(held) as lock:
            store.begin_run(lock.tournament, {"concurrency": 3, "command": ["arena", "run-tournament"]})
        store.enter(patchwork_spec(variants=((("edition", "revised"),), (("edition", "original"),))), name="both")
    assert "variants         edition revised; edition original\n" in arena("tournaments", "show", "both").out
    done = arena("tournaments", "show", "tiny")
    assert done.code == 0
    assert "tournament tiny: finished, 24 of 24 games; tags: nightly" in done.out
    assert "concurrency      3" in done.out
    assert "\x1b" not in done.out
    told = arena("tournaments", "show", "TINY", "--json").json
    assert told["contract"]["game"] == "tiny"
    assert told["tags"] == ["nightly"]
    assert (told["bots"][0]["group"], told["bots"][0]["tags"], told["bots"][1]["owner"]) == ("blue", ["a", "b"], None)
    assert (told["runs"][0]["concurrency"], told["runs"][0]["command"]) == (3, ["arena", "run-tournament"])
    assert arena("tournaments", "show").out.startswith("tournament both: planned, 0 of 0 games")
    assert arena("tournaments", "show", "x").code == 2


def test_a_narrow_terminal_breaks_no_word(arena: Arena) -> None:
    rule = canonical("sprt elo0=0 elo1=300 alpha=0.1 beta=0.1")
    with Store.open(str(arena.database)) as store:
        spec = patchwork_spec(2, 40, format="match", stop=rule)
        with (playing := begin(store, spec, name="asked")).lock:
            store.record(playing.results()[:4])
    (question,) = [line for line in arena("leaderboard").out.splitlines() if "LLR" in line]
    lines = arena.on_a_terminal(40, "leaderboard")
    assert all(len(line) <= 40 for line in lines)
    assert question in " ".join(lines)
