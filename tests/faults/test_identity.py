"""Whose move it is (R21), and what a bot can see (R22)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import arena, games, script

from arena_engine.patchwork import GAME
from arena_server.launching.bots import resolve

PLAYS = """
    from arena_sdk import Bot

    class Plays(Bot):
        def choose(self, state, clock):
            return state.legal_moves()[{index}]

    Plays.main()
"""

LOOKS = """
    import gc, json, os, sys, threading
    from arena_sdk import Bot

    class Looks(Bot):
        def choose(self, state, clock):
            names = {{str(type(thing).__module__).split(".")[0] for thing in gc.get_objects()}}
            frames = [frame for top in sys._current_frames().values() for frame in self.above(top)]
            seen = {{
                "modules": sorted(name.split(".")[0] for name in sys.modules),
                "objects": sorted(names),
                "files": sorted({{frame.f_code.co_filename for frame in frames}}),
                "environment": dict(os.environ),
                "arguments": sys.argv,
                "descriptors": sorted(map(self.target, os.listdir("/proc/self/fd"))),
                "bots": sorted({{type(thing).__name__ for thing in gc.get_objects() if issubclass(type(thing), Bot)}}),
            }}
            with open({path!r}, "w") as file:
                json.dump(seen, file)
            return state.legal_moves()[0]

        def above(self, frame):
            while frame:
                yield frame
                frame = frame.f_back

        def target(self, fd):
            try:
                return os.readlink("/proc/self/fd/" + fd)
            except OSError:
                return ""

    Looks.main()
"""


@pytest.mark.parametrize("names", [("twin", "twin"), ("bot1", "botl"), ("Bot", "bot")], ids=["equal", "alike", "case"])
def test_r21_confusable_bots_move_their_own_seats(tmp_path: Path, names: tuple[str, str]) -> None:
    """Each chooses by a rule of its own: every move of every record is that of the bot that sits there."""
    bots = []
    for place, name in enumerate(names):
        home = tmp_path / str(place)
        home.mkdir()
        manifest = f'name = "{name}"\nversion = "1"\ncommand = ["python", "bot.py"]\n'
        bots.append(script(home, "home", PLAYS.format(index=-place), manifest))
    done = arena("run-tournament", *bots, "--games", "2", "--time", "5s", "--concurrency", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first = resolve(bots[0]).digest
    for record in games(tmp_path):
        assert record["termination"] == "normal"
        indices = [0 if seat["digest"] == first else -1 for seat in record["seats"]]
        assert sorted(indices) == [-1, 0]
        state = GAME.start({key: record[key] for key in ("edition", "circle")}, 2)
        for move in record["moves"]:
            (seat,) = state.to_move
            assert move == str(state.legal_moves()[indices["ab".index(seat)]])
            state = state.play({seat: state.parse_move(move, seat)})


def test_r22_a_bot_that_looks_around_sees_neither_referee_nor_opponent(tmp_path: Path) -> None:
    seen_by_it = tmp_path / "seen"
    looking = script(tmp_path, "looking", LOOKS.format(path=str(seen_by_it)))
    other = script(tmp_path, "secretive", PLAYS.format(index=0))
    done = arena("run-tournament", looking, other, "--games", "2", "--time", "5s", "--concurrency", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {record["termination"] for record in games(tmp_path)} == {"normal"}
    seen = json.loads(seen_by_it.read_text())
    for what in ("modules", "objects"):
        assert not {"arena_server", "sqlalchemy", "alembic"} & set(seen[what])
    assert not [path for path in seen["files"] if "arena_server" in path or "secretive" in path]
    assert seen["bots"] == ["Looks"]
    told = json.dumps([seen["environment"], seen["arguments"], seen["descriptors"]])
    assert "arena.db" not in told
    assert "secretive" not in told
    opened = [target for target in seen["descriptors"] if target.startswith("/") and not target.startswith("/dev/")]
    assert all(target.startswith("/proc/") for target in opened), opened
