"""Bots in other languages play house bots through the referee."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from pathlib import Path

from command import arena, games
from languages import FOLDER, NODE, node
from requirements import require
from standing import Site, wait_for


def play(cwd: Path, *bots: str | Path) -> None:
    """The bots play greedy, and nobody fails."""
    options = ("--format", "gauntlet", "--games", "2", "--time", "10s")
    done = arena("run-tournament", "greedy", *map(str, bots), *options, cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert [record["termination"] for record in games(cwd)] == ["normal"] * 2 * len(bots)


def test_the_bot_in_javascript_plays_a_house_bot(tmp_path: Path) -> None:
    node()
    play(tmp_path, NODE)


def test_the_bot_in_javascript_joins_a_server_over_tls(site: Site) -> None:
    node()
    token = site.token("ada")
    server = site.serve_tls("--bot", "random")
    joined = site.join("ada", server.address, token, "--as", "ada", "--ca", "ca.pem", path=str(NODE))
    endings = wait_for(lambda: {game["ending"] for game in server.games("ada 1", "random 1.0")}, "a rated game")
    assert endings <= {"normal", "void"}, server.text()  # void: this machine was busy
    joined.process.send_signal(signal.SIGINT)
    assert joined.wait() == 0, joined.text()
    assert "leaving after the games that run" in joined.text()
    assert "ada 1: rank" in joined.text()


def test_programs_behind_the_bridge_play_a_house_bot(tmp_path: Path) -> None:
    play(tmp_path, FOLDER / "sh", compiled(tmp_path), documented(tmp_path))


def compiled(folder: Path) -> Path:
    """The bot in C."""
    home = shutil.copytree(FOLDER / "c", folder / "c")
    subprocess.run([require("cc"), "-O2", "-Wall", "-Wextra", "-Werror", "-o", "bot", "bot.c"], cwd=home, check=True)
    return home


def documented(folder: Path) -> Path:
    """The bot that docs/bridge.md begins with, once it has answered as the docs try it."""
    text = (FOLDER.parents[1] / "docs" / "bridge.md").read_text()
    home = folder / "mine"
    home.mkdir()
    for file, kind in (("bot.sh", "sh"), ("bot.toml", "toml")):
        (home / file).write_text(text.partition(f"```{kind}\n")[2].partition("```")[0])
    tried = re.search(r"^    (printf .*)$", text, re.MULTILINE)
    assert tried
    said = subprocess.run(tried[1], shell=True, cwd=home, capture_output=True, text=True, check=True).stdout
    assert said == "ready\nmove >\n"
    return home


BAD = {
    "dies": ("echo cannot think >&2; exit 7", "crash", "cannot think"),
    "talks": ("echo nonsense", "crash", "said 'nonsense' where 'move MOVE' was awaited"),
    "cheats": ("echo move nonsense", "illegal_move", "nonsense"),
    "resigns": ("echo resign", "resign", "gave up"),
    "sleeps": ("sleep 100 & sleep 100", "timeout", "used"),
}
"""What a program does when it is asked for a move, how that ends, and what the record tells of it."""


def test_faults_of_programs_lose_their_own_games_and_are_on_record(tmp_path: Path) -> None:
    for name, (go, _, _) in BAD.items():
        folder = tmp_path / name
        folder.mkdir()
        command = 'command = ["arena", "bridge", "--", "sh", "bad.sh"]'
        (folder / "bot.toml").write_text(f'name = "{name}"\nversion = "1"\n{command}\n')
        lines = f"while read -r word rest; do case $word in start) echo ready ;; go) {go} ;; esac; done"
        (folder / "bad.sh").write_text(lines)
    bots = [str(tmp_path / name) for name in BAD]
    options = ("--format", "gauntlet", "--games", "2", "--time", "2s")
    done = arena("run-tournament", "greedy", *bots, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    records = games(tmp_path)
    assert len(records) == 2 * len(BAD)
    for record in records:
        (seat,) = record["blamed"]
        _, ending, told = BAD[record["seats"]["ab".index(seat)]["bot"]]
        assert record["termination"] == ending
        if seat == "a":
            assert told in arena("games", "show", record["id"], cwd=tmp_path).stdout
