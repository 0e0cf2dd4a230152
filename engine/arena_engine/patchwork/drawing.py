"""Positions as pictures: text for a terminal, SVG for a page. Pure functions."""

from __future__ import annotations

from colorsys import hls_to_rgb
from itertools import zip_longest

from arena_engine.patchwork.notation import SEATS
from arena_engine.patchwork.patches import LETTERS, PATCHES
from arena_engine.patchwork.quilt import CELLS, SIDE
from arena_engine.patchwork.state import State
from arena_engine.patchwork.track import FINAL, INCOME_SPACES, LEATHER_SPACES

_LEATHER = (150, 100, 60)
_EMPTY = (246, 243, 236)
_HALF = 40  # columns for each player


def cells_of(state: State, seat: str) -> str:
    """What covers each of a seat's 81 cells, row by row: a patch's letter, ``*``, or ``.`` for empty."""
    return state.player(seat).letters.to_bytes(CELLS, "little").decode().replace("\0", ".")


def symbols_of(state: State) -> str:
    """The track's spaces 0 to 53: ``$`` income, ``*`` leather still there, ``.`` nothing."""
    ahead = max(map(state.time, SEATS))
    leather = {space for space in LEATHER_SPACES[state.edition] if space > ahead}
    return "".join("*" if space in leather else "$" if space in INCOME_SPACES else "." for space in range(FINAL + 1))


def headline(state: State, seat: str) -> str:
    """What a seat is up to: ``to move``, ``places leather``, ``won``, or nothing."""
    if state.is_over:
        return "won" if state.outcome.ranks[SEATS.index(seat)] == 1 else "lost"
    if seat != state.seat_to_move:
        return ""
    return "places leather" if state.leather_due else "to move"


def _rgb(letter: str) -> tuple[int, int, int]:
    """A colour for each patch, neighbours in the alphabet far apart."""
    if letter not in PATCHES:
        return _LEATHER if letter == "*" else _EMPTY
    red, green, blue = hls_to_rgb(LETTERS.index(letter) * 0.381966 % 1, 0.72, 0.6)
    return round(red * 255), round(green * 255), round(blue * 255)


def colour_of(letter: str) -> str:
    """The same as ``#rrggbb``."""
    return "#{:02x}{:02x}{:02x}".format(*_rgb(letter))


# Text.


def draw_text(state: State, *, colour: bool = False) -> str:
    """The position for a terminal, at most 80 columns wide.

    Args:
        state: the position.
        colour: whether to paint the patches with ANSI escapes.

    Returns:
        Lines joined by newlines: both quilts with coordinates, the track with the tokens, the patches for sale.
    """
    quilts = [_quilt_lines(state, seat, colour=colour) for seat in SEATS]
    lines = [left + right for left, right in zip(*quilts, strict=True)]
    lines += ["", *_track_lines(state), "", *_market_lines(state, colour=colour)]
    return "\n".join(line.rstrip() for line in lines)


def _quilt_lines(state: State, seat: str, *, colour: bool) -> list[str]:
    cells = cells_of(state, seat)
    bonus = ", 7x7 tile" if state.bonus == seat else ""
    told = headline(state, seat)
    lines = [
        f"{seat}{told and ': ' + told}, {state.score(seat)} points{bonus}",
        f"{state.buttons(seat)} buttons, income {state.income(seat)}, time {state.time(seat)}",
        "   a b c d e f g h i",
    ]
    lines = [line.ljust(_HALF) for line in lines]
    for row in range(SIDE):
        shown = _paint(cells[row * SIDE : (row + 1) * SIDE], colour=colour)
        lines.append(f" {row + 1} {shown}".ljust(_HALF + len(shown) - 2 * SIDE))
    return lines


def _paint(cells: str, *, colour: bool) -> str:
    """Two columns for each cell."""
    if not colour:
        return "".join(f"{cell} " for cell in cells)
    return "".join(
        f"\x1b[30;48;2;{';'.join(map(str, _rgb(cell)))}m{cell} \x1b[0m" if cell not in ". " else f"{cell} "
        for cell in cells
    )


def _track_lines(state: State) -> list[str]:
    tokens = ["".join(seat if space == state.time(seat) else " " for space in range(FINAL + 1)) for seat in SEATS]
    return [f"time {tokens[0]}", f"     {symbols_of(state)}  $ income * leather", f"     {tokens[1]}"]


def _market_lines(state: State, *, colour: bool) -> list[str]:
    if not state.circle:
        return ["no patches left"]
    columns = []
    for letter in state.offered:
        patch = PATCHES[letter]
        rows = [row.replace("#", letter).replace(".", " ") for row in patch.orientations[0].rows]
        head = f"{letter} cost {patch.cost} time {patch.time} income {patch.income}"
        shown = [(_paint(row, colour=colour), 2 * len(row)) for row in rows]
        columns.append([(head, len(head)), *shown])
    lines = [
        "".join(text + " " * (_HALF * 2 // 3 - width) for text, width in line)
        for line in zip_longest(*columns, fillvalue=("", 0))
    ]
    return [f"for sale, then {state.circle[len(state.offered) :] or 'none'}:", *lines]


# SVG.

_CELL = 32
_BOARD = SIDE * _CELL
_MARGIN = 36
_STEP = 12
_WIDTH = 2 * _BOARD + 4 * _MARGIN
_HEIGHT = 640


def draw_svg(state: State) -> str:
    """The position as one self-contained SVG element: both quilts, the track, the patches for sale."""
    parts = [_quilt_svg(state, seat, _MARGIN + index * (_BOARD + 2 * _MARGIN), 76) for index, seat in enumerate(SEATS)]
    parts += [_track_svg(state, _MARGIN, 420), _market_svg(state, _MARGIN, 480)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
        ' font-family="sans-serif" font-size="14" fill="#333">'
        f'<title>{state.text}</title><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>'
    )


def _quilt_svg(state: State, seat: str, left: int, top: int) -> str:
    cells = cells_of(state, seat)
    told = headline(state, seat)
    bonus = " · 7×7 tile" if state.bonus == seat else ""  # noqa: RUF001 - a sign for people
    purse = f"{state.buttons(seat)} buttons · income {state.income(seat)} · time {state.time(seat)}"
    head = _text(0, -48, f"{seat}{told and ' · ' + told} · {state.score(seat)} points{bonus}", 'font-weight="bold"')
    names = "".join(
        _text(_CELL * index + _CELL // 2, -8, column, 'text-anchor="middle" font-size="11"')
        + _text(-12, _CELL * index + 20, str(index + 1), 'text-anchor="middle" font-size="11"')
        for index, column in enumerate("abcdefghi")
    )
    board = f"{head}{_text(0, -28, purse)}{names}{_shape_svg(cells, SIDE, _CELL)}"
    return f'<g transform="translate({left} {top})">{board}</g>'


def _shape_svg(cells: str, width: int, size: int) -> str:
    """Cells as squares, a dark line wherever the patch changes, each patch named once; spaces are left out."""
    squares, named = [], ["."]
    for place, cell in enumerate(cells):
        if cell == " ":
            continue
        x, y = place % width * size, place // width * size
        fill = colour_of(cell)
        squares.append(f'<rect x="{x}" y="{y}" width="{size}" height="{size}" fill="{fill}" stroke="{fill}"/>')
        if cell not in named:
            named.append(cell)
            squares.append(_text(x + size // 2, y + size * 2 // 3, cell, 'text-anchor="middle"'))
    edge = _edges(cells, width, size)
    return f'{"".join(squares)}<path d="{edge}" stroke="#555" stroke-width="1.5" fill="none" stroke-linecap="square"/>'


def _edges(cells: str, width: int, size: int) -> str:
    """The path between cells of different patches, the border included."""
    height = len(cells) // width

    def at(row: int, column: int) -> str:
        return cells[row * width + column] if 0 <= row < height and 0 <= column < width else " "

    lines = []
    for row in range(height + 1):
        for column in range(width + 1):
            here = at(row, column)
            if here != at(row - 1, column) or here == "*" == at(row - 1, column):
                lines.append(f"M{column * size} {row * size}h{size}")
            if here != at(row, column - 1) or here == "*" == at(row, column - 1):
                lines.append(f"M{column * size} {row * size}v{size}")
    return "".join(lines)


def _track_svg(state: State, left: int, top: int) -> str:
    colours = {"$": "#7aa6d8", "*": "#96643c", ".": "#e6e2d8"}
    spaces = "".join(
        f'<rect x="{space * _STEP}" width="{_STEP - 1}" height="14" fill="{colours[symbol]}"/>'
        for space, symbol in enumerate(symbols_of(state))
    )
    tokens = "".join(
        _text(state.time(seat) * _STEP + _STEP // 2, y, seat, 'text-anchor="middle" font-weight="bold"')
        for seat, y in zip(SEATS, (-4, 27), strict=True)
    )
    legend = _text((FINAL + 1) * _STEP, 46, "blue income · brown leather", 'text-anchor="end" font-size="11"')
    return f'<g transform="translate({left} {top})">{spaces}{tokens}{legend}</g>'


def _market_svg(state: State, left: int, top: int) -> str:
    parts = [
        _text(
            0,
            4,
            f"for sale, then {state.circle[len(state.offered) :] or 'none'}" if state.circle else "no patches left",
        )
    ]
    for slot, letter in enumerate(state.offered):
        patch = PATCHES[letter]
        rows = patch.orientations[0].rows
        cells = "".join(rows).replace("#", letter).replace(".", " ")
        told = _text(0, 0, f"{letter}: cost {patch.cost} · time {patch.time} · income {patch.income}")
        shape = f'<g transform="translate(0 10)">{_shape_svg(cells, len(rows[0]), 22)}</g>'
        parts.append(f'<g transform="translate({slot * 228} 32)">{told}{shape}</g>')
    return f'<g transform="translate({left} {top})">{"".join(parts)}</g>'


def _text(x: int, y: int, text: str, style: str = "") -> str:
    return f'<text x="{x}" y="{y}" {style}>{text}</text>'
