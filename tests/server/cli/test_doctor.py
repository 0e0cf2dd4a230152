"""`arena doctor`: good news, what is slower, what is bad, and the mend."""

from __future__ import annotations

import json
from pathlib import Path

from command import arena


def test_a_machine_that_can_play(tmp_path: Path) -> None:
    done = arena("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    findings = {finding["what"]: finding for finding in json.loads(done.stdout)}
    assert findings["bot processes"]["state"] == "good"
    assert all(finding["fix"] for finding in findings.values() if finding["state"] != "good")


def test_the_engine_in_use_is_named_with_the_reason(tmp_path: Path) -> None:
    done = arena("doctor", cwd=tmp_path, ARENA_ENGINE="pure")
    assert done.returncode == 0
    assert "slower  Patchwork engine pure Python - ARENA_ENGINE=pure" in done.stdout


def test_a_folder_too_deep_for_sockets(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 90)
    deep.mkdir()
    done = arena("doctor", cwd=tmp_path, TMPDIR=str(deep))
    assert done.returncode == 1
    assert "set TMPDIR to a shorter one" in done.stdout
    assert not list(deep.iterdir())
