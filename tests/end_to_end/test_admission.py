"""The admission test of a standing server, and how bots elsewhere are parked, replaced and resign: real processes."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from chaos import Chaos, Weather
from command import arena, bot, script
from standing import Server, Site, wait_for

from arena_server.model import Entrant
from arena_server.store import Store, admissions, queries

SLOW = """
import time
time.sleep(0.2)
return state.legal_moves()[0]
"""
OUT_OF_TURN = """
return "z9" if self.seat == "b" else state.legal_moves()[0]
"""
TWO_AT_ONCE = """\
from arena_sdk import Bot

class First(Bot):
    def choose(self, state, clock):
        return state.legal_moves()[0]

if __name__ == "__main__":
    First.main()
"""
NO_START = """\
from arena_sdk import Bot

class Failing(Bot):
    def on_start(self):
        raise RuntimeError("no model file")

if __name__ == "__main__":
    Failing.main()
"""


def outcomes(server: Server, label: str) -> list[str]:
    """What became of the tests of a version."""
    return [event["outcome"] for event in server.events("admission") if event["bot"] == label]


def states(folder: Path) -> dict[str, str]:
    listed = json.loads(arena("bots", "list", "--json", cwd=folder).stdout)
    return {one["bot"]: one["admission"] for one in listed["bots"]}


def is_playing(site: Site, label: str) -> bool:
    """Whether it sits at a game of the server that has the socket."""
    command = ("server", "status", "--server", f"unix:{site.folder / 'socket'}", "--json")
    games: list[dict[str, Any]] = json.loads(arena(*command, cwd=site.folder).stdout)["games"]
    return any(label in game["seats"] for game in games)


def test_a_bot_is_tested_once_before_it_plays_rated_games(site: Site) -> None:
    tokens = {name: site.token(name) for name in ("ada", "bob")}
    server = site.serve("--bot", "random", "--metrics", "0")
    assert states(site.folder) == {"ada": "new", "bob": "new", "random": ""}
    ada = site.join("ada", server.address, tokens["ada"], "--games", "1")
    bob = site.join("bob", server.address, tokens["bob"], body=OUT_OF_TURN)

    assert bob.wait() == 1
    why = "game 2 of 2, against random 1.0, seat b: illegal move 'z9': a move is"
    lines = bob.text().splitlines()
    assert lines[-1].startswith(f"arena_sdk: the arena closed the stream: bob 1 has failed its admission test: {why}")
    assert lines[-1].endswith("mend it and start it again; within an hour it may try 4 times more")
    assert states(site.folder)["bob"].startswith(f"failed: {why}")
    shown = arena("bots", "admission", "bob", cwd=site.folder).stdout
    assert why in shown
    assert "reply: 'z9'" in shown
    assert "last messages:" in shown

    assert ada.wait() == 0  # after a rated game: those of the test do not count
    assert "ada 1 has passed its test" in ada.text()
    assert states(site.folder)["ada"] == "admitted"
    assert server.games("ada 1")
    with Store.open(str(site.folder / "arena.db"), create=False) as store:  # no command means the server's from now on
        spec = queries.tournament(store, "season").spec
        store.enter(replace(spec, entrants=(), late=(), withdrawn=()), name="another")
    again = site.join("ada", server.address, tokens["ada"], "--until-sigma", "8")
    assert again.wait() == 0  # once it is rated so surely
    assert float(again.text().rpartition("sigma ")[2].partition(")")[0]) <= 8
    assert outcomes(server, "ada 1") == ["begun", "passed"]
    assert outcomes(server, "bob 1") == ["begun", "failed"]
    assert not server.games("bob 1")

    with Store.open(str(site.folder / "arena.db"), create=False) as store:
        for _ in range(admissions.MAX_FAILED - 3):
            admissions.record(store.database, Entrant("bob", "1", ""), "game 1 of 2: crash")
        bob = site.join("bob", server.address, tokens["bob"], body=OUT_OF_TURN)
        assert bob.wait() == 1
        assert bob.text().splitlines()[-1].endswith("within an hour it may try once more")
        admissions.record(store.database, Entrant("bob", "1", ""), "game 1 of 2: crash")
    bob = site.join("bob", server.address, tokens["bob"])
    assert bob.wait() == 1
    assert "game 1 of 2: crash - that was so 5 times within an hour; it may try again after 20" in bob.text()
    assert outcomes(server, "bob 1") == ["begun", "failed"] * 2
    figures = urlopen(f"http://127.0.0.1:{server.begun['metrics']}/metrics", timeout=10).read().decode()
    assert 'arena_admissions_total{outcome="passed"} 1.0' in figures


def storm(number: int) -> Weather:
    return Weather(reset_after=1500 + 97 * number) if number < 8 else Weather()


def test_a_bot_for_two_games_plays_itself_and_comes_back_in_the_middle_of_plies(site: Site) -> None:
    """Its connection is reset again and again, and it passes, and plays on."""
    token = site.token("ada")
    server = site.serve("--concurrency", "1")  # without a bot of the house
    path = script(site.folder, "ada", TWO_AT_ONCE, "games_at_once = 2")
    with Chaos("tcp", storm, server.address) as chaos:
        ada = site.join("ada", chaos.address, token, path=path)
        wait_for(lambda: outcomes(server, "ada 1") == ["begun", "passed"], "the test of a bot behind a bad network")
        assert chaos.connections > 3
        opponents = ("itself", "random 1.0", "random 1.0")
        games = {f"arena_sdk: the arena: game {at} of 3, against {other}" for at, other in enumerate(opponents, 1)}
        told = {line for line in ada.text().splitlines() if line.startswith("arena_sdk: the arena: game ")}
        assert told
        assert told <= games  # what was said on a stream that broke is lost
        second = site.token("eve")
        site.join("eve", server.address, second)
        wait_for(lambda: server.games("ada 1", "eve 1"), "a rated game")
        assert {game["ending"] for game in server.games("ada 1", "eve 1")} == {"normal"}


def test_a_test_without_an_answer_is_no_failure(site: Site) -> None:
    """The bot leaves in the middle, or the bot of the house is at fault."""
    tokens = {name: site.token(name) for name in ("ada", "bob")}
    server = site.serve("--bot", "random", "--bot", bot(site.folder, "broken", "raise RuntimeError"))
    ada = site.join("ada", server.address, tokens["ada"], body=SLOW)
    wait_for(lambda: "game 1 of 2" in ada.text(), "the first game of a test")
    ada.process.send_signal(signal.SIGINT)
    assert ada.wait() == 0
    wait_for(lambda: outcomes(server, "ada 1") == ["begun", "unfinished"], "the end of a test")
    assert server.stop() == 0
    other = site.serve("--bot", str(site.folder / "broken.py"), "--season", "other")
    bob = site.join("bob", other.address, tokens["bob"])
    wait_for(lambda: outcomes(other, "bob 1") == ["begun", "unfinished"], "a test to be put off")
    assert "the test begins again in 30 s: the arena could not play game 1 of 2" in bob.text()
    assert {states(site.folder)[name] for name in tokens} == {"new"}


def test_without_admission_who_never_starts_is_parked_and_told_why(site: Site) -> None:
    tokens = {name: site.token(name) for name in ("ada", "bob")}
    server = site.serve("--bot", "random", "--no-admission", "--socket", "socket")
    (site.folder / "bad.py").write_text(NO_START)
    for _ in range(2):  # it may come back, and hears it again
        ada = site.join("ada", server.address, tokens["ada"], "--as", "ada", path=str(site.folder / "bad.py"))
        assert ada.wait() == 1
        assert "ada 1 is parked in season: it did not start 3 times in a row (season/" in ada.text()
    assert server.events("admission") == []
    assert {game["ending"] for game in server.games("ada 1")} == {"start_failure"}

    first = site.join("bob", server.address, tokens["bob"], body=SLOW)
    wait_for(lambda: is_playing(site, "bob 1"), "a game")
    second = site.join("bob", server.address, tokens["bob"], body=SLOW)
    assert first.wait() == 0
    assert "another process came with this bot's token" in first.text()
    wait_for(lambda: server.games("bob 1"), "a game that the second one finished")
    assert second.process.poll() is None
    wait_for(lambda: is_playing(site, "bob 1"), "another game")
    second.process.send_signal(signal.SIGINT)
    wait_for(lambda: "leaving after 1 running game; once more resigns" in second.text(), "a word about it")
    second.process.send_signal(signal.SIGINT)
    assert second.wait() == 0
    assert "resigning 1 running game: seat " in second.text()
    assert "is over: resign" in second.text()
    endings = [game["ending"] for game in server.games("bob 1") if game.get("reason") != "a bot has left"]
    assert (set(endings), endings.count("resign")) == ({"normal", "resign"}, 1)
