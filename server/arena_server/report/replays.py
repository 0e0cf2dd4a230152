"""Games as a page replays them: every position drawn beforehand, packed tightly."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from typing import Any

from arena_engine.game import Game, GameError, State, find
from arena_engine.picture import Board, Pictured
from arena_engine.record import GameRecord, replay
from arena_server.text import clean


def looks(game: Game) -> dict[str, Any]:
    """Symbols to colour and whether neighbours are one piece; empty where the game has no pictures."""
    if not isinstance(game, Pictured):
        return {}
    return {symbol: [look.colour, look.joined] for symbol, look in game.looks.items()}


def pack(record: GameRecord) -> str:
    """A game for the page: JSON, deflated, in base64."""
    text = json.dumps(_replay(record), separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _replay(record: GameRecord) -> dict[str, Any]:
    """Steps of moves and a position: rows of indices into the boards, or a text."""
    boards: dict[Board, int] = {}
    steps: list[dict[str, Any]] = []
    trouble = ""
    game = find(record.game)
    try:
        for moves, state in _positions(record):
            steps.append({"moves": moves, "at": _at(game, state, boards)})
    except GameError as error:  # a record that the rules refuse is shown as far as it goes
        trouble = clean(str(error))
    return {"steps": steps, "boards": [_board(board) for board in boards], "trouble": trouble}


def _positions(record: GameRecord) -> Iterator[tuple[list[tuple[str, str, float]], State]]:
    taken = 0
    for _, moves, state in replay(record):
        until = taken + len(moves)
        played = zip(record.movers[taken:until], record.moves[taken:until], record.times[taken:until], strict=True)
        yield [(seat, clean(move), seconds) for seat, move, seconds in played], state
        taken = until


def _at(game: Game, state: State, boards: dict[Board, int]) -> list[list[int]] | str:
    if not isinstance(game, Pictured):
        return state.text
    return [[boards.setdefault(board, len(boards)) for board in row] for row in game.picture(state)]


def _board(board: Board) -> dict[str, Any]:
    """Without what is empty."""
    parts = {
        "cells": board.cells,
        "width": board.width,
        "title": board.title,
        "note": board.note,
        "seat": board.seat,
        "columns": board.columns,
        "rows": board.rows,
        "marks": board.marks,
        "scale": board.scale,
    }
    return {key: part for key, part in parts.items() if part}
