"""What a bot says about itself: ``bot.toml``."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from arena_server.model import ArenaError, Option, TimeControl, UserError

FILE_NAME = "bot.toml"

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_OPTION = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

Restart = Literal["never", "per_game"]


@dataclass(frozen=True, slots=True)
class Manifest:
    """A bot's own description.

    Attributes:
        command: run in the bot's folder; a first word ``python`` is the bot's own ``.venv``, else our interpreter, and
            ``arena`` is this one.
        start_limit_us: from the start of the process to its Hello, and to each Ready.
        games_at_once: games that one process plays at the same time.
        restart: whether each game gets a fresh process.
        files: globs of what counts for the digest; empty for everything.
        options: names with defaults, sorted; None where any option is accepted, for want of a manifest.
    """

    name: str
    version: str
    command: tuple[str, ...]
    start_limit_us: int = 30_000_000
    games_at_once: int = 1
    restart: Restart = "never"
    files: tuple[str, ...] = ()
    options: tuple[tuple[str, Option], ...] | None = ()

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Reads the ``bot.toml`` of a folder.

        Raises:
            UserError: it is missing, unreadable, no TOML, or says something wrong; with the line where that is known.
        """
        path = folder / FILE_NAME
        try:
            text = path.read_text(encoding="utf-8")
            data = tomllib.loads(text)
        except OSError as error:
            raise UserError(
                f"cannot read {path}", error.strerror or error, "check the path and its permissions"
            ) from None
        except UnicodeDecodeError as error:
            raise UserError(f"{path} is not UTF-8 text", error.reason, "save it as UTF-8") from None
        except tomllib.TOMLDecodeError as error:
            raise UserError(f"{path} is not TOML", error, "mend that line") from None
        return cls(**_Reader(path, text).fields(data))

    @classmethod
    def bare(cls, name: str, script: str) -> Self:
        """The manifest of a script that has none; raises UserError for a name that cannot be a bot's."""
        if _NAME.fullmatch(name) is None:
            raise UserError("not a name for a bot", repr(name), f"rename it, or write a {FILE_NAME}; {_NAME_WANTED}")
        return cls(name, "0", ("python", script), options=None)


class _Reader:
    """Turns the table into fields; every complaint names the file and the line."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()

    def fields(self, data: dict[str, Any]) -> dict[str, Any]:
        for key in data:
            if key not in _READERS:
                raise UserError(f"{self._place(key)}: unknown key", repr(key), suggest(key, _READERS, "known keys"))
        fields = dict(self._field(key, value) for key, value in data.items())
        for key, example in _REQUIRED.items():
            if key not in data:
                raise UserError(f"{self._path}: a key is missing", repr(key), f"add a line: {key} = {example}")
        return fields

    def _field(self, key: str, value: Any) -> tuple[str, Any]:
        name, read = _READERS[key]
        try:
            return name, read(value)
        except _WrongOptionError as error:
            raise UserError(f"{self._place(error.name)}: not an option", error.shown, error.wanted) from None
        except ValueError as error:
            raise UserError(f"{self._place(key)}: wrong {key}", repr(value), str(error)) from None

    def _place(self, key: str) -> str:
        line = re.compile(rf"""\s*\[?\s*["']?{re.escape(key)}["']?\s*[\].=]""")
        number = next((number for number, text in enumerate(self._lines, 1) if line.match(text)), None)
        return f"{self._path}, line {number}" if number else str(self._path)


class _WrongOptionError(ValueError):
    def __init__(self, name: str, shown: str, wanted: str) -> None:
        super().__init__(name)
        self.name, self.shown, self.wanted = name, shown, wanted


_NAME_WANTED = "a name is 1 to 64 of the letters A-Z a-z, digits, '.', '_' and '-', and begins with none of '.-'"


def _name(value: Any) -> str:
    if not isinstance(value, str) or _NAME.fullmatch(value) is None:
        raise ValueError(_NAME_WANTED)
    return value


def _version(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError('a version is text, in quotes: version = "0.1"')  # noqa: TRY004 - _field catches one kind
    if _VERSION.fullmatch(value) is None:
        raise ValueError("a version is 1 to 64 letters, digits and any of '._+-', and begins with a letter or digit")
    return value


def _texts(value: Any, wanted: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(word, str) and word for word in value):
        raise ValueError(wanted)
    if any("\0" in word for word in value):
        raise ValueError("no text in it may hold a zero byte")
    return tuple(value)


def _command(value: Any) -> tuple[str, ...]:
    return _texts(value, 'a command is a list of words, at least one: command = ["python", "bot.py"]')


def _files(value: Any) -> tuple[str, ...]:
    return _texts(value, 'files is a list of globs, at least one: files = ["*.py", "weights/**"]')


def _start_limit(value: Any) -> int:
    wanted = 'a start limit is a duration with its unit, in quotes: start_limit = "30s"'
    try:
        control = TimeControl.parse(value) if isinstance(value, str) else TimeControl()
    except ArenaError:
        raise ValueError(wanted) from None
    if control.limit_us is None or control.bank_us is not None:
        raise ValueError(wanted)
    return control.limit_us


def _games_at_once(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 1000:  # noqa: PLR2004 - told below
        raise ValueError("games_at_once is a whole number from 1 to 1000")
    return value


def _restart(value: Any) -> str:
    if value not in ("never", "per_game"):
        raise ValueError('restart is "never" or "per_game"')
    return str(value)


def _options(value: Any) -> tuple[tuple[str, Option], ...]:
    if not isinstance(value, dict):
        raise ValueError("options is a table: a line [options], then name = default")  # noqa: TRY004 - as above
    for name, default in value.items():
        if _OPTION.fullmatch(name) is None:
            raise _WrongOptionError(name, repr(name), "an option's name is letters, digits, '_' and '-'")
        if not isinstance(default, (str, int, float)) or (isinstance(default, float) and not math.isfinite(default)):
            shown = f"{name} = {default!r}"
            raise _WrongOptionError(name, shown, "a default is text, a finite number, true or false")
    return tuple(sorted(value.items()))


_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "name": ("name", _name),
    "version": ("version", _version),
    "command": ("command", _command),
    "start_limit": ("start_limit_us", _start_limit),
    "games_at_once": ("games_at_once", _games_at_once),
    "restart": ("restart", _restart),
    "files": ("files", _files),
    "options": ("options", _options),
}
_REQUIRED = {"name": '"my-bot"', "version": '"0.1"', "command": '["python", "bot.py"]'}


def suggest(word: str, known: Iterable[str], kind: str) -> str:
    """What to do about an unknown word: the nearest known one, if any is near, and all of them."""
    names = sorted(known)
    near = difflib.get_close_matches(word.casefold(), names, n=1)
    guess = f"did you mean {near[0]}? " if near else ""
    return f"{guess}{kind}: {', '.join(names) or 'none'}"
