"""Text that acts on no terminal, and grids of it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from arena_server.cli.grids import Column, Grid
from arena_server.cli.text import clean, clean_lines, labels
from arena_server.model import Entrant

ANYTHING = st.text(st.characters())


@given(ANYTHING)
def test_clean_text_prints(text: str) -> None:
    assert clean(text).isprintable()
    assert all(line.isprintable() for line in clean_lines(text))


def test_clean_keeps_what_prints() -> None:
    assert clean("Zoë [bold] é") == "Zoë [bold] é"
    assert clean("a\x1b[31m\nb") == r"a\x1b[31m\nb"
    assert clean_lines("a\r\n\tb\n") == ["a", "    b"]


@given(st.lists(st.tuples(ANYTHING, ANYTHING), max_size=5), st.integers(10, 120))
def test_a_grid_never_lets_text_act(rows: list[tuple[str, str]], width: int) -> None:
    grid = Grid((Column("bot", left=True), Column("failures", left=True, wraps=True, spare=1)), rows)
    console = Console(width=width, force_terminal=True, color_system=None)
    with console.capture() as capture:
        console.print(grid.table(width))
    for text in (*grid.lines(), *capture.get().replace("\x1b[1m", "").replace("\x1b[0m", "").split("\n")):
        assert text.isprintable()


def test_namesakes_are_told_apart() -> None:
    one = Entrant("mcts", "0.3", "a" * 64, (("c", 1.4), ("playouts", 200)))
    other = replace(one, options=(("c", 2.0), ("playouts", 200)))
    assert labels([one, Entrant("greedy", "1.0", "b" * 64)]) == ["mcts 0.3", "greedy 1.0"]
    assert labels([one, other]) == ["mcts 0.3:c=1.4", "mcts 0.3:c=2.0"]
    assert labels([one, replace(one, digest="b" * 64)]) == ["mcts 0.3:aaaaaaaa", "mcts 0.3:bbbbbbbb"]
