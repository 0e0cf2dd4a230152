"""The code of docs/rl.md runs, block after block."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from requirements import require_module

for name in ("numpy", "gymnasium", "pettingzoo", "pyspiel"):
    require_module(name)

TEXT = (Path(__file__).parents[3] / "docs" / "rl.md").read_text("utf-8")


def test_the_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 6
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    seat_reward, position = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"[ab] -?\d+\.0 \(-?\d+, -?\d+\)", seat_reward)
    assert position.endswith(" a - revised")
