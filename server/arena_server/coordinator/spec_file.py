"""The spec file: a tournament written down in TOML."""

from __future__ import annotations

import difflib
import json
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from arena_server.coordinator.lines import Key, line_of
from arena_server.coordinator.settings import SCHEMA, Origin, Settings
from arena_server.model import UserError

_WANTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "finite_number": "a finite number",
}
"""What to give, by pydantic's names of mistakes."""


def read(path: Path) -> Settings:
    """Reads a spec file; bots that are paths count from the file's folder.

    Raises:
        UserError: it cannot be read, is no TOML, comes from a newer arena, has an unknown key or a value of the wrong
            type; with the line.
    """
    text, data = _load(path)
    version = data.get("schema", SCHEMA)
    if isinstance(version, int) and version > SCHEMA:
        what = f"{path}, line {line_of(text, ('schema',))}: the spec is for a newer arena"
        raise UserError(what, f"schema {version}", f"this one reads schema {SCHEMA}: install a newer one")
    try:
        settings = Settings.model_validate(data)
    except ValidationError as error:
        raise _told(path, text, error) from None
    if settings.bots is not None:
        bots = [entry.model_copy(update={"bot": _from(path.parent, entry.bot)}) for entry in settings.bots]
        settings = settings.model_copy(update={"bots": bots})
    if settings.deals is not None:
        settings = settings.model_copy(update={"deals": str(path.parent / settings.deals)})
    return settings.coming_from(Origin(path, text))


def _load(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(f"{text}\n")  # so that a mistake in the last line is told with its number
    except OSError as error:
        raise UserError(f"cannot read the spec: {error.strerror}", path, "check the path") from None
    except UnicodeDecodeError:
        raise UserError("the spec is not UTF-8 text", path, "save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError("the spec is not TOML", f"{path}: {error}", "mend that line") from None


def _told(path: Path, text: str, error: ValidationError) -> UserError:
    """The first mistake, in words."""
    mistake = error.errors(include_url=False)[0]
    kind, key, value = mistake["type"], mistake["loc"], mistake["input"]
    if "options" in key[:-1]:
        key = key[: key.index("options") + 2]  # behind it pydantic tells which type it tried
    missing = kind == "missing"
    line = line_of(text, key[:-1] if missing else key)
    place, name = f"{path}, line {line}", _name(key)
    if missing:
        return UserError(f"{place}: a key is missing", repr(name), f"add it: {name} = ...")
    if kind == "extra_forbidden":
        return UserError(f"{place}: unknown key", repr(name), _suggestion(name, key))
    return UserError(f"{place}: wrong {name}", repr(value), f"give {_wanted(mistake, key)}")


def _name(key: Key) -> str:
    return next(part for part in reversed(key) if isinstance(part, str))


def _table(key: Key) -> type[BaseModel]:
    """The table in which a key stands."""
    return Settings.TABLES.get(str(key[0]), Settings) if len(key) > 1 else Settings


def _suggestion(name: str, key: Key) -> str:
    fields = _table(key).model_fields
    known = [field.alias or word for word, field in fields.items()]
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known)}"


def _wanted(mistake: ErrorDetails, key: Key) -> str:
    if "options" in key[:-1]:
        return "a text, a finite number, true or false"
    if mistake["type"] == "literal_error":
        return str(mistake["ctx"]["expected"]).replace("'", '"')
    field = _table(key).model_fields.get(str(key[-1]))
    example = f": {json.dumps(field.examples[0])}" if field and field.examples else ""
    return f"{_WANTED.get(mistake['type'], mistake['msg'])}{example}"


def _from(folder: Path, bot: str) -> str:
    path, colon, options = bot.partition(":")
    return f"{folder / path}{colon}{options}" if (folder / path).exists() else bot
