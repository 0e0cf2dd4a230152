"""The process of a bot: what its environment says, its output, its signals."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TextIO

from arena_sdk.bot import Bot

USAGE = """\
{file} is a bot: an arena starts it and asks it for moves. Let it play:
  arena run-tournament {file} greedy
or connect it to an arena that runs elsewhere:
  ARENA_ADDRESS=host:port ARENA_TOKEN=token python {file}
"""
MISTAKE = 2
"""Exit code of a wrong environment."""


def run(
    bot_class: type[Bot], *, usage: str = "", leaving: Callable[[], None] | None = None, at_once: int | None = None
) -> int:
    """Plays for the arena that the environment names.

    Args:
        bot_class: what plays.
        usage: what to say where the environment names no arena; by default for a bot in Python.
        leaving: what to do first on Ctrl-C and SIGTERM, within the signal's handler.
        at_once: games at once that the bot can play; None for any number.

    Returns:
        The exit code.
    """
    given = os.environ
    if not given.get("ARENA_ADDRESS"):
        sys.stderr.write(usage or USAGE.format(file=sys.argv[0]))
        return MISTAKE
    mistake = _mistake(given, at_once)
    if mistake:
        sys.stderr.write(f"arena_sdk: {mistake}\n")
        return MISTAKE
    _leave_on_signals(leaving)
    sys.stdout, sys.stderr = _harmless(sys.stdout), _harmless(sys.stderr)
    # A bot may start processes of its own: gRPC's fork handlers would warn or hang there. Its failures are told by us.
    given.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    given.setdefault("GRPC_VERBOSITY", "NONE")

    from arena_sdk.session import Session  # noqa: PLC0415 - imports grpc, which reads the environment

    return Session(
        bot_class,
        given["ARENA_ADDRESS"],
        given["ARENA_TOKEN"],
        name=given.get("ARENA_BOT", bot_class.name),
        bot_version=given.get("ARENA_VERSION", bot_class.version),
        games_at_once=int(given.get("ARENA_GAMES_AT_ONCE", "1")),
    ).run()


def _mistake(given: Mapping[str, str], at_once: int | None) -> str:
    address, games = given["ARENA_ADDRESS"], given.get("ARENA_GAMES_AT_ONCE", "1")
    if ":" not in address:
        return f"ARENA_ADDRESS is no address: {address!r} - write unix:/path/of/socket or host:port"
    token = given.get("ARENA_TOKEN", "")
    if not token or not token.isascii() or not token.isprintable():
        return "ARENA_TOKEN is missing or no token - set it to the token that the arena gave for this bot"
    if not games.isascii() or not games.isdigit() or int(games) < 1:
        return f"ARENA_GAMES_AT_ONCE is no number of games: {games!r} - write a whole number from 1"
    if at_once is not None and int(games) > at_once:
        return f"ARENA_GAMES_AT_ONCE is too much for this bot: {games!r} - set games_at_once = {at_once}"
    return ""


def _leave_on_signals(leaving: Callable[[], None] | None) -> None:
    def leave(signum: int, _frame: FrameType | None) -> None:
        if leaving is not None:
            leaving()
        # At once: an exception could be caught by the bot's own code, and nothing here outlives the process.
        os._exit(128 + signum)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)


class Harmless(io.TextIOWrapper):
    """An output whose reader may be gone: writing to it never raises, and lines go out as they are written."""

    def write(self, text: str, /) -> int:
        """Writes what can be written."""
        with suppress(OSError, ValueError):
            return super().write(text)
        return len(text)

    def flush(self) -> None:
        """Flushes what can be flushed."""
        with suppress(OSError, ValueError):
            super().flush()


def _harmless(output: TextIO | None) -> TextIO:
    if output is None:  # its descriptor was closed before the start
        return Path(os.devnull).open("w", encoding="utf-8")
    return Harmless(output.buffer, encoding="utf-8", errors="backslashreplace", line_buffering=True)
