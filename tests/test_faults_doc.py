"""docs/faults.md: every fault is there, and every test that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest


def test_every_test_that_it_names_is_there(request: pytest.FixtureRequest) -> None:
    root = request.config.rootpath
    told = (root / "docs" / "faults.md").read_text()
    there = {name for path in (root / "tests").rglob("*.py") for name in _tests(path)}
    named = set(re.findall(r"`(test_\w+)`", told))
    assert len(named) > 50
    assert named <= there


def test_every_fault_and_report_has_a_row_with_tests(request: pytest.FixtureRequest) -> None:
    rows = [
        line for line in (request.config.rootpath / "docs" / "faults.md").read_text().splitlines() if line[:2] == "| "
    ]
    numbers = {number: row for row in rows for number in re.findall(r"[FR]\d+", row.split("|")[1])}
    assert numbers.keys() == {f"F{n}" for n in range(1, 20)} | {f"R{n}" for n in range(1, 26)}
    assert all("`test_" in row or "not answered yet" in row for row in numbers.values())


def _tests(path: Path) -> list[str]:
    return re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
