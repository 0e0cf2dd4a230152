"""The fuzzing targets: briefly with random bytes, and as long as ARENA_FUZZ_SECONDS says where atheris is installed."""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from requirements import require_module

from arena_engine.patchwork import State

HERE = Path(__file__).parent
SECONDS = int(os.environ.get("ARENA_FUZZ_SECONDS", "15"))


@pytest.fixture(scope="module")
def targets() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_targets", HERE / "targets.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", range(4))
def test_random_bytes(targets: ModuleType, kind: int) -> None:
    source = random.Random(kind)
    for size in range(0, 200, 5):
        targets.one(bytes([kind]) + source.randbytes(size))


@pytest.mark.timeout(60 + 2 * SECONDS)
def test_with_atheris(targets: ModuleType, tmp_path: Path) -> None:
    require_module("atheris")
    state = State.new(targets.CIRCLE).playout(random.Random(1), "first_fit")
    seeds = {
        "move": b"\0K6c4",
        "position": b"\1" + state.text.encode(),
        "game": b"\3" + random.Random(1).randbytes(120),
    }
    for name, seed in seeds.items():
        (tmp_path / name).write_bytes(seed)
    done = subprocess.run(
        [sys.executable, HERE / "targets.py", f"-max_total_time={SECONDS}", "-max_len=600", "-verbosity=0", tmp_path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
