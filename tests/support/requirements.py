"""Tools that some tests need: missing ones skip the test, unless ``ARENA_REQUIRE`` names them."""

import os
import shutil
import sys
from pathlib import Path

import pytest


def require(tool: str) -> str:
    """The path of a tool, of the virtual environment first; where it is missing the test skips or fails.

    ``ARENA_REQUIRE`` holds the names of the tools, separated by commas, whose absence must fail: CI sets it.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    found = shutil.which(tool, path=path)
    if found:
        return found
    if tool in os.environ.get("ARENA_REQUIRE", "").split(","):
        pytest.fail(f"{tool} is missing, and ARENA_REQUIRE names it")
    pytest.skip(f"{tool} is not installed")
