"""What the core refuses, how chance is shared out, and which core is chosen."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engine.game import GameError, GameOverError, PositionError
from arena_engine.patchwork import State
from arena_engine.patchwork.core import ENGINE, PureKernel
from arena_engine.patchwork.playout import POLICIES, SplitMix

CIRCLE = "UDeZXKEQbIJWCGRaBScMOdgPfTYVNFHLA"
ROOT = Path(__file__).parents[3]
compiled = pytest.mark.skipif(ENGINE != "compiled", reason="there is no compiled core")


class Pure(PureKernel):
    __slots__ = ()


def test_chance_is_documented() -> None:
    source = SplitMix(0)
    assert source.draw() == 0xE220A8397B1DCDAF
    assert State.new(CIRCLE).playout(random.Random(1)).scores() == Pure.new(CIRCLE).playout(random.Random(1)).scores()


@pytest.mark.parametrize("plies", [0, 25])
def test_uniform_moves_are_uniform(plies: int) -> None:
    source, state = random.Random(plies), State.new(CIRCLE)
    for _ in range(plies):
        state = state.after(state.random_move(source))
    moves = state.legal_moves()
    draws = 100 * len(moves)
    found = Counter(state.random_move(source) for _ in range(draws))
    unevenness = sum((found[move] - 100) ** 2 / 100 for move in moves)
    freedom = len(moves) - 1
    assert set(found) <= set(moves)
    assert unevenness < freedom + 5 * (2 * freedom) ** 0.5 + 5


@pytest.mark.parametrize("policy", POLICIES)
def test_a_tally_adds_up(policy: str) -> None:
    tally = State.new(CIRCLE).playouts(50, random.Random(3), policy)
    assert tally.games == sum(tally.wins) == 50
    assert tally == State.new(CIRCLE).playouts(50, random.Random(3), policy)
    assert State.new(CIRCLE).playouts(0, random.Random(3)) == (0, (0, 0), (0, 0))


def test_what_chance_is_not_asked() -> None:
    state = State.new(CIRCLE)
    last = state.playout(random.Random(1))
    with pytest.raises(GameOverError):
        last.random_move(random.Random(1))
    with pytest.raises(GameOverError):
        last.after_action(0)
    assert last.playout(random.Random(1)) == last
    assert last.action_mask() == bytes(2026)
    for ask in (
        lambda: state.playout(random.Random(1), "clever"),
        lambda: state.random_move(random.Random(1), "clever"),
        lambda: state.playouts(1, random.Random(1), "clever"),
        lambda: state.playouts(-1, random.Random(1)),
        lambda: state.playouts(2**70, random.Random(1)),
        lambda: state.perft(-1),
        lambda: state.perft(101),
    ):
        with pytest.raises(GameError):
            ask()


VALUES = st.integers() | st.none() | st.text(max_size=40) | st.booleans() | st.tuples() | st.floats() | st.just(CIRCLE)
PLAYERS = st.tuples(VALUES, VALUES) | st.tuples(*[st.tuples(VALUES, VALUES, VALUES, VALUES, VALUES)] * 2)


@compiled
@given(st.tuples(VALUES, VALUES | PLAYERS, VALUES, VALUES, VALUES, VALUES | st.just("original")))
def test_corrupted_parts_are_refused(parts: tuple[Any, ...]) -> None:
    with pytest.raises(PositionError):
        State(*parts)


@compiled
@pytest.mark.parametrize(
    ("part", "value", "why"),
    [
        (0, CIRCLE + "A", "33 letters"),
        (0, "AA", "each once"),
        (0, "\N{SNOWMAN}", "each once"),
        (2, 2, "mover 0 or 1"),
        (3, True, "leather is owed"),
        (4, 5, "bonus"),
        (5, "first", "edition"),
    ],
)
def test_a_corrupted_part_is_named(part: int, value: object, why: str) -> None:
    parts: list[Any] = list(State.new(CIRCLE)._fields)
    parts[part] = value
    with pytest.raises(PositionError, match=why):
        State(*parts)


@compiled
@pytest.mark.parametrize(
    ("part", "value", "why"),
    [
        (0, 1, "mask of its letters"),
        (1, 1 << 648, "81 bytes"),
        (1, 1, "those of patches"),
        (2, -1, "buttons"),
        (2, 10**30, "buttons"),
        (3, 54, "space of the track"),
        (3, 1, "the seat behind moves"),
        (4, 10**6, "income"),
    ],
)
def test_a_corrupted_player_is_named(part: int, value: object, why: str) -> None:
    parts: list[Any] = list(State.new(CIRCLE)._fields)
    a, b = parts[1]
    parts[1] = a._replace(**{a._fields[part]: value}), b
    with pytest.raises(PositionError, match=why):
        State(*parts)


# Which core.

REPORT = "from arena_engine.patchwork import core; print(core.ENGINE, core.WHY_PURE)"


def report(*, code: str = REPORT, **environment: str) -> tuple[str, str]:
    plain = {key: value for key, value in os.environ.items() if key != "ARENA_ENGINE"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=plain | environment, capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout.strip(), done.stderr


def test_pure_when_asked() -> None:
    assert report(ARENA_ENGINE="pure")[0] == "pure ARENA_ENGINE=pure"


@compiled
def test_compiled_where_it_is_built() -> None:
    assert report()[0] == report(ARENA_ENGINE="compiled")[0] == "compiled"


def test_an_unknown_core() -> None:
    out, err = report(ARENA_ENGINE="rust")
    assert not out
    assert err.splitlines()[-1].startswith("ImportError: ARENA_ENGINE=rust: unknown; set pure or compiled")


def test_without_the_compiled_core_the_pure_one_says_so() -> None:
    hidden = f"import sys; sys.modules['arena_engine.patchwork._core'] = None; {REPORT}"
    out, _ = report(code=hidden)
    assert out.startswith("pure the compiled core is missing")
    assert "install a C compiler" in out
    assert (
        "ImportError: ARENA_ENGINE=compiled, but the compiled core is missing"
        in report(code=hidden, ARENA_ENGINE="compiled")[1]
    )


@pytest.mark.parametrize(("compiler", "engine"), [("false", "pure"), ("cc", "compiled")])
def test_a_wheel_is_built_with_or_without_a_compiler(tmp_path: Path, compiler: str, engine: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    source = tmp_path / "source"
    for folder in ("engine", "sdk", "server"):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("*.so", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*pip, "-w", tmp_path, source], env=os.environ | {"CC": compiler}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    shutil.unpack_archive(wheel, tmp_path / "unpacked", "zip")
    out, err = report(code=f"import sys; sys.path.insert(0, {str(tmp_path / 'unpacked')!r}); {REPORT}")
    assert out.startswith(engine), err
