"""The process of a bot: what its environment says, its output, its signals."""

from __future__ import annotations

import io
import json
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
  ARENA_SERVER=host:port ARENA_TOKEN=token python {file}
"""
REMOTE_PATIENCE_S = 3600.0
"""For how long a standing server is looked for that is away."""
MISTAKE = 2
"""Exit code of a wrong environment."""


def run(
    bot_class: type[Bot], *, usage: str = "", leaving: Callable[[], None] | None = None, at_once: int | None = None
) -> int:
    """Plays for the arena that the environment names.

    Args:
        bot_class: what plays.
        usage: what to say where the environment names no arena; by default for a bot in Python.
        leaving: what a bot that the arena started does first on Ctrl-C and SIGTERM, within the signal's handler.
        at_once: games at once that the bot can play; None for any number.

    Returns:
        The exit code.
    """
    given = os.environ
    remote = not given.get("ARENA_ADDRESS")
    if remote and not given.get("ARENA_SERVER"):
        sys.stderr.write(usage or USAGE.format(file=sys.argv[0]))
        return MISTAKE
    mistake = _mistake(given, "ARENA_SERVER" if remote else "ARENA_ADDRESS", at_once)
    if mistake:
        sys.stderr.write(f"arena_sdk: {mistake}\n")
        return MISTAKE
    _leave_on_signals(leaving)
    sys.stdout, sys.stderr = _harmless(sys.stdout), _harmless(sys.stderr)
    # A bot may start processes of its own: gRPC's fork handlers would warn or hang there. Its failures are told by us.
    given.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    given.setdefault("GRPC_VERBOSITY", "NONE")

    from arena_sdk.author import Author  # noqa: PLC0415 - imports protobuf
    from arena_sdk.session import PATIENCE_S, Session  # noqa: PLC0415 - imports grpc, which reads the environment

    session = Session(
        bot_class,
        given["ARENA_SERVER" if remote else "ARENA_ADDRESS"],
        given["ARENA_TOKEN"],
        name=given.get("ARENA_BOT", "" if remote else bot_class.name),
        bot_version=given.get("ARENA_VERSION", "" if remote else bot_class.version),
        games_at_once=int(given.get("ARENA_GAMES_AT_ONCE") or "1"),
        patience=REMOTE_PATIENCE_S if remote else PATIENCE_S,
        roots=roots(given) if remote else None,
        most_games=int(given["ARENA_GAMES"]) if given.get("ARENA_GAMES") else None,
        options=json.loads(given.get("ARENA_OPTIONS") or "{}"),
        named_by="ARENA_SERVER" if remote else "ARENA_ADDRESS",
        author=Author(given.get("ARENA_TELL", "")) if remote else None,
    )
    if remote:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda _number, _frame: session.leave())
    return session.run()


def roots(given: Mapping[str, str]) -> bytes | None:
    """Certificates for TLS with a standing server; empty: gRPC's own; None: plain, on this machine or as said."""
    import ssl  # noqa: PLC0415 - a launched bot needs none

    if given.get("ARENA_CA"):
        return Path(given["ARENA_CA"]).read_bytes()
    host = given["ARENA_SERVER"].rpartition(":")[0].strip("[]")
    if given.get("ARENA_INSECURE") or host in ("localhost", "::1") or host.startswith(("127.", "unix")):
        return None
    system = ssl.get_default_verify_paths().cafile
    return Path(system).read_bytes() if system else b""


def _mistake(given: Mapping[str, str], name: str, at_once: int | None) -> str:
    address, games = given[name], given.get("ARENA_GAMES_AT_ONCE") or "1"
    if ":" not in address:
        return f"{name} is no address: {address!r} - write unix:/path/of/socket or host:port"
    if given.get("ARENA_CA") and not Path(given["ARENA_CA"]).is_file():
        return f"ARENA_CA is no file: {given['ARENA_CA']!r} - name one with the certificates of who vouches, as PEM"
    token = given.get("ARENA_TOKEN", "")
    if not token or not token.isascii() or not token.isprintable():
        return "ARENA_TOKEN is missing or no token - set it to the token that the arena gave for this bot"
    for number in ("ARENA_GAMES_AT_ONCE", "ARENA_GAMES"):
        value = given.get(number) or "1"
        if not value.isascii() or not value.isdigit() or int(value) < 1:
            return f"{number} is no number of games: {value!r} - write a whole number from 1"
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
