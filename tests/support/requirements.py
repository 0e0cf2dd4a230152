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
    return shutil.which(tool, path=path) or _miss(tool)


def require_module(name: str) -> Any:
    """A module; where it is missing the test, or the whole file that asks, skips or fails."""
    if find_spec(name) is None:
        _miss(name)
    return import_module(name)


def _miss(name: str) -> NoReturn:
    if name in os.environ.get("ARENA_REQUIRE", "").split(","):
        pytest.fail(f"{name} is missing, and ARENA_REQUIRE names it")
    pytest.skip(f"{name} is not installed", allow_module_level=True)
