"""Text for terminals and pages: what came from bots or files must not act on them, and passwords are not told."""

from __future__ import annotations

import json
import re

_TAB = " " * 4
_PASSWORDS = re.compile(r"(://[^:/@\s]*:)[^@\s]*(?=@)|([?&][^=&\s]*(?:password|secret)=)[^&\s]*")


def clean(text: str) -> str:
    r"""One harmless line: every character that does not print (control, bidi, newline) is shown as ``\x1b``."""
    return "".join(_shown(character) for character in text)


def clean_lines(text: str) -> list[str]:
    """The lines of a longer text, each harmless; tabs become spaces."""
    return [clean(line.replace("\t", _TAB)) for line in text.replace("\r\n", "\n").rstrip("\n").split("\n")]


def printable(json_text: str) -> str:
    r"""JSON of the same value in which every character prints: ``\u009b`` instead of a terminal's control."""
    return "".join(symbol if symbol.isprintable() else json.dumps(symbol)[1:-1] for symbol in json_text)


def without_passwords(text: str) -> str:
    """The same with ``***`` for each password in a URL: before its host, or in its query."""
    return _PASSWORDS.sub(lambda found: f"{found[1] or found[2]}***", text)


def _shown(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
