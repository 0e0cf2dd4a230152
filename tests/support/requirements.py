"""Tools and modules that some tests need: missing ones skip the test, unless ``ARENA_REQUIRE`` names them.

``ARENA_REQUIRE`` holds the names, separated by commas, of those whose absence must fail: CI sets it.
"""

import os
import shutil
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest


def require(tool: str) -> str:
    """The path of a tool, of the virtual environment first; where it is missing the test skips or fails."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return shutil.which(tool, path=path) or missing(tool)


def require_module(name: str) -> Any:
    """A module; where it is missing the test, or the whole file that asks, skips or fails."""
    if find_spec(name) is None:
        missing(name)
    return import_module(name)


def missing(name: str, why: str = "is not installed") -> NoReturn:
    """The test cannot run: it skips, or fails where ``ARENA_REQUIRE`` names what it needs."""
    if name in os.environ.get("ARENA_REQUIRE", "").split(","):
        pytest.fail(f"{name} {why}, and ARENA_REQUIRE names it")
    pytest.skip(f"{name} {why}", allow_module_level=True)
