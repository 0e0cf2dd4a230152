"""`arena withdraw`, what tables say afterwards, and how a command says to go on."""

from __future__ import annotations

import pytest
from here import Arena
from tournaments import begin, patchwork_spec

from arena_server.cli import going_on
from arena_server.model import Entrant, Spec
from arena_server.store import Store


def test_a_bot_is_taken_out(arena: Arena) -> None:
    done = arena("withdraw", "BOT1", "--tournament", "nightly")
    assert done.code == 0
    assert done.out.splitlines() == [
        "bot1 1.0 is withdrawn from nightly: 2 of its games are cancelled, those played count",
        "nothing is left to play",
    ]
    board = arena("leaderboard")
    assert board.out.startswith("tournament nightly: 22 of 24 games rated, 2 cancelled\n")
    assert [line.split()[1:4] for line in board.out.splitlines() if "(" in line] == [["bot1", "1.0", "(withdrawn)"]]
    assert {row["bot"]: row["withdrawn"] for row in arena("leaderboard", "--json").json["standings"]} == {
        "bot0": False,
        "bot1": True,
        "bot2": False,
    }
    assert "bot1 1.0 (withdrawn)" in arena("leaderboard", "--full").out
    assert arena("verify").code == 0
    again = arena("withdraw", "bot1", "--json")
    assert again.code == 2
    assert again.error["what"] == "this bot is withdrawn already"


def test_as_json(arena: Arena) -> None:
    done = arena("withdraw", "bot0 1.0", "--tournament", "tiny", "--json")
    assert done.json == {"tournament": "tiny", "withdrawn": "bot0 1.0", "cancelled": 0, "status": "finished"}
    amended = arena("tournaments", "--json").json[1]["amendments"]
    assert [amendment["stage"] for amendment in amended] == [2]


def test_who_is_meant_must_be_clear(arena: Arena) -> None:
    twins = tuple(Entrant("twin", "1", "00", (("c", c),)) for c in (1, 2))
    spec = Spec((*twins, *patchwork_spec(1).entrants), games=2, deals=(("edition", "original"),))
    with Store.open(str(arena.database)) as store:
        begin(store, spec, name="twins").lock.release()
    done = arena("withdraw", "twin")
    assert done.code == 2
    assert "the bot could be one of several: 'twin' - say which: 'twin 1 c=1', 'twin 1 c=2'" in done.err
    assert arena("withdraw", "twin 1 c=2").code == 0
    left = arena("withdraw", "twin")
    assert "twin 1 c=1 is withdrawn" in left.out  # only one is still in
    assert arena("withdraw", "nobody").code == 2


def test_a_tournament_that_is_being_played_is_left_alone(arena: Arena) -> None:
    with Store.open(str(arena.database)) as store, begin(store, patchwork_spec(3), name="live").lock:
        done = arena("withdraw", "bot0")
    assert done.code == 2
    assert "tournament live is being played by another command" in done.err


def test_a_table_of_a_format_marks_the_withdrawn(arena: Arena) -> None:
    with Store.open(str(arena.database)) as store:
        begin(store, patchwork_spec(4, 2, format="ladder", rounds=1), name="rungs").lock.release()
    arena("withdraw", "bot3")
    assert arena("leaderboard").out.count("bot3 1.0 (withdrawn)") == 2


@pytest.mark.parametrize(
    ("given", "again"),
    [
        (["run-tournament", "a b", "--games", "2"], "run-tournament 'a b' --games 2"),
        (["run-tournament", "a", "--extend"], "run-tournament a --extend"),
        (["run-tournament", "a", "--new", "--games", "2"], "run-tournament a --games 2 --name cup-2"),
        (["run-tournament", "--name", "cup", "--new", "a"], "run-tournament a --name cup-2"),
        (["run-tournament", "--name=cup", "a", "--new"], "run-tournament a --name cup-2"),
    ],
)
def test_the_command_that_goes_on(given: list[str], again: str) -> None:
    assert going_on.command("cup-2", given).endswith(f"arena {again}")
