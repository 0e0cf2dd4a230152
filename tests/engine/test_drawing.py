"""Drawings: snapshots (delete one and run the test to write it anew), and what holds for any position."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from patchwork_games import games, positions

from arena_engine.patchwork import State
from arena_engine.patchwork.drawing import draw_svg, draw_text

SNAPSHOTS = Path(__file__).parent / "snapshots"
POSITION = (
    "ZYJgPVTGc 1Ha2OX2/1HaaaOXXX/HHHfOOXLL/MH1ffO2L/MFF1fII1L/MFFF1IILL/ME1DDD1b1/EE1*bbbb1/E1NNNNNb1 18,50"
    " 2WWWW3/2WCC1Bdd/1e2C1BBd/1eUUU2dd/ee1U1Q*Q1/e1UUUQQQ*/1SSSR1Q1K/1S1RRRRKK/*AA2R2K 12,44 a* - original"
)
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(("name", "draw"), [("position.txt", draw_text), ("position.svg", draw_svg)])
def test_snapshot(name: str, draw: object) -> None:
    assert callable(draw)
    drawn = draw(State.from_text(POSITION)) + "\n"
    path = SNAPSHOTS / name
    if not path.exists():
        path.write_text(drawn, "utf-8")
        pytest.fail(f"wrote {path}: look at it, then run again")
    assert drawn == path.read_text("utf-8")


@given(positions())
@settings(max_examples=40)
def test_text_fits_a_terminal_and_shows_every_cell(state: State) -> None:
    plain = draw_text(state)
    assert max(map(len, plain.splitlines())) <= 80
    coloured = draw_text(state, colour=True)
    shown = [line.rstrip() for line in ESCAPE.sub("", coloured).splitlines()]
    assert shown == plain.splitlines()
    rows = [line for line in plain.splitlines() if re.match(r" [1-9] ", line)]
    left = "".join(line[3:21:2] for line in rows)
    right = "".join(line[43:61:2] for line in rows)
    assert [cell == "." for cell in left + right] == [
        not state.quilt(seat) >> cell & 1 for seat in "ab" for cell in range(81)
    ]


@given(games())
@settings(max_examples=15)
def test_svg_is_well_formed(game: tuple[tuple[tuple[State, object], ...], State]) -> None:
    for state in (game[0][0][0], game[0][-1][0], game[1]):
        root = ET.fromstring(draw_svg(state))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        title = root.find("{http://www.w3.org/2000/svg}title")
        assert title is not None
        assert title.text == state.text


def test_the_winner_is_named() -> None:
    empty = "9/9/9/9/9/9/9/9/9"
    last = State.from_text(f"KIUDeZXEQbJWCGRaBScMOdgPfTYVNFHLA {empty} 5,53 {empty} 5,53 b - original")
    assert draw_text(last).startswith("a: won, -157 points")
    assert "b: lost" in draw_text(last)
