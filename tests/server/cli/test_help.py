"""Help and versions: quick, and the same words everywhere."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from here import Arena

from arena_server.cli import COMMANDS

HEAVY = ("grpc", "google", "sqlalchemy", "sqlmodel", "trueskill", "rich", "asyncio", "alembic")
LOADED = """
import sys
from arena_server.cli import main
try:
    main({arguments!r})
except SystemExit as exited:
    assert not exited.code
print(*[name for name in {heavy!r} if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["leaderboard", "--help"], ["games", "list", "--help"]]
)
def test_help_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    script = LOADED.format(arguments=arguments, heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == "\n"


def test_help_lists_every_command(arena: Arena) -> None:
    out = " ".join(arena("--help").out.split())
    assert all(f"{name} {told}" in out for name, told in COMMANDS.items())
    assert arena().out == arena("--help").out


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_the_same_of_itself(arena: Arena, command: str) -> None:
    told = " ".join(arena(command, "--help").out.split())
    assert f"arena {command}" in told
    assert COMMANDS[command].rstrip(".") in told


@pytest.mark.parametrize("group", ["games", "tournaments", "deals", "bots", "token", "server", "season"])
def test_a_group_tells_of_its_commands_in_whole_sentences(arena: Arena, group: str) -> None:
    _, below = arena(group, "--help").out.split("Commands:\n")
    assert below
    assert "..." not in below


# run-tournament has words of its own for them; bridge is a bot, and prints nothing.
@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in {"run-tournament", "bridge"}])
def test_shared_options_are_everywhere(arena: Arena, command: str) -> None:
    groups = {
        "games": ["list"],
        "deals": ["make"],
        "bots": ["list"],
        "token": ["new"],
        "server": ["status"],
        "season": ["list"],
    }
    told = arena(command, *groups.get(command, []), "--help").out
    assert "--json" in told
    assert ("--db PATH|URL" in told) == (command not in {"deals", "version", "doctor", "join", "server", "watch"})


def test_versions(arena: Arena) -> None:
    version = metadata.version("patchwork-arena")
    assert arena("--version").out.startswith(f"arena {version}, Python 3.")
    assert arena("version").out == arena("--version").out
    assert arena("version", "--json").json["games"]["patchwork"] == "1"
