"""Challenges on a standing server, as real processes."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from command import arena, nothing_left, start
from standing import PATIENCE, Server, Site, wait_for

from arena_server.model import UserError
from arena_server.store import Store, Tournament, queries
from arena_server.store.challenges import MAX_OPEN_OF_A_BOT, challenge
from arena_server.store.verify import verify

THINKING = "import time; time.sleep(0.01); return state.legal_moves()[0]"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with nothing_left(tmp_path, monkeypatch):
        opened = Site(tmp_path)
        try:
            yield opened
        finally:
            opened.close()


def of(server: Server, tournament: str) -> list[dict[str, Any]]:
    """The games of a tournament that this server has played."""
    return [game for game in server.events("game") if game["game"].startswith(f"{tournament}/")]


def sound(folder: Path, *names: str) -> list[Tournament]:
    """Tournaments that are what their journals say."""
    with Store.open(str(folder / "arena.db"), create=False) as store:
        found = [queries.tournament(store, name) for name in names]
        for held in found:
            assert verify(store, held).problems == ()
        return found


def test_a_challenge_is_played_beside_the_season_also_after_a_kill(site: Site) -> None:
    tokens = {name: site.token(name, "Ada") for name in ("ada", "bob")}  # of one owner: the season does not pair them
    server = site.serve("--bot", "random")
    for name, token in tokens.items():
        site.join(name, server.address, token, body=THINKING)
    wait_for(lambda: of(server, "season"), "a game of the season")
    waiting = start("challenge", "ada", "bob 1", "--games", "12", "--wait", cwd=site.folder)
    wait_for(lambda: of(server, "challenge-1"), "a game of the challenge")
    asked = ("games", "list", "--tournament", "challenge-1", "--server", server.address, "--json")
    seen = json.loads(arena(*asked, cwd=site.folder).stdout)["games"]
    assert all(game["status"] != "planned" for game in seen)  # what is not over is hidden
    server.process.kill()
    server.process.wait()

    again = site.serve("--bot", "random", port=int(server.address.rpartition(":")[2]))
    told, progress = waiting.communicate(timeout=PATIENCE)
    assert waiting.returncode == 0, progress
    assert "challenge-1: ada 1 against bob 1, 12 games, unrated" in told
    assert "tournament challenge-1: 12 games rated" in told
    assert " of 12 games played" in progress
    wait_for(lambda: of(again, "season"), "games of the season after the restart")
    assert again.stop() == 0
    season, held = sound(site.folder, "season", "challenge-1")
    assert (season.status, held.status, held.called_off) == ("running", "finished", "")
    listed = arena("tournaments", "--purpose", "challenge", cwd=site.folder).stdout
    assert "ada 1 - bob 1" in listed
    assert "challenge-1" not in arena("tournaments", cwd=site.folder).stdout
    board = json.loads(arena("leaderboard", "--json", cwd=site.folder).stdout)
    assert board["tournament"] == "season"
    lines = [json.loads(line) for log in (server, again) for line in log.text().splitlines()]
    games = [line["game"] for line in lines if line["event"] == "game" and line["ending"] != "void"]
    assert len(games) == len(set(games))  # none is played twice


def test_a_challenge_whose_bot_leaves_comes_to_an_end(site: Site) -> None:
    token = site.token("ada")
    server = site.serve("--bot", "random")
    ada = site.join("ada", server.address, token, body=THINKING)
    wait_for(lambda: server.games("ada 1"), "a game of hers")
    done = arena("challenge", "random", "ada", "--games", "100", "--json", cwd=site.folder)
    assert json.loads(done.stdout) == {"challenge": "challenge-1", "bots": ["random 1.0", "ada 1"], "games": 100}
    wait_for(lambda: of(server, "challenge-1"), "a game of the challenge")
    ada.process.send_signal(signal.SIGINT)
    wait_for(lambda: sound(site.folder, "challenge-1")[0].status == "finished", "the end of the challenge")
    assert {game.get("reason") for game in of(server, "challenge-1")[-20:]} == {"a bot has left"}
    shown = json.loads(arena("leaderboard", "--tournament", "challenge-1", "--json", cwd=site.folder).stdout)
    assert shown["games"]["abandoned"] > 50


def test_a_version_whose_place_another_has_taken_stays_for_its_challenge(site: Site) -> None:
    token = site.token("ada")
    server = site.serve("--bot", "random")
    old = site.join("ada", server.address, token, "--version", "1")
    wait_for(lambda: server.games("ada 1"), "a game of the old version")
    assert arena("bots", "add", "ada", "--owner", "owner-ada", "--version", "2", cwd=site.folder).returncode == 0
    assert arena("challenge", "ada 1", "ada 2", "--games", "2", cwd=site.folder).returncode == 0
    site.join("ada", server.address, token, "--version", "2")
    wait_for(lambda: of(server, "challenge-1")[1:], "their games")
    assert {game["ending"] for game in of(server, "challenge-1")} == {"normal"}
    assert not sound(site.folder, "challenge-1")[0].called_off
    assert old.process.poll() is None or "ada 2 plays in its place" in old.text()


def test_r25_of_a_hundred_challenges_at_once_each_is_played_or_refused_with_a_reason(site: Site) -> None:
    tokens = {name: site.token(name) for name in ("ada", "bob", "eve")}
    server = site.serve("--bot", "random", "--bot", "greedy", "--concurrency", "4")
    for name, token in tokens.items():
        site.join(name, server.address, token)
    bots = [*tokens, "random", "greedy"]
    pairs = [(bots[number % 5], bots[(number + 1 + number // 5 % 4) % 5]) for number in range(100)]
    with Store.open(str(site.folder / "arena.db")) as store, ThreadPoolExecutor(16) as threads:

        def ask(pair: tuple[str, str]) -> str:
            try:
                return challenge(store.database, pair, 2).name
            except UserError as error:
                return str(error)

        answers = list(threads.map(ask, pairs))
        made = [answer for answer in answers if answer.startswith("challenge-")]
        refused = Counter(answer.partition(" ")[2] for answer in answers if answer not in made)
        assert len(made) + refused.total() == 100
        assert all(f"has {MAX_OPEN_OF_A_BOT} open challenges" in reason for reason in refused), refused
        assert len(made) >= 2 * MAX_OPEN_OF_A_BOT
        wait_for(lambda: not store.side_events(), "all that were made to be played")
    assert server.stop() == 0
    for held in sound(site.folder, *made):
        assert (held.planned, held.called_off) == (2, "")
    sound(site.folder, "season")
    assert of(server, "season")  # which went on meanwhile
    assert {game["ending"] for game in server.events("game")} == {"normal"}
