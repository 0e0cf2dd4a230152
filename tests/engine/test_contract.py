"""Both games offer what ``arena_engine.game`` asks for."""

from __future__ import annotations

import random
from typing import Any

import pytest
import tiny_game

from arena_engine.game import (
    DealError,
    Game,
    GameError,
    GameOverError,
    IllegalMoveError,
    MoveSyntaxError,
    Outcome,
    PositionError,
    State,
    UnknownGameError,
    find,
    format_ply,
    parse_ply,
)
from arena_engine.patchwork import GAME
from arena_engine.patchwork import State as Position

GAMES: list[Game] = [GAME, tiny_game.GAME]
STATES: list[type[State]] = [Position, tiny_game.TinyState]


def shuffle(items: Any) -> list[str]:
    return random.Random(1).sample(list(items), len(items))


def start(game: Game) -> State:
    return game.start(game.deal(game.options({}), game.max_seats, shuffle), game.max_seats)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
class TestEveryGame:
    def test_is_found_by_its_name(self, game: Game) -> None:
        assert find(game.name) is game
        assert isinstance(game, Game)

    def test_plays_to_an_outcome(self, game: Game) -> None:
        state = start(game)
        seats = "abcdef"[: game.max_seats]
        source = random.Random(5)
        while state.to_move:
            assert not state.is_over
            moves = {seat: source.choice(state.legal_moves(seat)) for seat in state.to_move}
            assert parse_ply(state, format_ply(moves)) == moves
            assert game.state(state.text) == state
            state = state.play(moves)
        assert state.is_over
        assert len(state.outcome.ranks) == len(seats)
        assert state.outcome.scores == state.scores()
        assert min(state.outcome.ranks) == 1
        assert game.may_draw or len(set(state.outcome.ranks)) == len(seats)
        with pytest.raises(GameOverError):
            state.play(moves)

    def test_refuses_what_it_does_not_know(self, game: Game) -> None:
        with pytest.raises(DealError):
            game.options({"colour": "red"})
        with pytest.raises(DealError):
            game.start({}, game.max_seats)
        with pytest.raises(PositionError):
            game.state("nonsense")
        with pytest.raises(MoveSyntaxError):
            start(game).parse_move("nonsense", "a")
        with pytest.raises(MoveSyntaxError, match="a ply here is"):
            parse_ply(start(game), "a")
        with pytest.raises(IllegalMoveError):
            start(game).play({})

    def test_a_forfeit_ranks_the_failing_seats_last(self, game: Game) -> None:
        state = start(game)
        seats = game.max_seats
        assert game.forfeit(state, ["a"]) == Outcome((seats, *[1] * (seats - 1)), state.scores())
        everybody = list("abcdef"[:seats])
        assert game.forfeit(state, everybody).ranks == (1,) * seats
        with pytest.raises(GameError):
            game.forfeit(state, ["z"])


def test_an_unknown_game() -> None:
    with pytest.raises(UnknownGameError, match="known: patchwork, tiny"):
        find("chess")


def test_patchwork_deals() -> None:
    assert GAME.options({}) == {"edition": "original"}
    with pytest.raises(DealError, match="known: original, revised"):
        GAME.options({"edition": "orignal"})
    with pytest.raises(DealError, match="known: edition"):
        GAME.options({"editon": "original"})
    deal = GAME.deal({"edition": "revised"}, 2, shuffle)
    assert sorted(deal) == ["circle", "edition"]
    assert GAME.start(deal, 2).circle == deal["circle"]
    for circle, why in [
        (deal["circle"][::-1], "A is last"),
        (deal["circle"][1:], "each of the 33 patches once"),
        (deal["circle"] + "x", "'x' is no patch"),
        ("", "each of the 33"),
    ]:
        with pytest.raises(DealError, match=why):
            GAME.start({**deal, "circle": circle}, 2)
    for wrong in ({"edition": "original"}, {**deal, "seed": "1"}):
        with pytest.raises(DealError):
            GAME.start(wrong, 2)
    for seats in (1, 3):
        with pytest.raises(DealError, match="played by 2"):
            GAME.start(deal, seats)


def test_a_new_position() -> None:
    assert Position.new(random=random.Random(3)) == Position.new(random=random.Random(3))
    assert Position.new().circle != Position.new().circle
    assert Position.new(edition="revised").text.endswith(" a - revised")
