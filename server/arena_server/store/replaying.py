"""A recorded attempt played once more by the engine."""

from __future__ import annotations

from itertools import groupby

from arena_engine.game import Game, State
from arena_server.model import Ending, Failure, Result


def check(game: Game, result: Result) -> None:
    """Raises ValueError where the moves are illegal or lead to another end than the recorded one."""
    planned = result.assignment.planned
    state = game.start(planned.deal, len(planned.seats))
    for expected, (ply, played) in enumerate(groupby(result.moves, key=lambda move: move.ply)):
        if ply != expected:
            raise ValueError(f"ply {ply} is recorded where ply {expected} should follow")
        state = state.play({move.seat: state.parse_move(move.move, move.seat) for move in played})
    if state.text != result.position:
        raise ValueError(f"the moves lead to {state.text!r}, recorded is {result.position!r}")
    _check_ending(game, state, result)


def _check_ending(game: Game, state: State, result: Result) -> None:
    if result.ending is Ending.VOID:
        agrees, outcome = not result.failures, None
    elif result.ending is Ending.NORMAL:
        agrees, outcome = not result.failures and state.is_over, state.outcome
    else:
        agrees = any(failure.ending is result.ending for failure in result.failures)
        outcome = game.forfeit(state, result.blamed)
    if not agrees:
        raise ValueError(f"ending {result.ending} does not agree with the position and the blame")
    if result.outcome != outcome:
        raise ValueError(f"outcome {result.outcome} is recorded, it should be {outcome}")
    for failure in result.failures:
        _check_failure(state, failure)


def _check_failure(state: State, failure: Failure) -> None:
    """An illegal move must be one, in the position named."""
    if failure.position not in ("", state.text):
        raise ValueError(f"seat {failure.seat} failed in {failure.position!r}, the game had come to {state.text!r}")
    if failure.ending is not Ending.ILLEGAL_MOVE or failure.reply is None:
        return
    try:
        state.parse_move(failure.reply, failure.seat)
    except ValueError:
        return
    raise ValueError(f"{failure.reply!r} of seat {failure.seat} is legal in {state.text!r}")
