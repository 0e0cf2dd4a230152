"""`arena run-tournament --init`: a spec file to begin with."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from arena_server.cli.options import program
from arena_server.cli.output import show_json
from arena_server.coordinator import spec_schema
from arena_server.coordinator.example_spec import example
from arena_server.coordinator.settings import Settings
from arena_server.model import UserError

DEFAULT = "spec.toml"


def write_spec(what: Sequence[str], given: Settings, *, as_json: bool) -> None:
    """Writes the example where nothing is yet, and says what to do next.

    Raises:
        UserError: there is a file already, it cannot be written, or more was asked for.
    """
    path = _path(what, given)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(example())
    except FileExistsError:
        raise UserError("there is a file already", path, "choose another path: --init OTHER.toml") from None
    except OSError as error:
        raise UserError(f"cannot write there ({error.strerror})", path, "choose another path") from None
    if as_json:
        show_json({"path": str(path), "schema": str(spec_schema.PATH)})
        return
    command = f"{program()} run-tournament {shlex.quote(str(path))}"
    print(f"wrote {path}: change what you like; editors check it by {spec_schema.PATH}")
    print(f"what it takes: {command} --dry-run")
    print(f"to play it: {command}")


def _path(what: Sequence[str], given: Settings) -> Path:
    others = [text for text in what if not text.endswith(".toml")]
    if others:
        raise UserError("--init takes no bots", " ".join(others), f"give a path to write, like {DEFAULT}, or nothing")
    if len(what) > 1:
        raise UserError("--init writes one file", " ".join(what), "give one path")
    if given.model_fields_set:
        said = ", ".join(f"--{key}" for key in sorted(given.model_fields_set))
        raise UserError("--init takes no settings", said, "write them into the file")
    return Path(what[0] if what else DEFAULT)
