"""The end of a season, as an organiser brings it about beside a server that plays."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from command import arena
from standing import Server, Site, wait_for

from arena_server.store import Progress, Season, Store, queries
from arena_server.store.verify import verify

pytestmark = pytest.mark.timeout(300)  # a machine may be busy


def asked(site: Site, *arguments: str) -> Any:
    done = arena(*arguments, "--json", cwd=site.folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(site: Site, *arguments: str) -> str:
    done = arena(*arguments, cwd=site.folder)
    assert done.returncode == 2, done.stdout
    return done.stderr


def season(site: Site, name: str = "2027") -> Season:
    with Store.open(str(site.folder / "arena.db"), create=False) as store:
        return queries.season(store, name)


def told(server: Server, text: str) -> bool:
    return any(text in note["text"] for note in server.events("note"))


def sound(folder: Path, *names: str) -> None:
    with Store.open(str(folder / "arena.db"), create=False) as store:
        for name in names:
            report = verify(store, queries.tournament(store, name))
            assert report.ok, report.problems


def test_a_season_is_frozen_closed_and_archived_and_a_next_one_begins(site: Site) -> None:
    """The server is killed in the midst of the closing; a bot that went away is waited for; two have one owner."""
    tokens = {name: site.token(name, owner) for name, owner in (("ada", "Ada"), ("bob", "Bob"), ("eve", "Ada"))}
    options = ("--bot", "random", "--season", "2027", "--anchor", "random=0")
    server = site.serve(*options)
    port = int(server.address.rpartition(":")[2])
    joined = {name: site.join(name, server.address, token) for name, token in tokens.items()}
    names = ("ada 1", "bob 1", "eve 1", "random 1.0")
    wait_for(lambda: all(server.games(name) for name in names), "games of everybody")

    assert "arena season freeze 2027" in refused(site, "season", "close", "2027")
    last = asked(site, "season", "freeze", "2027")["last_game"]
    wait_for(lambda: told(server, "2027 is frozen"), "the server to look")
    wait_for(lambda: not season(site).progress.open, "the games that were planned")
    assert season(site).progress.planned == last

    joined["bob"].process.terminate()
    joined["bob"].wait()
    closing = asked(site, "season", "close", "2027", "--games", "4")["closing"]
    assert (closing["tournament"], closing["bots"]) == ("2027-closing", 4)
    wait_for(lambda: any(game["game"].startswith("2027-closing/") for game in server.games()), "games of the closing")
    server.process.kill()
    server.process.wait()
    before = {json.loads(line).get("game") for line in server.text().splitlines()}

    again = site.serve(*options, port=port)
    assert "is not over" in refused(site, "season", "archive", "2027")
    site.join("bob", again.address, tokens["bob"])
    wait_for(lambda: season(site).phase == "closed", "the closing round-robin")
    played = {game["game"] for game in again.events("game")}
    assert not played & before
    assert season(site).closing_progress == Progress(planned=20, finished=20, folded=20, abandoned=0, cancelled=0)
    assert not again.games("ada 1", "eve 1")

    archived = asked(site, "season", "archive", "2027")
    assert archived["phase"] == "archived"
    assert sorted(row["label"] for row in archived["table"]) == sorted(names)
    assert {row["elo"]["value"] for row in archived["table"] if row["label"] == "random 1.0"} == {0}
    assert sorted(row["ladder"]["rank"] for row in archived["table"]) == [1, 2, 3, 4]
    assert season(site).ladder.secret
    wait_for(lambda: told(again, "2027 is archived"), "the server to look")
    asked(site, "leaderboard", "--server", again.address, "--tournament", "2027-closing")
    assert again.stop() == 0
    sound(site.folder, "2027", "2027-closing")

    following = site.serve("--bot", "random", "--season", "2028", port=port)
    wait_for(lambda: all(following.games(name) for name in names), "games of the same bots")
    assert following.stop() == 0
    sound(site.folder, "2028")
    assert [one["phase"] for one in asked(site, "season", "list")["seasons"]] == ["open", "archived"]


def test_whoever_stays_away_from_a_closing_costs_nobody_a_game(site: Site) -> None:
    tokens = {name: site.token(name) for name in ("ada", "bob")}
    config = site.folder / "arena.toml"
    config.write_text('bots = ["random"]\nclosing_wait = 0.0005\n')  # 1.8 s
    server = site.serve(str(config))
    ada, _ = (site.join(name, server.address, token) for name, token in tokens.items())
    wait_for(lambda: all(server.games(name) for name in ("ada 1", "bob 1", "random 1.0")), "games of everybody")
    asked(site, "season", "freeze", "season")
    wait_for(lambda: not season(site, "season").progress.open, "the games that were planned")
    ada.process.send_signal(signal.SIGINT)
    assert ada.wait() == 0
    asked(site, "season", "close", "season", "--games", "2")
    wait_for(lambda: season(site, "season").phase == "closed", "the closing round-robin")
    row = next(row for row in asked(site, "season", "archive", "season")["table"] if row["label"] == "ada 1")
    assert (row["elo"], row["ladder"]["games"] > 0) == (None, True)
    reasons = {game.get("reason") for game in server.games("ada 1") if game["game"].startswith("season-closing/")}
    assert reasons == {"a bot was away for over 1.8 s"}
    assert server.stop() == 0
    sound(site.folder, "season", "season-closing")
