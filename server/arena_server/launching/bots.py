"""Bots as people name them: a folder, a script, a zip or an example, with options behind a colon."""

from __future__ import annotations

import math
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from arena_server.launching import archive
from arena_server.launching.digest import digest
from arena_server.launching.manifest import FILE_NAME, Manifest, suggest
from arena_server.model import Entrant, Option, UserError

SCRIPT = "bot.py"
"""What runs in a folder that has no manifest."""

_WITH_OPTIONS = re.compile(r"(.+?):([A-Za-z_][\w-]*=.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot that can be started here.

    Attributes:
        folder: absolute; where its command runs.
        digest: SHA-256 of its files when it was resolved, in hex.
        options: every option with its value, sorted by name.
    """

    manifest: Manifest
    folder: Path
    digest: str
    options: tuple[tuple[str, Option], ...] = ()

    @property
    def entrant(self) -> Entrant:
        """Who it is in a tournament."""
        return Entrant(self.manifest.name, self.manifest.version, self.digest, self.options)

    @property
    def label(self) -> str:
        """Name and version, as people read it."""
        return self.entrant.label

    def fresh(self) -> Self:
        """The same, with a process of its own for every game."""
        return replace(self, manifest=replace(self.manifest, restart="per_game", games_at_once=1))

    @property
    def text(self) -> str:
        """How to name it so that `resolve` finds it again on this machine, as long as its files stay."""
        defaults = dict(self.manifest.options or ())
        changed = [f"{name}={_written(value)}" for name, value in self.options if defaults.get(name) != value]
        return self._place() + (":" + ",".join(changed) if changed else "")

    def _place(self) -> str:
        if _examples().get(self.folder.name) == self.folder:
            return self.folder.name
        bare = not (self.folder / FILE_NAME).is_file() and len(self.manifest.command) > 1
        return str(self.folder / self.manifest.command[1] if bare else self.folder)

    def argv(self) -> list[str]:
        """The command that starts it, to be run in its folder."""
        first, *rest = self.manifest.command
        match first:
            case "python":
                return [self._python(), *rest]
            case "arena":  # -P: nothing of the bot's folder takes the place of a module
                return [sys.executable, "-P", "-m", "arena_server", *rest]
        return [first, *rest]

    def command_line(self) -> str:
        """The same as a person would type it."""
        return f"cd {shlex.quote(str(self.folder))} && {shlex.join(self.argv())}"

    def _python(self) -> str:
        own = (self.folder / ".venv" / "bin" / "python", self.folder / ".venv" / "Scripts" / "python.exe")
        return next((str(path) for path in own if path.exists()), sys.executable)


def resolve(text: str, options: Mapping[str, Option] | None = None) -> Bot:
    """Finds the bot that a person means.

    Args:
        text: a folder with ``bot.toml`` or ``bot.py``, a ``.py`` file, a zip, or the name of an example bot; a path
            that exists wins. ``:c=1.4,playouts=200`` behind it sets options.
        options: more of them, as values.

    Raises:
        UserError: no such bot, a wrong manifest, or an option that is unknown, of the wrong type or said twice.
    """
    match = None if _exists(text) else _WITH_OPTIONS.fullmatch(text)
    bot = _find(match[1] if match else text)
    written = _parsed(bot, match[2]) if match else {}
    given = {name: _checked(bot, name, value) for name, value in (options or {}).items()}
    for name in written.keys() & given.keys():
        if written[name] != given[name]:
            both = f"{written[name]!r} and {given[name]!r}"
            raise UserError(f"two values for {name} of {bot.label}", both, "say it once", key=("options", name))
    return replace(bot, options=tuple(sorted({**dict(bot.options), **written, **given}.items())))


def example_bots() -> list[Bot]:
    """The bots that come with the arena, by name."""
    return [_load(folder) for _, folder in sorted(_examples().items())]


def _examples() -> dict[str, Path]:
    spec = find_spec("example_bots")  # not importlib.resources, which fails on the hook of an editable installation
    places = [Path(place) for place in (spec.submodule_search_locations if spec else None) or ()]
    folders = [folder for place in places if place.is_dir() for folder in place.iterdir()]
    return {folder.name: folder for folder in folders if (folder / FILE_NAME).is_file()}


def _exists(text: str) -> bool:
    try:
        return bool(text) and Path(text).expanduser().exists()
    except (OSError, RuntimeError, ValueError):
        return False  # too long, a zero byte, no such user: no path


def _find(text: str) -> Bot:
    if _exists(text):
        return _load(Path(text).expanduser().resolve())
    examples = _examples()
    if text in examples:
        return _load(examples[text])
    hint = "; options come behind it as bot:name=value,name=value" if ":" in text else ""
    fix = suggest(text, examples, "example bots")
    raise UserError("no such bot", repr(text), f"give a folder, a .py file, a zip or an example bot; {fix}{hint}")


def _load(path: Path) -> Bot:
    if path.is_dir():
        return _load_folder(path, path.name)
    if path.suffix == ".py":
        return _build(Manifest.bare(path.stem, path.name), path.parent, path)
    if path.suffix == ".zip":
        return _load_folder(archive.unpack(path), path.stem)
    raise UserError("not a bot", path, f"give a folder with {FILE_NAME} or {SCRIPT}, a .py file or a .zip")


def _load_folder(folder: Path, name: str) -> Bot:
    if (folder / FILE_NAME).is_file():
        return _build(Manifest.read(folder), folder, folder)
    if (folder / SCRIPT).is_file():
        return _build(Manifest.bare(name, SCRIPT), folder, folder)
    other = f"; for the example bot, run the command from another folder than {folder.parent}"
    hint = other if name in _examples() else ""
    raise UserError(f"a folder without {FILE_NAME} or {SCRIPT}", folder, f"put one of them there{hint}")


def _build(manifest: Manifest, folder: Path, content: Path) -> Bot:
    return Bot(manifest, folder, digest(content, manifest.files), manifest.options or ())


def _parsed(bot: Bot, text: str) -> dict[str, Option]:
    options = {}
    for item in text.split(","):
        name, equals, value = item.partition("=")
        if not equals:
            raise UserError(f"options of {bot.label} are name=value, with a comma between", repr(item), "add its value")
        options[name] = _option(bot, name, value)
    return options


def _option(bot: Bot, name: str, value: str) -> Option:
    default = _default(bot, name)
    if default is None:
        return _guessed(value)
    try:
        return _typed(value, default)
    except (KeyError, ValueError):
        raise _wrong(bot, name, value, default) from None


def _checked(bot: Bot, name: str, value: Option) -> Option:
    """A value that has its type already; a whole number is a number, too."""
    default = _default(bot, name)
    if isinstance(default, float) and type(value) is int:
        return float(value)
    if default is not None and type(value) is not type(default):
        raise _wrong(bot, name, value, default)
    return value


def _default(bot: Bot, name: str) -> Option | None:
    """What a declared option is where nobody says anything; None where the bot takes any option."""
    declared = bot.manifest.options
    if declared is None:
        return None
    defaults = dict(declared)
    if name not in defaults:
        fix = suggest(name, defaults, "its options")
        raise UserError(f"unknown option of {bot.label}", repr(name), fix, key=("options", name))
    return defaults[name]


def _wrong(bot: Bot, name: str, value: Option, default: Option) -> UserError:
    what = f"wrong value for {name} of {bot.label}"
    return UserError(what, repr(value), f"give {_WANTED[type(default)]}", key=("options", name))


def _written(value: Option) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_BOOLS = {"true": True, "false": False}
_WANTED = {bool: "true or false", int: "a whole number", float: "a finite number", str: "text"}


def _typed(value: str, default: Option) -> Option:
    if isinstance(default, bool):
        return _BOOLS[value.lower()]
    if isinstance(default, int):
        return int(value)
    if isinstance(default, float):
        return _finite(value)
    return value


def _finite(value: str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def _guessed(value: str) -> Option:
    """The value as the narrowest type that reads it."""
    for default in (False, 0, 0.0):
        try:
            return _typed(value, default)
        except (KeyError, ValueError):
            continue
    return value
