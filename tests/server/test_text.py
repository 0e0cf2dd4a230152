"""Text that acts on no terminal, and grids of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from arena_server.cli.grids import Column, Grid
from arena_server.text import clean, clean_lines

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
