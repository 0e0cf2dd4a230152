"""`arena replay`: a game position by position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_engine.game import SEATS
from arena_server.cli.options import AsJson, Ca, Db, Insecure, Server
from arena_server.text import clean, clean_lines

if TYPE_CHECKING:
    from arena_engine.game import State
    from arena_engine.record import GameRecord
    from arena_server.author.asking import Answer

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


def replay(  # noqa: PLR0913 - each option is one of the reader's choices
    game: Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP)],
    *,
    at: Annotated[int | None, typer.Option("--at", metavar="N", help="Only the position after N plies.")] = None,
    bot: Annotated[str | None, typer.Option(metavar="BOT", help="With --at: ask this bot for its move there.")] = None,
    seat: Annotated[str | None, typer.Option(metavar="LETTER", help="With --bot: at this seat.")] = None,
    server: Server = None,
    ca: Ca = None,
    insecure: Insecure = False,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Show a game position by position, or ask a bot for its move in one of them."""
    from arena_server.cli.output import reader, show_json
    from arena_server.cli.sources import read_game

    record = read_game(game, reader(db, server, ca, insecure=insecure, quiet=as_json))
    chosen = steps(record) if at is None else [step_at(record, at)]
    if bot is not None or seat is not None:
        _ask(record, at, bot, seat, as_json=as_json)
        return
    if as_json:
        show_json({"id": record.id, "positions": [step_dict(step) for step in chosen]})
        return
    print(title(record))
    for step in chosen:
        print("\n" + step_text(step))
    if at is None:
        print("\n" + ending(record))


def _ask(record: GameRecord, at: int | None, text: str | None, seat: str | None, *, as_json: bool) -> None:
    from arena_server.author.asking import ask
    from arena_server.cli.output import show_json
    from arena_server.launching.bots import resolve
    from arena_server.model import UserError

    if at is None or text is None:
        raise UserError("in which position, and which bot?", record.id, "give --at N and --bot BOT")
    bot = resolve(text)
    step = step_at(record, at)
    answer = ask(record, at, seat, bot)
    if as_json:
        show_json({"id": record.id, "bot": bot.label, **step_dict(step), "answer": asdict(answer)})
        return
    print(title(record))
    print("\n" + step_text(step) + "\n")
    print("\n".join(answer_lines(bot.label, answer)))


def answer_lines(label: str, answer: Answer) -> Iterator[str]:
    """What a bot did when it was asked."""
    yield clean(f"{label} is asked at seat {answer.seat}" + ("" if answer.seeded else ", with a seed of its own"))
    took = f" after {answer.seconds:.3f} s" if answer.seconds else ""
    if answer.move is not None:
        judged = f"the rules refuse it: {answer.objection}" if answer.objection else "legal"
        yield clean(f"answer: {answer.move!r}{took}, {answer.own_seconds:.3f} s by its own measure; {judged}")
    else:
        yield f"no answer{took}:"
        yield from ("  " + line for line in clean_lines(answer.failure))
    if answer.exit:
        yield f"its process: {answer.exit}"
    for what, text in (("log", "\n".join(answer.log)), ("standard error", answer.stderr)):
        if text:
            yield from (f"{what}:", *("  " + line for line in clean_lines(text)))


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
