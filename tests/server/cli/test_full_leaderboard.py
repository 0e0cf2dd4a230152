"""`arena leaderboard --full`."""

from __future__ import annotations

from pathlib import Path

import pytest
from here import Arena
from tournaments import begin, patchwork_spec

from arena_server.model import About
from arena_server.store import Store, queries


def test_four_parts(arena: Arena) -> None:
    done = arena("leaderboard", "--full")
    assert done.code == 0
    standings, seats, calibration, notes = done.out.split("\n\n")
    title, heading, *rows = standings.splitlines()
    assert title == "tournament nightly: 22 of 24 games rated, 2 to play"
    assert heading.split() == "# bot mu-3sigma W-L pairs Elo 95 % ranks over next superior".split()  # noqa: SIM905 - as printed
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert [line.split()[0] for line in seats.splitlines()] == ["seat", "a", "b"]
    assert calibration.startswith("favourite's chance")
    assert "agree" in notes


def test_it_begins_as_the_leaderboard(arena: Arena) -> None:
    plain, full = arena("leaderboard", "--json").json, arena("leaderboard", "--full", "--json").json
    assert {key: full[key] for key in plain if key != "standings"} | {"standings": plain["standings"]} == plain
    for short, long in zip(plain["standings"], full["standings"], strict=True):
        assert {key: long[key] for key in short} == short


def test_json_adds_up(arena: Arena) -> None:
    full = arena("leaderboard", "--full", "--json").json
    rows = full["standings"]
    assert sum(row["elo"]["value"] for row in rows) == pytest.approx(0)
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        assert row["elo"]["low"] < row["elo"]["value"] < row["elo"]["high"]
        assert 1 <= row["rank_range"][0] <= row["rank_range"][1] <= 3
        if after is None:
            assert row["over_next"] is row["superiority"] is None
        else:
            assert row["over_next"]["value"] == pytest.approx(row["elo"]["value"] - after["elo"]["value"])
            assert 0 < row["superiority"] < 1
    assert sum(row["pairs"] for row in rows) == 2 * 11
    assert full["seats"]["a"]["score"] + full["seats"]["b"]["score"] == pytest.approx(1)
    assert full["seats"]["a"]["games"] == 22
    assert all(row["from"] < row["predicted"] <= row["to"] for row in full["calibration"])


def test_three_seats(arena: Arena) -> None:
    full = arena("leaderboard", "--full", "--json", "--tournament", "tiny").json
    assert set(full["seats"]) == set("abc")
    assert sum(seat["elo"]["value"] for seat in full["seats"].values()) == pytest.approx(0)
    assert "W-L-D" in arena("leaderboard", "--full", "--tournament", "tiny").out


def test_a_choice_of_games_is_rated_on_its_own(arena: Arena) -> None:
    chosen = ("--since", "9", "--opponent", "BOT1")
    full = arena("leaderboard", "--full", "--json", *chosen).json
    assert full["chosen"] == {"since": 9, "opponents": ["BOT1"], "tags": [], "groups": [], "games": 8}
    games = {row["bot"]: row["games"] for row in full["standings"]}
    assert games == {"bot1": 8, "bot0": 4, "bot2": 4}
    assert "games from number 9 on, games of BOT1; 8 games" in arena("leaderboard", "--full", *chosen).out


def test_a_choice_without_a_game(arena: Arena) -> None:
    full = arena("leaderboard", "--full", "--json", "--since", "23").json
    assert [row["elo"] for row in full["standings"]] == [None] * 3
    assert arena("leaderboard", "--full", "--since", "23").code == 0


def test_since_the_beginning_is_the_whole(arena: Arena) -> None:
    whole, chosen = (arena("leaderboard", "--full", "--json", *more).json for more in ((), ("--since", "1")))
    assert whole.pop("chosen") != chosen.pop("chosen")
    for row in chosen["standings"]:
        low, high = row.pop("resampled")
        assert low < row["elo"]["value"] < high
    assert [row.pop("resampled") for row in whole["standings"]] == [None] * 3
    assert whole == chosen


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--full", "--since", "25"), "no such game: 25 - nightly has 24 games"),
        (("--full", "--since", "0"), "no such game: 0"),
        (("--full", "--opponent", "nobody"), "no such bot in nightly: 'nobody'"),
        (("--since", "3"), "add --full"),
        (("--opponent", "bot1"), "add --full"),
        (("--full", "--since", "monday"), "monday"),
    ],
)
def test_a_mistake_is_told(arena: Arena, arguments: tuple[str, ...], told: str) -> None:
    done = arena("leaderboard", *arguments)
    assert done.code == 2
    assert told in done.err
    assert done.out == ""


def test_equal_results_give_equal_bytes(arena: Arena, tmp_path: Path) -> None:
    printed = set()
    for number, turn in enumerate((1, -1)):
        path = str(tmp_path / f"other{number}.db")
        with Store.open(path) as store, (playing := begin(store, patchwork_spec(3, 4), name="same")).lock:
            for result in playing.results()[::turn]:
                store.record([result])
        printed.add("".join(arena("leaderboard", "--full", "--db", path, *more).out for more in ((), ("--json",))))
    assert len(printed) == 1


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_shows_what_fits(arena: Arena, width: int) -> None:
    lines = arena.on_a_terminal(width, "leaderboard", "--full")
    tables = "\n".join(lines[1:]).split("\n\n")[:3]
    assert max(len(line) for table in tables for line in table.splitlines()) <= width
    assert "Elo" in tables[0]
    assert ("over next" in tables[0]) == (width > 40)


def test_before_the_first_game(arena: Arena) -> None:
    with Store.open("arena.db") as store:
        store.enter(patchwork_spec(games=2), name="empty")
    assert arena("leaderboard", "--full").out.startswith("tournament empty: no games yet\n")


def test_games_all_are_to_blame_for_count_but_say_nothing(arena: Arena) -> None:
    with Store.open("arena.db") as store, (playing := begin(store, patchwork_spec(2, 4), name="broken")).lock:
        one, *others = playing.assignments()
        store.record([playing.forfeit(one, "ab"), *map(playing.normal, others)])
    done = arena("leaderboard", "--full")
    assert "games in which all were to blame, left out of Elo: 1" in done.out
    full = arena("leaderboard", "--full", "--json").json
    assert [row["games"] for row in full["standings"]] == [4, 4]
    assert full["seats"]["a"]["games"] == 3


def test_bots_are_chosen_by_tag_and_group(arena: Arena) -> None:
    with Store.open(str(arena.database)) as store:
        about = [About(tags=("search",)), About(None, "blue", ("search",)), About(None, "blue")]
        store.describe(queries.tournament(store, "nightly"), about=about)
    done = arena("leaderboard", "--full", "--tag", "Search")
    assert "chosen and rated on their own: bots with the tag Search; 6 games" in done.out
    told = arena("leaderboard", "--full", "--tag", "search", "--json").json
    assert {row["bot"] for row in told["standings"]} == {"bot0", "bot1"}
    assert [row["rank"] for row in told["standings"]] == [1, 2]
    assert sum(row["games"] for row in told["standings"]) == 2 * told["chosen"]["games"]
    assert told["chosen"]["tags"] == ["search"]
    both = arena("leaderboard", "--full", "--tag", "search", "--group", "blue", "--json").json
    assert (len(both["standings"]), both["chosen"]["games"]) == (1, 0)
    assert "no bot has this group: 'x' - did you mean blue?" in arena("leaderboard", "--full", "--group", "x").err
    assert "add --full" in arena("leaderboard", "--tag", "search").err


def test_the_table_of_the_format_is_there_too(arena: Arena) -> None:
    with Store.open(str(arena.database)) as store:
        playing = begin(store, patchwork_spec(4, 2, format="swiss", rounds=1), name="swiss")
        with playing.lock:
            store.record(playing.results())
            store.finish(playing.tournament)
    plain, full = arena("leaderboard"), arena("leaderboard", "--full")
    table = plain.out.split("\n\n")[1]
    assert table.startswith("swiss after round 1 of 1")
    assert full.out.split("\n\n")[1] == table.rstrip("\n")
    assert arena("leaderboard", "--full", "--json").json["places"] == arena("leaderboard", "--json").json["places"]


def test_an_anchor_moves_the_scale(arena: Arena) -> None:
    plain = arena("leaderboard", "--full", "--json").json
    full = arena("leaderboard", "--full", "--json", "--anchor", "BOT1=100").json
    assert (plain["anchors"], full["anchors"]) == ({}, {"bot1 1.0": 100})
    before, after = ({row["bot"]: row["elo"] for row in board["standings"]} for board in (plain, full))
    assert after["bot1"] == {"value": 100, "low": 100, "high": 100}
    for bot in ("bot0", "bot2"):
        over = before[bot]["value"] - before["bot1"]["value"]
        assert after[bot]["value"] == pytest.approx(100 + over)
    moved = {"standings", "anchors"}
    assert {key: full[key] for key in full.keys() - moved} == {key: plain[key] for key in plain.keys() - moved}
    text = arena("leaderboard", "--full", "--anchor", "bot1=100", "--anchor", "bot2 1.0=-50.5").out
    assert "Elo with bot1 1.0 at 100, bot2 1.0 at -50.5" in text


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--full", "--anchor", "greedy=0"), "no such bot"),
        (("--full", "--anchor", "greedy"), "not an anchor"),
        (("--full", "--anchor", "=3"), "not an anchor"),
        (("--full", "--anchor", "bot1=nan"), "not an anchor"),
        (("--full", "--anchor", "bot1=1e9"), "not an anchor"),
        (("--full", "--anchor", "bot1=0", "--anchor", "bot1 1.0=5"), "the same anchor twice"),
        (("--full", "--since", "23", "--anchor", "bot1=0"), "an anchor without a game"),
        (("--anchor", "bot1=0"), "add --full"),
    ],
)
def test_what_is_no_anchor(arena: Arena, given: tuple[str, ...], told: str) -> None:
    done = arena("leaderboard", *given)
    assert done.code == 2
    assert told in done.err


def test_a_tournament_keeps_its_anchors(arena: Arena) -> None:
    with Store.open(str(arena.database)) as store:
        nightly = queries.tournament(store, "nightly")
        store.anchor(nightly, {"bot2": 10.0, "nobody": 3.0})
    full = arena("leaderboard", "--full", "--json", "--tournament", "nightly").json
    assert full["anchors"] == {"bot2 1.0": 10}
    asked = arena("leaderboard", "--full", "--json", "--tournament", "nightly", "--anchor", "bot0=0").json
    assert asked["anchors"] == {"bot0 1.0": 0}
    before = arena("leaderboard", "--full", "--tournament", "nightly", "--since", "23")
    assert "bot2, nobody cannot be an anchor yet" in before.out
    assert arena("tournaments", "show", "nightly").code == 0
