"""Text for a terminal: what came from bots or files must not act on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena_server.model import Entrant

_TAB = " " * 4


def clean(text: str) -> str:
    r"""One harmless line: every character that does not print (control, bidi, newline) is shown as ``\x1b``."""
    return "".join(_shown(character) for character in text)


def clean_lines(text: str) -> list[str]:
    """The lines of a longer text, each harmless; tabs become spaces."""
    return [clean(line.replace("\t", _TAB)) for line in text.replace("\r\n", "\n").rstrip("\n").split("\n")]


def labels(entrants: Sequence[Entrant]) -> list[str]:
    """Name and version of each; where two are called the same, also what tells them apart: options, or the digest."""
    return [_label(entrant, [other for other in entrants if other is not entrant]) for entrant in entrants]


def _label(entrant: Entrant, others: Sequence[Entrant]) -> str:
    namesakes = [other for other in others if other.label.casefold() == entrant.label.casefold()]
    if not namesakes:
        return entrant.label
    told = [
        f"{name}={value}"
        for name, value in entrant.options
        if any(dict(other.options).get(name) != value for other in namesakes)
    ]
    if any(other.options == entrant.options for other in namesakes):
        told.append(entrant.digest[:8])
    return f"{entrant.label}:{','.join(told)}" if told else entrant.label


def _shown(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
