"""The referee with real bot processes, for a game of three seats that move at once."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest
import tiny_game

SUPPORT = Path(tiny_game.__file__).parent

BOT = """
    import sys
    sys.path.insert(0, {support!r})
    from arena_sdk import Bot

    class Plays(Bot):
        def choose(self, state, clock):
            {body}

    Plays.main()
"""

MATCH = """
    import asyncio
    import sys
    sys.path.insert(0, {support!r})
    from arena_server.launching.bots import resolve
    from arena_server.launching.processes import Keeper
    from arena_server.model import Spec, TimeControl

    keeper = Keeper.start()

    from simulation import assignment
    from dataclasses import replace
    from arena_engine.game import find
    from arena_server.executors.local import LocalExecutor

    async def main():
        game = find({game!r})
        bots = [resolve(path) for path in {paths!r}]
        given = assignment(game, "2s", len(bots))
        spec = replace(given.spec, entrants=tuple(bot.entrant for bot in bots))
        given = replace(given, spec=spec)
        by_entrant = {{bot.entrant: bot for bot in bots}}
        async with LocalExecutor(game, by_entrant, keeper, capacity=2) as executor:
            for number in range({games}):
                planned = replace(given.planned, number=number + 1)
                result = await executor.play(replace(given, planned=planned))
                print(result.ending, "".join(result.blamed), result.outcome.ranks, len(result.moves), sep="|")

    import uvloop
    uvloop.run(main())
"""


def bot(folder: Path, name: str, body: str) -> str:
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(BOT).format(support=str(SUPPORT), body=body))
    return str(path)


def play(folder: Path, paths: list[str], *, game: str = "tiny", games: int = 1) -> list[list[str]]:
    """Plays games in a process of their own, since grpc must come after the keeper; the printed fields."""
    script = folder / "match.py"
    script.write_text(textwrap.dedent(MATCH).format(support=str(SUPPORT), paths=paths, game=game, games=games))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return [line.split("|") for line in done.stdout.splitlines()]


@pytest.fixture
def three(tmp_path: Path) -> list[str]:
    return [
        bot(tmp_path, name, f"return {move!r}") for name, move in (("r", "rock"), ("p", "paper"), ("s", "scissors"))
    ]


def test_three_seats_that_move_at_once(tmp_path: Path, three: list[str]) -> None:
    # Everyone beats one other while all are in; then paper loses to scissors.
    assert play(tmp_path, three, games=2) == [["normal", "", "(2, 2, 1)", "12"]] * 2


def test_two_of_three_fail_on_one_ply(tmp_path: Path, three: list[str]) -> None:
    broken = [bot(tmp_path, "x", "return 'lizard'"), three[1], bot(tmp_path, "y", "raise ValueError")]
    assert play(tmp_path, broken) == [["illegal_move", "ac", "(2, 1, 2)", "0"]]


def test_processes_are_kept_between_games(tmp_path: Path) -> None:
    body = "open({log!r}, 'a').write(f'{{__import__(\"os\").getpid()}}\\n'); return state.legal_moves()[0]"
    log = tmp_path / "pids"
    paths = [bot(tmp_path, name, body.format(log=str(log))) for name in "vw"]
    assert len(play(tmp_path, paths, game="patchwork", games=3)) == 3
    pids = set(log.read_text().split())
    assert len(pids) == 2
    assert not any(psutil.pid_exists(int(pid)) for pid in pids)


def test_a_bot_that_dies_between_two_games_is_started_afresh(tmp_path: Path) -> None:
    """Its exit is known a moment after the next game was given to it; no game is charged with that."""
    dies = bot(tmp_path, "dies", "return state.legal_moves()[0]")
    ends = "    def on_end(self, result):\n        import os\n        os._exit(1)\n"
    path = Path(dies)
    path.write_text(path.read_text().replace("    def choose(", f"{ends}\n    def choose("))
    lives = bot(tmp_path, "lives", "return state.legal_moves()[0]")
    games = play(tmp_path, [dies, lives], game="patchwork", games=20)
    assert [game[:2] for game in games] == [["normal", ""]] * 20


def test_or_started_anew_for_each_game(tmp_path: Path) -> None:
    body = "open({log!r}, 'a').write(f'{{__import__(\"os\").getpid()}}\\n'); return state.legal_moves()[0]"
    log = tmp_path / "pids"
    paths = []
    for name in "vw":
        home = tmp_path / name
        home.mkdir()
        bot(home, "bot", body.format(log=str(log)))
        (home / "bot.toml").write_text(
            f'name = "{name}"\nversion = "1"\ncommand = ["python", "bot.py"]\nrestart = "per_game"\n'
        )
        paths.append(str(home))
    assert len(play(tmp_path, paths, game="patchwork", games=3)) == 3
    assert len(set(log.read_text().split())) == 6


def test_a_bot_that_resigns_has_answered_and_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "pids"
    body = (
        f"open({str(log)!r}, 'a').write(f'{{__import__(\"os\").getpid()}}\\n'); return __import__('arena_sdk').RESIGN"
    )
    paths = [bot(tmp_path, name, body) for name in "vw"]
    played = play(tmp_path, paths, game="patchwork", games=3)
    assert [game[:3] for game in played] == [["resign", "a", "(2, 1)"]] * 3
    assert len(set(log.read_text().split())) == 1
