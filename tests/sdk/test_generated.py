"""The committed generated code is what proto/ gives, and proto/ is well kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from requirements import require

ROOT = Path(__file__).parents[2]
PROTO = ROOT / "proto"


def test_the_committed_code_is_fresh(tmp_path: Path) -> None:
    require("python-grpc-tools-protoc")
    plugins = {str(Path(require(name)).parent) for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")}
    outputs = [f"--{kind}_out={tmp_path}" for kind in ("python", "grpc_python", "mypy", "mypy_grpc")]
    sources = [str(path.relative_to(PROTO)) for path in sorted(PROTO.rglob("*.proto"))]
    subprocess.run(
        [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}", *outputs, *sources],
        check=True,
        env=os.environ | {"PATH": os.pathsep.join([*plugins, os.environ.get("PATH", os.defpath)])},
    )
    generated = contents(tmp_path)
    assert generated == contents(ROOT / "sdk" / "arena"), "run `make proto` and commit"


def test_bots_that_read_the_protocol_have_a_fresh_copy() -> None:
    copies = list((ROOT / "example_bots").glob("languages/*/*.proto"))
    assert copies
    for copy in copies:
        assert copy.read_bytes() == (PROTO / "arena/v1" / copy.name).read_bytes(), "run `make proto` and commit"


def contents(folder: Path) -> dict[str, str]:
    files = [path for pattern in ("*_pb2*.py", "*_pb2*.pyi") for path in folder.rglob(pattern)]
    return {path.name: path.read_text() for path in files}


@pytest.mark.parametrize("command", [["lint"], ["format", "--diff", "--exit-code"]], ids=lambda command: command[0])
def test_buf_is_content(command: list[str], tmp_path: Path) -> None:
    buf = require("buf")
    done = subprocess.run(
        [buf, *command, str(PROTO)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"BUF_CACHE_DIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
