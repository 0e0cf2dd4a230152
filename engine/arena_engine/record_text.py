"""The text form of a game record as syntax alone: tags, then numbered plies with a clock comment behind each move."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from arena_engine.game import RecordError

WIDTH = 80
_GLUE = "\0"  # for a space at which no line may break

TimedMove = tuple[str, str, float]
"""Seat letter, move, seconds."""

_TAG = re.compile(r'\[([A-Za-z][A-Za-z_]*) ("(?:[^"\\]|\\.)*")\]')
_NUMBER = re.compile(r"[1-9][0-9]*\.")
_COMMENT = re.compile(r"(\S+)\s+(\S+)\s+\{\[%emt\s+([0-9]{1,9}\.[0-9]{1,9})\]\}(?:\s+|$)")
_SEAT = re.compile(r"[a-z]")


def write(tags: Mapping[str, str], plies: Sequence[Sequence[TimedMove]]) -> str:
    """The text: one tag a line, an empty line, the plies wrapped."""
    head = "".join(f"[{name} {_quote(value)}]\n" for name, value in tags.items())
    words = (f"{number}. {' '.join(map(_timed, ply))}" for number, ply in enumerate(plies, 1) if ply)
    glued = " ".join(word.replace(" ", _GLUE) for word in words)
    body = textwrap.fill(glued, WIDTH, break_long_words=False, break_on_hyphens=False).replace(_GLUE, " ")
    return f"{head}\n{body}\n" if body else head


def read(text: str) -> tuple[dict[str, str], list[TimedMove]]:
    """Tags and moves; raises RecordError with the line or ply at fault."""
    head, _, body = text.replace("\r\n", "\n").strip().partition("\n\n")
    return _read_tags(head), list(_read_moves(body))


def _quote(value: str) -> str:
    r"""In quotes, with ``\"``, ``\\`` and anything that does not print as ``\uXXXX``."""
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(symbol if symbol.isprintable() else json.dumps(symbol)[1:-1] for symbol in quoted)


def _timed(move: TimedMove) -> str:
    seat, name, seconds = move
    whole, _, digits = f"{seconds:.6f}".partition(".")
    return f"{seat} {name} {{[%emt {whole}.{digits[:3]}{digits[3:].rstrip('0')}]}}"


def _read_tags(head: str) -> dict[str, str]:
    tags: dict[str, str] = {}
    for line in head.split("\n"):
        match = _TAG.fullmatch(line.rstrip())
        if match is None:
            raise RecordError(line, "", 'a tag is a line like [Winner "a"]; an empty line ends the tags')
        if match[1] in tags:
            raise RecordError(line, "", f"tag {match[1]} is there twice")
        try:
            tags[match[1]] = json.loads(match[2])
        except ValueError as error:
            raise RecordError(
                line, "", f'escapes in a tag are those of JSON: \\", \\\\, \\n, \\u00e9: {error}'
            ) from None
    return tags


def _read_moves(body: str) -> Iterator[TimedMove]:
    """The moves; each ply begins with its number, counted from 1."""
    place = ply = 0
    while place < len(body):
        number = re.match(r"(\S+)\s+", body[place : place + 20])
        if number and _NUMBER.fullmatch(number[1]):
            ply += 1
            if number[1] != f"{ply}.":
                raise RecordError(number[1], "", f"ply {ply} should be numbered {ply}.")
            place += number.end()
        match = _COMMENT.match(body, place)
        if match is None or not _SEAT.fullmatch(match[1]) or not ply:
            shown = body[place : place + 40].split("\n", maxsplit=1)[0]
            raise RecordError(
                shown, "", f"after ply {ply}: a ply is its number, then seat, move and time: 1. a > {{[%emt 0.012]}}"
            )
        yield match[1], match[2], float(match[3])
        place = match.end()
