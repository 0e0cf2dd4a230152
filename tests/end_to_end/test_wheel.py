"""The wheel, installed where there is nothing else, does what the README says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("ARENA_", "PYTHON"))}
    done = subprocess.run(
        command, cwd=cwd, env={**plain, **environment}, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment with the wheel, built from a copy of the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    run("git", "clone", "--quiet", ROOT, folder / "source", cwd=folder)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, folder / "source", cwd=folder)
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    run(folder / "venv/bin/python", *pip[1:], "install", wheel, cwd=folder)
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "server/", "engine/", "sdk/"))]
    return folder / "venv" / "bin"


@pytest.mark.timeout(400)
def test_the_ten_line_bot_plays_by_the_words_of_the_readme(installed: Path, tmp_path: Path) -> None:
    code = re.search(r"Save this as `(\w+\.py)`:\n\n```python\n(.*?)```", README, re.DOTALL)
    command = re.search(r"let it play against an example bot:\n\n    (arena .*)\n", README)
    assert code
    assert command
    (tmp_path / code[1]).write_text(code[2])
    path = f"{installed}:{os.environ['PATH']}"
    out = run(*shlex.split(command[1]), "--games", "2", "--time", "2s", cwd=tmp_path, PATH=path)
    assert "2 games rated" in out
    assert re.search(r"\btidy 0\b.* -$", out, re.MULTILINE), out  # no failures
    assert re.search(r"\bgreedy [\d.]+\b.* -$", out, re.MULTILINE), out
    assert run("arena", "verify", cwd=tmp_path, PATH=path)
    assert "report: tidy-report/report.html" in run("arena", "report", "--out", "tidy-report", cwd=tmp_path, PATH=path)
    light = "import sys, arena_sdk; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = run(installed / "python", "-c", light, cwd=tmp_path).split()
    assert not {"grpc", "sqlalchemy", "typer", "rich", "trueskill", "arena_server"} & set(loaded)
