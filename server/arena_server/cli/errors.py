"""The one place where what went wrong becomes a line for a person, or JSON, and an exit code.

Exit codes: 0 done; 1 done and the answer is no; 2 the user's mistake; 3 ours or the machine's; 130 Ctrl-C; 143 SIGTERM.
With ``ARENA_DEBUG=1`` every error comes with its traceback.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from io import TextIOWrapper
from typing import TYPE_CHECKING

import typer

from arena_server.text import clean

if TYPE_CHECKING:
    from arena_engine.game import GameError

USER = 2
OURS = 3
INTERRUPTED = 130

_CLICK_ERROR = typer.BadParameter.__mro__[2]  # ClickException, of click or of the copy that newer typers bring


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error as it is told: its kind, what was wrong, the value, what to do."""

    error: str
    what: str
    value: str = ""
    fix: str = ""

    def line(self) -> str:
        """For a person."""
        value = f": {self.value}" if self.value else ""
        return clean(f"arena: {self.what}{value}" + (f" - {self.fix}" if self.fix else ""))

    def json(self) -> str:
        """For a program."""
        return json.dumps(asdict(self))


def guard(work: Callable[[], None], *, as_json: bool) -> int:
    """Does the work, tells what goes wrong on standard error, and gives the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may not know a letter of a bot's text
    try:
        work()
    except typer.Exit as done:
        return done.exit_code
    except BrokenPipeError:
        _close_output()  # whoever read has enough
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort: no traceback for a person
        code, trouble = told(error)
        print(trouble.json() if as_json else trouble.line(), file=sys.stderr)
        return code
    return 0


def told(error: Exception) -> tuple[int, Trouble]:
    """The exit code of an error and what to say about it."""
    from arena_engine.game import GameError
    from arena_server.model import ArenaError

    kind = type(error).__name__
    if _debugging():
        _print_traceback(error)
    if isinstance(error, ArenaError):
        return error.exit_code, Trouble(kind, error.what, str(error.value), error.fix)
    if isinstance(error, GameError):
        return USER, Trouble(kind, _with_position(error), repr(error.value))
    if isinstance(error, _CLICK_ERROR):
        return USER, _usage(error)
    if isinstance(error, OSError):
        return OURS, Trouble(kind, error.strerror or str(error), str(error.filename or ""), "mend it and try again")
    return OURS, _bug(error)


def _with_position(error: GameError) -> str:
    return f"{error.why}, in position {error.position!r}" if error.position else error.why


def _usage(error: Exception) -> Trouble:
    message = str(getattr(error, "format_message", error.__str__)())
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "arena"
    value = _given(error.__cause__)
    return Trouble("UsageError", message[:1].lower() + message[1:].rstrip("."), value, f"see `{path} --help`")


def _given(cause: object) -> str:
    """What the user typed where an option's type refused it: newer typers check with pydantic."""
    errors = getattr(cause, "errors", None)
    return repr(errors()[0]["input"]) if callable(errors) else ""


def _bug(error: Exception) -> Trouble:
    fix = "please report it" if _debugging() else f"please report it with the traceback: {_kept_traceback(error)}"
    return Trouble(type(error).__name__, "this is a bug in the arena", f"{type(error).__name__}: {error}", fix)


def _kept_traceback(error: Exception) -> str:
    """Where the traceback was written."""
    import tempfile
    import traceback

    try:
        with tempfile.NamedTemporaryFile("w", prefix="arena-", suffix=".txt", delete=False, encoding="utf-8") as file:
            file.write("".join(traceback.format_exception(error)))
    except OSError:
        return "ARENA_DEBUG=1 shows it"
    return f"{file.name} (ARENA_DEBUG=1 shows it)"


def _debugging() -> bool:
    return os.environ.get("ARENA_DEBUG", "") not in ("", "0")


def _print_traceback(error: Exception) -> None:
    import traceback

    traceback.print_exception(error)


def _close_output() -> None:
    """So that the interpreter's last flush has nothing to complain about."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
