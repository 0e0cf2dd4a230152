"""The Makefile where something is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from requirements import require

OLD = """\
#!/bin/sh
exec python3 -c 'import sys; sys.version_info = (3, 9, 1); exec(sys.argv[1])' "$2"
"""


def test_an_old_python_is_told_before_anything_is_set_up(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(request.config.rootpath / name, tmp_path)
    old = tmp_path / "old"
    old.write_text(OLD)
    old.chmod(0o755)
    command = [require("make"), "tournament", "PYTHON=./old"]
    # The tests themselves may run by make.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("arena: Python 3.9 is too old - install 3.11 or later, or name it: make PYTHON=")
    assert done.stdout == ""
    assert not (tmp_path / ".venv").exists()
