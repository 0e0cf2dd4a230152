"""Positions as text (eight fields, see ``format_position``), and back with every reason for a refusal."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from arena_engine.game import PositionError
from arena_engine.patchwork.moves import BUYS
from arena_engine.patchwork.patches import LETTERS, PATCHES
from arena_engine.patchwork.player import Player
from arena_engine.patchwork.quilt import CELLS, FULL, SIDE, has_seven
from arena_engine.patchwork.track import EDITIONS, FINAL, LEATHER_PASSED

SEATS = "ab"
BONUS = "ab-"
"""Who owns the 7x7 tile, by index; ``BONUS[-1]`` is nobody."""

_RUNS = tuple(("\0" * length, str(length)) for length in range(SIDE, 0, -1))
_PURSE = re.compile(r"(0|[1-9][0-9]{0,2}),(0|[1-9][0-9]?)")


class Fields(NamedTuple):
    """A position taken apart; seats are the indices 0 and 1.

    Attributes:
        circle: the patches left, clockwise from the neutral token.
        mover: who moves; in a finished game who arrived last.
        due: whether the mover must place leather now.
        bonus: who owns the 7x7 tile, -1 for nobody.
    """

    circle: str
    players: tuple[Player, Player]
    mover: int
    due: bool
    bonus: int
    edition: str


@lru_cache(maxsize=4096)  # the other player's quilt stays as it is
def format_quilt(letters: int) -> str:
    """A quilt as text: rows from the top, a letter for each covered cell, a digit for a run of empty ones."""
    cells = letters.to_bytes(CELLS, "little").decode()
    return "/".join([_format_row(cells[start : start + SIDE]) for start in range(0, CELLS, SIDE)])


@lru_cache(maxsize=4096)  # rows seldom change, and the referee writes every position
def _format_row(cells: str) -> str:
    for run, digit in _RUNS:
        cells = cells.replace(run, digit)
    return cells


def format_position(fields: Fields) -> str:
    """``CIRCLE QUILT_A BUTTONS,TIME QUILT_B BUTTONS,TIME MOVER[*] BONUS EDITION``."""
    circle, (a, b), mover, due, bonus, edition = fields
    return (
        f"{circle or '-'} {format_quilt(a.letters)} {a.buttons},{a.time} {format_quilt(b.letters)} {b.buttons},{b.time}"
        f" {SEATS[mover]}{'*' if due else ''} {BONUS[bonus]} {edition}"
    )


def parse_position(text: str) -> Fields:
    """Takes a position apart; it need not be reachable. Raises PositionError with the reason."""
    try:
        return _parse(text)
    except _RefusedError as refused:
        raise PositionError(text, "", str(refused)) from None


class _RefusedError(Exception):
    """Why a text is no position."""


def _parse(text: str) -> Fields:
    words = text.split(" ")
    if len(words) != len(Fields._fields) + 2:
        raise _RefusedError(
            f"a position has eight fields separated by one space, this has {len(words)}:"
            " CIRCLE QUILT_A BUTTONS,TIME QUILT_B BUTTONS,TIME MOVER[*] BONUS EDITION"
        )
    circle, quilt_a, purse_a, quilt_b, purse_b, mover, bonus, edition = words
    circle = _circle(circle)
    players = (_player("a", quilt_a, purse_a), _player("b", quilt_b, purse_b))
    _check_letters(circle, quilt_a + quilt_b)
    if mover.removesuffix("*") not in tuple(SEATS):
        raise _RefusedError(f"the mover is a, b, a* or b*, not {mover!r}")
    if bonus not in tuple(BONUS):
        raise _RefusedError(f"the owner of the 7x7 tile is a, b or -, not {bonus!r}")
    if edition not in EDITIONS:
        raise _RefusedError(f"the edition is {' or '.join(EDITIONS)}, not {edition!r}")
    fields = Fields(circle, players, SEATS.index(mover[0]), mover.endswith("*"), "ab".find(bonus), edition)
    _check_turn(fields)
    _check_bonus(fields)
    _check_leather(fields)
    return fields


def _circle(word: str) -> str:
    if not word:
        raise _RefusedError("an empty circle is written -")
    circle = "" if word == "-" else word
    for letter in circle:
        if letter not in PATCHES:
            raise _RefusedError(f"{letter!r} in the circle is no patch: A-Z and a-g")
    return circle


def _player(seat: str, quilt: str, purse: str) -> Player:
    match = _PURSE.fullmatch(purse)
    if match is None or int(match[2]) > FINAL:
        raise _RefusedError(f"seat {seat} has buttons (0-999) and time (0-{FINAL}) like 5,0, not {purse!r}")
    cells = _cells(seat, quilt)
    covered: dict[str, int] = {}
    for cell, letter in enumerate(cells):
        if letter != "\0":
            covered[letter] = covered.get(letter, 0) | 1 << cell
    for letter, mask in covered.items():
        if letter != "*" and mask not in _shapes(letter):
            shape = "/".join(BUYS[letter][0][0].rows)
            raise _RefusedError(f"the {mask.bit_count()} cells {letter} of seat {seat} do not form that patch: {shape}")
    letters = int.from_bytes(cells.encode(), "little")
    income = sum(PATCHES[letter].income for letter in covered if letter != "*")
    return Player(sum(covered.values()), letters, int(match[1]), int(match[2]), income)


@cache
def _shapes(letter: str) -> set[int]:
    """All masks that a patch can cover."""
    return {move.cells for _, moves in BUYS[letter] for move in moves}


def _cells(seat: str, quilt: str) -> str:
    """The 81 cells of a quilt's text, NUL for empty."""
    cells = []
    for row in quilt.split("/"):
        for symbol in row:
            if symbol not in PATCHES and symbol not in "123456789*":
                raise _RefusedError(f"{symbol!r} in the quilt of seat {seat} is no patch, no * and no digit 1-9")
        if re.search("[1-9]{2}", row):
            raise _RefusedError(f"row {row!r} of seat {seat} splits a run of empty cells into two digits")
        cells.append(re.sub("[1-9]", lambda run: "\0" * int(run[0]), row))
        if len(cells[-1]) != SIDE:
            raise _RefusedError(f"row {row!r} of seat {seat} has {len(cells[-1])} cells, not {SIDE}")
    if len(cells) != SIDE:
        raise _RefusedError(f"the quilt of seat {seat} has {len(cells)} rows, not {SIDE}")
    return "".join(cells)


def _check_letters(circle: str, quilts: str) -> None:
    for letter in LETTERS:
        on_quilts = letter in quilts
        if circle.count(letter) + on_quilts != 1:
            where = f"{circle.count(letter)} times in the circle and {'' if on_quilts else 'not '}on a quilt"
            raise _RefusedError(f"patch {letter} must be in the circle or on one quilt, once; it is {where}")


def _check_turn(fields: Fields) -> None:
    mover, other = fields.players[fields.mover], fields.players[1 - fields.mover]
    seat = SEATS[fields.mover]
    passed = LEATHER_PASSED[fields.edition]
    if fields.due and passed[mover.time] == passed[other.time]:
        raise _RefusedError(f"seat {seat} owes no leather: its token crossed none before the other")
    if fields.due and mover.time < other.time:
        raise _RefusedError(f"seat {seat} owes no leather: the other token is ahead")
    if fields.due and mover.quilt == FULL:
        raise _RefusedError(f"seat {seat} owes no leather: its quilt is full")
    if not fields.due and mover.time > other.time:
        raise _RefusedError(f"seat {seat} is ahead in time, so the other one moves")


def _check_bonus(fields: Fields) -> None:
    full = [has_seven(player.quilt) for player in fields.players]
    if fields.bonus < 0 and any(full):
        raise _RefusedError(f"seat {SEATS[full.index(True)]} has a full 7x7, so the tile is not unowned")
    if fields.bonus >= 0 and not full[fields.bonus]:
        raise _RefusedError(f"seat {SEATS[fields.bonus]} has no full 7x7, so it does not own the tile")


def _check_leather(fields: Fields) -> None:
    a, b = fields.players
    placed = sum(player.letters.to_bytes(CELLS, "little").count(b"*") for player in fields.players) + fields.due
    crossed = LEATHER_PASSED[fields.edition][max(a.time, b.time)]
    if placed > crossed:
        raise _RefusedError(f"{placed} leather pieces are taken, but the tokens crossed only {crossed}")
