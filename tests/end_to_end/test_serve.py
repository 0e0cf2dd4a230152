"""A standing server and bots that join it, as real processes."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import grpc
import psutil
import pytest
import trustme
from command import arena, start
from grpc_health.v1 import health_pb2, health_pb2_grpc
from standing import PATIENCE, Site, wait_for

from arena.v1 import administration_pb2, administration_pb2_grpc, leaderboard_pb2_grpc, referee_pb2_grpc
from arena.v1 import leaderboard_pb2 as pb
from arena_server.store import Store, queries, registry
from arena_server.store.verify import verify


def check(folder: Path) -> None:
    """The season is what its journal says."""
    with Store.open(str(folder / "arena.db"), create=False) as store:
        report = verify(store, queries.tournament(store, "season"))
    assert report.ok, report.problems


def test_bots_from_elsewhere_play_rated_games_beside_a_house_bot(site: Site) -> None:
    tokens = {name: site.token(name) for name in ("ada", "bob")}
    server = site.serve(
        "--bot", "random", "--anchor", "random=0", "--metrics", "0", "--socket", str(site.folder / "socket")
    )
    for name, token in tokens.items():
        site.join(name, server.address, token)
    pairs = (("ada 1", "bob 1"), ("ada 1", "random 1.0"), ("bob 1", "random 1.0"))
    wait_for(lambda: all(server.games(*pair) for pair in pairs), "games of everybody with everybody")
    assert all(game["ending"] == "normal" for game in server.events("game"))
    figures = urlopen(f"http://127.0.0.1:{server.begun['metrics']}/metrics", timeout=10).read().decode()
    assert 'arena_games_total{ending="normal"}' in figures
    assert "arena_connections 2.0" in figures
    socket = site.folder / "socket"
    assert socket.stat().st_mode & 0o777 == 0o700
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        health = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=10)
    assert health.status == health_pb2.HealthCheckResponse.SERVING

    first, second = site.joined
    first.process.send_signal(signal.SIGTERM)
    assert first.wait() == 0
    connected, *_, rating = first.text().splitlines()
    assert connected == "arena_sdk: connected as ada 1, season season"
    assert "leaving" in first.text()
    assert rating.startswith("ada 1: rank ")

    assert server.stop() == 0
    assert second.process.poll() is None  # it looks for the server to come back
    check(site.folder)
    local = arena("leaderboard", "--json", cwd=site.folder).stdout
    assert {row["bot"] for row in json.loads(local)["standings"]} == {"ada", "bob", "random"}
    again = site.serve(port=int(server.address.rpartition(":")[2]))

    def asked() -> str | None:
        """It may take longer than a server gives a statement where the machine is busy."""
        done = arena("leaderboard", "--json", "--server", again.address, cwd=site.folder)
        return done.stdout if done.returncode == 0 else None

    assert wait_for(asked, "the leaderboard of the server") == local
    assert again.stop() == 0
    full = json.loads(arena("leaderboard", "--full", "--json", cwd=site.folder).stdout)
    assert full["anchors"] == {"random 1.0": 0}  # a server that is not told keeps it


def test_a_server_that_is_killed_goes_on_with_the_same_bots(site: Site) -> None:
    tokens = {name: site.token(name) for name in ("ada", "bob")}
    server = site.serve()
    joined = [site.join(name, server.address, token) for name, token in tokens.items()]
    wait_for(lambda: server.games("ada 1", "bob 1"), "a game")
    server.process.kill()
    server.process.wait()
    again = site.serve(port=int(server.address.rpartition(":")[2]))
    before = {game["game"] for game in [json.loads(line) for line in server.text().splitlines()] if "game" in game}
    wait_for(lambda: len(again.games("ada 1", "bob 1")) > 1, "games after the restart")
    assert not before & {game["game"] for game in again.events("game")}  # none is played twice
    assert [one.process.poll() for one in joined] == [None, None]
    again.process.send_signal(signal.SIGTERM)
    again.process.send_signal(signal.SIGTERM)
    assert again.process.wait(PATIENCE) == 0
    check(site.folder)


def test_bots_leave_by_themselves_and_owners_do_not_play_their_own(site: Site) -> None:
    mine = [site.token(name, "Ada") for name in ("ada", "eve")]
    other = site.token("bob")
    server = site.serve()
    site.join("eve", server.address, mine[1])
    site.join("bob", server.address, other)
    ada = site.join("ada", server.address, mine[0], "--games", "1", "--json")
    assert ada.wait() == 0, ada.text()
    assert json.loads(ada.text()[ada.text().index("{") :])["bot"] == "ada"
    wait_for(lambda: len(server.games("ada 1")) > 3, "its game, and the other one of its table being given up")
    assert {game.get("reason") for game in server.games("ada 1")} == {None, "a bot has left"}
    assert not server.games("ada 1", "eve 1")
    arena("token", "revoke", "bob", cwd=site.folder)
    assert site.joined[1].wait() in (0, 2)
    arena("bots", "retire", "eve", cwd=site.folder)
    assert site.joined[0].wait() in (0, 2)


def test_a_bot_does_not_outlive_who_let_it_join(site: Site) -> None:
    """Its games are finished, and no process is left."""
    token = site.token("ada")
    server = site.serve("--bot", "random")
    joined = site.join("ada", server.address, token)
    wait_for(lambda: server.games("ada 1", "random 1.0"), "a game")
    (bot,) = psutil.Process(joined.process.pid).children()
    joined.process.kill()
    wait_for(lambda: not bot.is_running() or bot.status() == psutil.STATUS_ZOMBIE, "the end of the bot")
    unplayed = [game for game in server.events("game") if game["ending"] != "normal"]  # planned, and not begun
    assert {game["reason"] for game in unplayed} <= {"a bot has left"}


def test_wrong_tokens_are_one_line(site: Site) -> None:
    token = site.token("ada")
    server = site.serve()
    for given, name, told in (
        ("arena_wrong", "ada", "no bot has this token"),
        (token, "bob", "this token is ada's"),
    ):
        joined = site.join(name, server.address, given)
        assert joined.wait() == 2
        assert told in joined.text()
        assert len(joined.text().strip().splitlines()) == 1
    old = site.join("ada", server.address, token, "--version", "7")
    assert old.wait() == 2
    assert "no version 7" in old.text()
    assert arena("token", "revoke", "ada", cwd=site.folder).returncode == 0
    assert site.join("ada", server.address, token).wait() == 2


def test_a_second_server_is_refused(site: Site) -> None:
    socket = site.folder / "socket"
    first = site.serve("--socket", str(socket))
    for options, told in (
        ((), "this database has a server already"),
        (("--db", "other.db", "--bot", "random", "--listen", first.address), "cannot listen there: Address already in"),
        (("--db", "other.db", "--listen", "x..y:5400", "--insecure"), "not known: x..y:5400 - choose another address"),
        (("--db", "other.db", "--listen", "127.0.0.1:0", "--socket", str(socket)), "another server has this socket"),
        (("--db", "other.db", "--listen", "0.0.0.0:0"), "a plain wire beyond this machine"),
        (("--db", "other.db", "--anchor", "nobody=0"), "an anchor that is no registered bot"),
        (("--db", "other.db", "--anchor", "nobody"), "not an anchor"),
    ):
        done = arena("serve", *options, cwd=site.folder)
        assert (done.returncode, told in done.stderr, done.stderr.count("\n")) == (2, True, 1), done.stderr
    with Store.open(str(site.folder / "other.db"), create=False) as store:
        assert not queries.tournaments(store)  # a contract is fixed by who serves
        assert not registry.bots(store.database)
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=10)


def test_a_new_version_takes_the_place_of_the_old(site: Site) -> None:
    token = site.token("ada")
    server = site.serve("--bot", "random")

    def board(*options: str) -> set[str]:
        shown = arena("leaderboard", "--json", *options, cwd=site.folder)
        return {row["label"] for row in json.loads(shown.stdout)["standings"]} if shown.returncode == 0 else set()

    thinking = "import time; time.sleep(0.08); return state.legal_moves()[0]"  # two bots have 50 tables a day, not more
    first = site.join("ada", server.address, token, "--version", "1", body=thinking)
    wait_for(lambda: server.games("ada 1"), "a game of the old version")
    added = arena("bots", "add", "ada", "--owner", "owner-ada", "--version", "2", cwd=site.folder)
    assert added.returncode == 0, added.stderr
    assert first.process.poll() is None  # it plays until the new one is there
    site.join("ada", server.address, token, "--version", "2", body=thinking)
    first.wait()
    assert "ada 2 plays in its place" in first.text()
    rating = first.text().splitlines()[-1]
    assert re.fullmatch(
        r"ada 1: rank \d of all versions, being replaced or retired, rating .* after \d+ games?", rating
    )
    wait_for(lambda: server.games("ada 2"), "a game of the new version")
    assert board() == {"ada 2", "random 1.0"}
    assert board("--all-versions") == {"ada 1", "ada 2", "random 1.0"}

    again = site.join("ada", server.address, token, "--version", "1", body=thinking)
    again.wait()
    assert "ada 2 plays in its place" in again.text()
    arena("bots", "retire", "ada", "--version", "2", cwd=site.folder)
    site.joined[1].wait()
    assert "this version is retired" in site.joined[1].text()
    whys = {game.get("reason") for game in server.games("ada 2") if game["ending"] != "normal"}
    assert whys <= {"a bot has left"}  # what runs is finished, what is only planned is nobody's
    wait_for(lambda: board() == {"ada 1", "random 1.0"}, "the new version to be taken out")
    before = len(server.games("ada 1"))
    site.join("ada", server.address, token, "--version", "1", body=thinking)
    wait_for(lambda: len(server.games("ada 1")) > before, "the old version to play again")
    assert server.stop() == 0
    check(site.folder)


def test_the_organiser_has_a_door_of_his_own(site: Site) -> None:
    socket = f"unix:{site.folder / 'socket'}"
    server = site.serve("--bot", "random", "--socket", "socket")
    added = arena("bots", "add", "ada", "--owner", "Ada", "--server", socket, "--json", cwd=site.folder)
    slow = "import time; time.sleep(0.05); return state.legal_moves()[0]"  # two meet at 50 tables a day, not more
    site.join("ada", server.address, json.loads(added.stdout)["token"], body=slow)

    def status() -> dict[str, Any]:
        return dict(json.loads(arena("server", "status", "--server", socket, "--json", cwd=site.folder).stdout))

    at_play = wait_for(lambda: (now := status())["games"] and now, "a game")
    assert (at_play["season"], at_play["addresses"]) == ("season", server.begun["addresses"])
    assert at_play["connections"] == [{"label": "ada 1", "games_at_once": 1}]
    assert set(at_play["games"][0]["seats"]) == {"ada 1", "random 1.0"}

    def began(address: str) -> bool:
        """Whether it tells of a game that is not over."""
        with grpc.insecure_channel(address) as channel:
            events = leaderboard_pb2_grpc.LeaderboardStub(channel).WatchGames(pb.WatchGamesRequest(), timeout=60)
            return bool(
                next(event for event in events if event.WhichOneof("event") in {"began", "ended"}).HasField("began")
            )

    assert began(socket)
    assert not began(server.address)
    for name in ("ada", "random"):
        assert arena("bots", "open", name, "--server", socket, cwd=site.folder).returncode == 0
    wait_for(lambda: began(server.address), "the games to be shown to everybody")
    with grpc.insecure_channel(server.address) as channel:
        stub = administration_pb2_grpc.AdministrationStub(channel)
        for method, request in (
            ("AddBot", administration_pb2.AddBotRequest(bot="eve", version="1", owner="Eve")),
            ("ListBots", administration_pb2.ListBotsRequest()),
            ("NewToken", administration_pb2.NewTokenRequest(bot="ada")),
            ("StopServer", administration_pb2.StopServerRequest()),
        ):
            with pytest.raises(grpc.RpcError) as refused:
                getattr(stub, method)(request, timeout=10)
            assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
    with grpc.insecure_channel(socket) as channel, pytest.raises(grpc.RpcError) as nobody:
        next(referee_pb2_grpc.RefereeStub(channel).Play(iter(())))
    assert nobody.value.code() is grpc.StatusCode.UNIMPLEMENTED

    with start("watch", "--server", socket, "--json", cwd=site.folder) as watching:
        assert watching.stdout is not None
        seen = [json.loads(next(watching.stdout)) for _ in range(3)]
        os.killpg(watching.pid, signal.SIGINT)
        assert watching.wait(PATIENCE) == 130
    assert seen[0]["event"] == "began"
    assert {one["id"].partition("/")[0] for one in seen} == {"season"}

    retired = arena("bots", "retire", "ada", "--server", socket, cwd=site.folder)
    assert retired.stdout == "ada 1 is retired: what it has played counts\n"
    assert site.joined[0].wait() in (0, 2)
    assert arena("server", "stop", "--server", socket, cwd=site.folder).stdout.startswith("it stops")
    assert server.process.wait(PATIENCE) == 0
    assert not (site.folder / "socket").exists()


def test_over_tls(site: Site) -> None:
    token = site.token("ada")
    server = site.serve_tls("--bot", "random")
    joined = site.join("ada", server.address, token, "--ca", "ca.pem", "--games", "3")
    assert joined.wait() == 0, joined.text()
    assert server.games("ada 1", "random 1.0")
    assert "ada 1: rank" in joined.text()
    assert joined.text().endswith(" after 3 games\n")  # though the other game of the last table had to be given up
    trustme.CA().cert_pem.write_to_path(site.folder / "stranger.pem")
    refused = site.join("ada", server.address, token, "--ca", "stranger.pem")
    assert refused.wait() == 2
    assert "no one trusted vouches for its certificate" in refused.text()
    assert len(refused.text().strip().splitlines()) == 1
