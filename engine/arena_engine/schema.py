"""The part of JSON Schema that our schemas use: type, const, enum, pattern, required, properties, items."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from math import isfinite
from typing import Any

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def load(name: str) -> dict[str, Any]:
    """A schema shipped with this package, ``NAME.schema.json``."""
    schema: dict[str, Any] = json.loads(files("arena_engine").joinpath(f"{name}.schema.json").read_text("utf-8"))
    return schema


def faults(value: object, schema: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """What in a value breaks the schema, each fault in words: ``seats[0].bot is missing``."""
    if not _has_type(value, schema.get("type", ())):
        yield f"{where or 'it'} is no {_names(schema['type'])}"
        return
    if value not in schema.get("enum", [schema.get("const", value)]):
        yield f"{where} is none of {', '.join(map(str, schema.get('enum', [schema.get('const')])))}"
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{where} does not match {schema['pattern']}"
    if isinstance(value, dict):
        yield from _object_faults(value, schema, where)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from faults(item, schema.get("items", {}), f"{where}[{index}]")


def _object_faults(value: Mapping[str, object], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    prefix = f"{where}." if where else ""
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{prefix}{key} is missing"
    for key, part in schema.get("properties", {}).items():
        if key in value:
            yield from faults(value[key], part, prefix + key)


def _has_type(value: object, names: str | list[str] | tuple[str, ...]) -> bool:
    wanted = [names] if isinstance(names, str) else names
    return not wanted or any(_is(value, name) for name in wanted)


def _is(value: object, name: str) -> bool:
    """JSON's view of types: true is no number, and there is no infinity."""
    if isinstance(value, bool) or (isinstance(value, float) and not isfinite(value)):
        return False
    return isinstance(value, _TYPES[name])


def _names(names: str | list[str]) -> str:
    return names if isinstance(names, str) else " or ".join(names)
