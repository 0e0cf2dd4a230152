"""A spec file to begin with: every key with a word about it, and what holds where it is left out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

from pydantic.fields import FieldInfo

from arena_server.coordinator.settings import SCHEMA, BotEntry, Settings
from arena_server.coordinator.spec_schema import PATH
from arena_server.launching.bots import example_bots

_WIDTH = 100
DEFAULTS: Mapping[str, Any] = {
    "schema": SCHEMA,
    "format": "round-robin",
    "edition": "original",
    "time": "100ms",
    "restart": "never",
}
"""What holds where these keys are left out; for the others that depends on the machine, or is nothing."""


def example() -> str:
    """A valid spec that plays what ``arena run-tournament`` plays without one."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f"#:schema {PATH.as_uri()}"
    yield "# A tournament. Keys behind a # show what could be said; the others say what holds without them, too."
    yield "# All about them: docs/spec.md of patchwork-arena."
    said = {**DEFAULTS, "bots": [bot.manifest.name for bot in example_bots()]}
    for name, field in Settings.model_fields.items():
        key = field.alias or name
        yield ""
        yield from _described(field)
        if key in said:
            yield f"{key} = {toml(said[key])}"
        else:
            yield f"# {key} = {toml(_example(field))}"
    yield ""
    yield "# A bot may be a table instead; then all of them stand here, at the end, in place of the list above:"
    yield "# [[bots]]"
    yield '# bot = "mcts"'
    for name, field in BotEntry.model_fields.items():
        if field.examples:
            yield f"# {name} = {toml(_example(field))}  # {field.description}"


def _described(field: FieldInfo) -> Iterator[str]:
    yield from (f"# {line}" for line in wrap(field.description or "", _WIDTH))


def _example(field: FieldInfo) -> Any:
    return (field.examples or [""])[0]


def toml(value: Any) -> str:
    """A value of texts, numbers, lists and tables, on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value)
