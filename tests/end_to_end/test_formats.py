"""A tournament of each family of formats, with real bots."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from command import arena, bot, games

from arena_engine.patchwork import State

BODIES = (
    "return state.legal_moves()[0]",
    "return state.legal_moves()[-1]",
    "return self.random.choice(state.legal_moves())",
)


@pytest.mark.parametrize(
    ("options", "counts", "table"),
    [
        ("--format swiss --rounds 2", [4], "swiss after round 2 of 2\n#  bot     points  Buchholz  S-B\n"),
        ("--format double-elimination", range(8, 91, 2), "double-elimination after stage "),
        ("--format gauntlet --games 2", [4], "4 games rated\n"),
        ("--format ladder --rounds 1", [2], "ladder after round 1 of 1\n#  bot     from\n"),
    ],
    ids=["swiss", "double-elimination", "gauntlet", "ladder"],
)
def test_it_is_played_and_verified(tmp_path: Path, options: str, counts: Sequence[int], table: str) -> None:
    bots = [bot(tmp_path, f"bot{number}", body) for number, body in enumerate(BODIES)]
    command = ["run-tournament", *bots, "--time", "1s", "--seed", "s", *options.split()]
    done = arena(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(games(tmp_path)) in counts
    assert table in done.stdout
    verified = arena("verify", cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout


def test_a_spec_file_names_the_format(tmp_path: Path) -> None:
    names = [Path(bot(tmp_path, f"bot{number}", body)).name for number, body in enumerate(BODIES)]
    (tmp_path / "spec.toml").write_text(f'bots = {json.dumps(names)}\nformat = "gauntlet"\nchallengers = 3\n')
    done = arena("run-tournament", "spec.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "number of challengers: 3 - of 3 bots 1 to 2 can challenge the others" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--format", "swis"], "did you mean swiss?"),
        (["--format", "match"], "a match is between 2 bots: 3"),
        (["--rounds", "4"], "a round-robin has no rounds to choose: 4"),
    ],
)
def test_a_mistake_is_one_clear_line(tmp_path: Path, options: list[str], words: str) -> None:
    bots = [bot(tmp_path, f"bot{number}", body) for number, body in enumerate(BODIES)]
    done = arena("run-tournament", *bots, *options, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_listed_deals_are_played_from_circles_and_from_positions(tmp_path: Path) -> None:
    bots = [bot(tmp_path, f"bot{number}", body) for number, body in enumerate(BODIES[:2])]
    circle, begun = State.new(random=Random(1)), State.new(random=Random(2), edition="revised")
    for _ in range(5):
        begun = begun.after(begun.random_move(Random(3)))
    (tmp_path / "suite").write_text(f"# two\n{circle.circle}\n{begun.text}  # a few plies on\n")
    command = ["run-tournament", *bots, "--time", "1s", "--seed", "s", "--games", "4", "--deals", "suite"]
    done = arena(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 listed deals" in done.stdout
    found = games(tmp_path)
    assert [game.get("circle") for game in found] == [circle.circle, circle.circle, None, None]
    assert [game.get("position") for game in found] == [None, None, begun.text, begun.text]
    assert arena("verify", cwd=tmp_path).returncode == 0
    shown = arena("replay", "4", "--at", "0", cwd=tmp_path)
    assert begun.circle[:3] in shown.stdout, shown.stderr
    text = arena("games", "export", "3", "--format", "text", cwd=tmp_path).stdout
    (tmp_path / "game.patchwork").write_text(text)
    assert arena("replay", "game.patchwork", cwd=tmp_path).returncode == 0

    (tmp_path / "suite").write_text("rubbish\n")
    refused = arena(*command, cwd=tmp_path)
    assert refused.returncode == 2
    assert "not a suite of deals: suite, line 1: " in refused.stderr
