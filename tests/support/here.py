"""The `arena` command in this process: quicker than a process of its own."""

from __future__ import annotations

import json
import os
import pty
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena_server.cli import main


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)


class Arena:
    """The `arena` command, in a folder with a database."""

    def __init__(self, capsys: pytest.CaptureFixture[str], database: Path) -> None:
        self._capsys = capsys
        self.database = database

    def on_a_terminal(self, width: int, *arguments: str) -> list[str]:
        """The lines that it prints on a terminal of that width, without the colours."""
        ours, theirs = pty.openpty()
        with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor() as threads:
            screen = threads.submit(_read_all, ours)
            patch.setenv("COLUMNS", str(width))
            patch.setenv("TERM", "xterm")
            with os.fdopen(theirs, "w") as terminal:
                patch.setattr(sys, "stdout", terminal)
                with pytest.raises(SystemExit):
                    main(arguments)
            return re.sub(r"\x1b\[[0-9;]*m", "", screen.result().decode()).splitlines()

    def __call__(self, *arguments: str) -> Done:
        with pytest.raises(SystemExit) as exited:
            main(arguments)
        out, err = self._capsys.readouterr()
        code = exited.value.code
        assert isinstance(code, int)
        return Done(code, out, err)


def _read_all(terminal: int) -> bytes:
    output = b""
    try:
        while chunk := os.read(terminal, 4096):
            output += chunk
    except OSError:  # how a terminal ends
        pass
    os.close(terminal)
    return output
