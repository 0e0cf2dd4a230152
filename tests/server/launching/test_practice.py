"""A BOT within this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_engine.patchwork import State
from arena_server.launching.practice import seat
from arena_server.model import UserError

BESIDE = (
    "from arena_sdk import Bot\nfrom beside import MOVE\n\n\nclass Idle(Bot):\n    def choose(self, state, clock):\n"
)


def test_an_example_bot_moves_with_its_options() -> None:
    state = State.new("UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA")
    choose = seat("mcts:playouts=3", "patchwork", "a", 5)
    assert choose(state) == seat("mcts:playouts=3", "patchwork", "a", 5)(state)
    assert choose(state) in state.legal_moves()


def test_a_folder_may_import_what_lies_beside_its_script(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("MOVE = '>'\n")
    (tmp_path / "bot.py").write_text(BESIDE + "        return MOVE\n")
    assert seat(str(tmp_path), "patchwork", "a", 1)(State.new()) == ">"


def test_what_cannot_play_here_is_refused(tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text("from arena_sdk import Bot\nclass A(Bot): ...\nclass B(Bot): ...\n")
    (tmp_path / "none.py").write_text("from arena_sdk import Bot\n")
    (tmp_path / "bot.toml").write_text('name = "x"\nversion = "1"\ncommand = ["./x", "bot.py"]\n')
    for text, why in (
        ("nobody", "no such bot"),
        (str(tmp_path / "two.py"), r"has 2 classes of bots: A, B"),
        (str(tmp_path / "none.py"), r"has 0 classes of bots: none"),
        (str(tmp_path), r"x 1 cannot be played here: \./x bot\.py"),
    ):
        with pytest.raises(UserError, match=why):
            seat(text, "patchwork", "a", 1)
