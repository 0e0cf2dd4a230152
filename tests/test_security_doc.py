"""docs/security.md: every test that it names is there, and every option of the server has a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena_server.wire.door import ARRIVAL_S, MAX_CALLS, MAX_OF_HOST
from arena_server.wire.lobby import HELLO_LIMIT, MAX_OF_ONE, MAX_STRANGERS
from arena_server.wire.options import MAX_CONNECTIONS, MAX_PENDING, SERVER_OPTIONS
from arena_server.wire.session import SEND_S


@pytest.fixture(scope="module")
def told(request: pytest.FixtureRequest) -> str:
    return (request.config.rootpath / "docs" / "security.md").read_text()


def test_every_test_that_it_names_is_there(told: str, request: pytest.FixtureRequest) -> None:
    there = {name for path in (request.config.rootpath / "tests").rglob("test_*.py") for name in _tests(path)}
    named = set(re.findall(r"`(test_\w+)`", told))
    assert len(named) > 30
    assert named <= there


def test_every_attack_has_a_row_with_tests(told: str) -> None:
    rows = [line for line in told.splitlines() if line.startswith("| ") and not line.startswith("| attack |")]
    assert len(rows) > 15
    assert all("`test_" in row.split(" | ")[-1] for row in rows)
    for attack in (10, 11, 12, 13):
        assert re.search(rf"^## .*\b{attack}\b", told, re.MULTILINE)


def test_its_figures_are_those_of_the_server(told: str) -> None:
    options = {option.name: option.value for option in SERVER_OPTIONS}
    assert all(option.why for option in SERVER_OPTIONS)
    for figure in (
        f"{MAX_OF_HOST} calls of a method from one host at once, {MAX_CALLS} from all",
        f"a request ({ARRIVAL_S:g} s), Hello ({HELLO_LIMIT:g} s)",
        f"connections without a call end after {options['grpc.max_connection_idle_ms'] / 1e3:g} s",
        f"{MAX_CONNECTIONS:,} to one address",
        f"{MAX_PENDING} calls may wait to be begun",
        f"{MAX_OF_ONE} of one token, {MAX_STRANGERS:,} in all",
        f"its stream is lost after {SEND_S:g} s",
    ):
        assert figure in told, figure


def _tests(path: Path) -> list[str]:
    return re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
