"""`arena replay`: a game position by position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_engine.game import SEATS
from arena_server.cli.options import AsJson, Db
from arena_server.text import clean

if TYPE_CHECKING:
    from arena_engine.game import State
    from arena_engine.record import GameRecord

GAME_HELP = "An id (nightly/17), a unique beginning of it, a number, `last`, a record file, or `-`."


@dataclass(frozen=True, slots=True)
class Step:
    """A position and the ply that led to it.

    Attributes:
        ply: plies played.
        moves: seat, move, seconds; none before the first ply.
    """

    ply: int
    moves: Sequence[tuple[str, str, float]]
    state: State


def replay(
    game: Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP)],
    *,
    at: Annotated[int | None, typer.Option("--at", metavar="N", help="Only the position after N plies.")] = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Show a game position by position."""
    from arena_server.cli.output import show_json
    from arena_server.cli.sources import read_game

    record = read_game(game, db, quiet=as_json)
    chosen = steps(record) if at is None else [step_at(record, at)]
    if as_json:
        show_json({"id": record.id, "positions": [step_dict(step) for step in chosen]})
        return
    print(title(record))
    for step in chosen:
        print("\n" + step_text(step))
    if at is None:
        print("\n" + ending(record))


def steps(record: GameRecord) -> Iterator[Step]:
    """Every position of a game; raises GameError where its moves are none."""
    from arena_engine.record import replay as positions

    taken = 0
    for ply, moves, state in positions(record):
        until = taken + len(moves)
        played = zip(record.movers[taken:until], record.moves[taken:until], record.times[taken:until], strict=True)
        yield Step(ply, tuple(played), state)
        taken = until


def step_at(record: GameRecord, at: int) -> Step:
    """The position after so many plies; raises UserError where the game has no such one."""
    from arena_server.model import UserError

    last = 0
    for step in steps(record):
        if step.ply == at:
            return step
        last = step.ply
    raise UserError("no such position", f"--at {at}", f"the game has {last} plies: give 0 to {last}")


def title(record: GameRecord) -> str:
    """Which game this is."""
    players = ", ".join(f"{letter} {seat.label}" for letter, seat in zip(SEATS, record.seats, strict=False))
    return clean(f"game {record.id}: {record.game}, {players}")


def ending(record: GameRecord) -> str:
    """How it ended."""
    score = ":".join(map(str, record.score)) or "none"
    winner = f"{record.winner} wins" if record.winner else "no winner"
    why = record.termination.replace("_", " ")
    blame = f" by {', '.join(record.blamed)}" if record.blamed else ""
    reason = f": {record.failed.reason}" if record.failed and record.failed.reason else ""
    return clean(f"{winner}, score {score}, ended: {why}{blame}{reason}")


def step_text(step: Step) -> str:
    """The ply and the picture of the position after it."""
    from arena_server.cli.drawings import drawn

    moves = ", ".join(f"{seat} {move} ({seconds:.3f} s)" for seat, move, seconds in step.moves)
    picture, position = drawn(step.state), step.state.text
    lines = [f"ply {step.ply}: {moves or 'the deal'}", picture, *([position] if position != picture else [])]
    return "\n".join(lines)


def step_dict(step: Step) -> dict[str, Any]:
    """The JSON form."""
    return {
        "ply": step.ply,
        "moves": [{"seat": seat, "move": move, "seconds": seconds} for seat, move, seconds in step.moves],
        "to_move": list(step.state.to_move),
        "position": step.state.text,
    }
