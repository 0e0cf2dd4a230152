"""The published vectors: every line of tests/golden."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from arena_engine.patchwork import GAME, State

GOLDEN = Path(__file__).parents[1] / "golden"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text("utf-8").splitlines()]


@pytest.mark.parametrize("game", lines("games.jsonl"), ids=lambda game: game.get("name", game["circle"][:8]))
def test_game(game: dict[str, Any]) -> None:
    state = GAME.start({"edition": game["edition"], "circle": game["circle"]}, 2)
    for ply in game["plies"]:
        legal = state.legal_moves()
        assert state.to_move == (ply["seat"],)
        assert len(legal) == ply["legal"]
        if "position" in ply:
            assert state.text == ply["position"]
            assert State.from_text(ply["position"]) == state
            assert hashlib.sha256("\n".join(sorted(map(str, legal))).encode()).hexdigest() == ply["legal_sha256"]
        state = state.play({ply["seat"]: state.parse_move(ply["move"], ply["seat"])})
    assert state.is_over
    assert state.text == game["position"]
    assert list(state.outcome.scores) == game["score"]
    assert state.outcome.ranks["ab".index(game["winner"])] == 1
    assert (state.bonus, state.first_home) == (game["bonus"], game["first_home"])


def perft(state: State, depth: int) -> int:
    if state.is_over:
        return 1
    moves = state.legal_moves()
    return len(moves) if depth == 1 else sum(perft(state.after_unchecked(move), depth - 1) for move in moves)


@pytest.mark.parametrize("line", lines("perft.jsonl"), ids=lambda line: line["position"][:8])
def test_perft(line: dict[str, Any]) -> None:
    state = GAME.state(line["position"])
    assert [perft(state, depth) for depth in range(1, len(line["perft"]) + 1)] == line["perft"]
