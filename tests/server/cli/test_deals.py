"""`arena deals make`, run as users run it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import arena

from arena_engine import suites
from arena_engine.patchwork import GAME

QUICK = ("--games", "8", "--window", "0.3", "--playouts", "8")


def made(path: Path, *more: str) -> list[str]:
    done = arena("deals", "make", str(path), "--count", "4", *QUICK, *more, cwd=path.parent)
    assert done.returncode == 0, done.stderr
    return path.read_text(encoding="utf-8").splitlines()[1:]


def test_a_suite_follows_from_its_seed_however_many_processes(tmp_path: Path) -> None:
    one = made(tmp_path / "one", "--seed", "x", "--jobs", "1")
    two = made(tmp_path / "two", "--seed", "x", "--jobs", "2")
    assert one == two
    deals = suites.read((tmp_path / "one").read_text(encoding="utf-8"), GAME, {"edition": "original"}, 2)
    assert len(deals) == 4
    assert all("# a " in line for line in one)


def test_a_search_without_hope_ends(tmp_path: Path) -> None:
    done = arena(
        "deals", "make", "s", "--games", "9", "--window", "0.01", "--playouts", "1", "--jobs", "2", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "none of the last 1000 passed - widen --window" in done.stderr


def test_a_file_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "suite"
    path.write_text("mine")
    done = arena("deals", "make", str(path), *QUICK, cwd=path.parent)
    assert done.returncode == 2
    assert "File exists" in done.stderr
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--edition", "new"), "no such edition: 'new'"),
        (("--window", "0.9"), "0.9"),
        (("--count", "0"), "0"),
    ],
)
def test_mistakes_are_told_and_write_nothing(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    done = arena("deals", "make", str(tmp_path / "suite"), *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "suite").exists()
