"""The command line that goes on with a tournament that was interrupted."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence

from arena_server.cli.options import program


def command(name: str, given: Sequence[str] | None = None) -> str:
    """What the user typed, but a fresh start is not made once more.

    Args:
        name: of the tournament.
        given: the arguments, by default the program's own.
    """
    words = list(sys.argv[1:] if given is None else given)
    if "--new" in words:
        words = [*_without_name(word for word in words if word != "--new"), "--name", name]
    return shlex.join([program(), *words])


def _without_name(words: Iterable[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if word == "--name":
            next(rest, None)
        elif not word.startswith("--name="):
            yield word
