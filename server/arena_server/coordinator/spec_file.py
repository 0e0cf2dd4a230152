"""The spec file: a tournament written down in TOML."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from arena_server.model import UserError


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user asks for; None is what was not said.

    Attributes:
        bots: as people name them (BOT).
        time: text of a time control.
        games: between each two bots that meet.
    """

    bots: tuple[str, ...] | None = None
    name: str | None = None
    format: str | None = None
    games: int | None = None
    rounds: int | None = None
    challengers: int | None = None
    seed: str | None = None
    time: str | None = None
    edition: str | None = None
    concurrency: int | None = None
    db: str | None = None

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads a spec file; bots that are paths count from the file's folder.

        Raises:
            UserError: it cannot be read, is no TOML, has an unknown key or a value of the wrong type.
        """
        try:
            text = path.read_text(encoding="utf-8")
            data = tomllib.loads(text)
        except OSError as error:
            raise UserError(f"cannot read the spec: {error.strerror}", path, "check the path") from None
        except UnicodeDecodeError:
            raise UserError("the spec is not UTF-8 text", path, "save it as UTF-8") from None
        except tomllib.TOMLDecodeError as error:
            raise UserError("the spec is not TOML", f"{path}: {error}", "mend that line") from None
        checked = {key: _value(f"{path}, line {_line(text, key)}", key, value) for key, value in data.items()}
        if "bots" in checked:
            checked["bots"] = tuple(_from(path.parent, bot) for bot in checked["bots"])
        return cls(**checked)

    def over(self, other: Self) -> Self:
        """These settings where they say something, else the other's."""
        mine = {field.name: getattr(self, field.name) for field in fields(self)}
        said = {key: value for key, value in mine.items() if value is not None}
        return type(self)(**{**{field.name: getattr(other, field.name) for field in fields(other)}, **said})


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError
    return tuple(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value


_READERS: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "bots": (_texts, 'a list of texts: ["greedy", "mcts"]'),
    "name": (_text, "a text"),
    "format": (_text, "a text"),
    "games": (_number, "a whole number"),
    "rounds": (_number, "a whole number"),
    "challengers": (_number, "a whole number"),
    "seed": (_text, "a text"),
    "time": (_text, 'a text: "100ms"'),
    "edition": (_text, "a text"),
    "concurrency": (_number, "a whole number"),
    "db": (_text, "a text"),
}


def _value(place: str, key: str, value: Any) -> Any:
    if key not in _READERS:
        near = difflib.get_close_matches(key, _READERS, n=1)
        fix = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(_READERS)}"
        raise UserError(f"{place}: unknown key", repr(key), fix)
    read, wanted = _READERS[key]
    try:
        return read(value)
    except TypeError:
        raise UserError(f"{place}: wrong {key}", repr(value), f"give {wanted}") from None


def _line(text: str, key: str) -> int:
    starts = (number for number, line in enumerate(text.splitlines(), 1) if line.lstrip(" ['\"").startswith(key))
    return next(starts, 1)


def _from(folder: Path, bot: str) -> str:
    path, colon, options = bot.partition(":")
    return f"{folder / path}{colon}{options}" if (folder / path).exists() else bot
