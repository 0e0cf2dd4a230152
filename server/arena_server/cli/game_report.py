"""One game in full: who sat where, how it ended, the evidence, the times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from arena_engine.game import GameError, find
from arena_engine.record import GameRecord
from arena_server.cli.drawings import drawn
from arena_server.cli.grids import Column, Grid
from arena_server.model import Failure, Result
from arena_server.report.evidence import box_lines, time_lines
from arena_server.text import clean, clean_lines

_INDENT = "  "


def report_dict(
    record: GameRecord, result: Result, where: Sequence[str] = (), *, listed: bool = True
) -> dict[str, Any]:
    """The record's JSON form, and beside it every failure and every ply with its evidence.

    Args:
        record: of the game.
        result: what the record leaves out.
        where: options that make commands look where it is.
        listed: whether commands find it by its id.
    """
    return {
        **record.as_dict(),
        "reason": result.reason,
        "stalled_us": result.stalled_us,
        "position": result.position,
        "failures": [
            {**asdict(failure), "command": failure.command(record.id, *where) if listed else ""}
            for failure in result.failures
        ],
        "plies": [move._asdict() for move in result.moves],
    }


def report_text(record: GameRecord, result: Result, where: Sequence[str] = (), *, listed: bool = True) -> str:
    """For a person; arguments as those of ``report_dict``."""
    parts = [_head(record, result)]
    for failure in result.failures:
        told = _failure(record, result, failure)
        if failure.position and listed:
            told.append(clean(f"see it again: {failure.command(record.id, *where)}"))
        parts.append(told)
    if result.moves:
        parts.append(_times(result).lines())
    return "\n\n".join("\n".join(part) for part in parts)


def _head(record: GameRecord, result: Result) -> list[str]:
    deal = [clean(f"{key} {value}") for key, value in record.deal.items()]
    return [
        clean(f"game {record.id}: {record.game}, {record.time_control}, {record.date}, {record.seconds:.3f} s"),
        *deal,
        "",
        *_seats(result).lines(),
        "",
        f"ended: {_ending(result)}",
    ]


def _ending(result: Result) -> str:
    ending = result.ending.replace("_", " ")
    plies = f"after ply {result.moves[-1].ply + 1}" if result.moves else "before the first ply was played"
    stalls = f", {result.stalled_us / 1e6:.3f} s of stalls of our own" if result.stalled_us else ""
    return clean(f"{ending} {plies}{stalls}" + (f": {result.reason}" if result.reason else ""))


def _seats(result: Result) -> Grid:
    count = len(result.assignment.planned.seats)
    scores, ranks = ("-",) * count, ("-",) * count
    if result.outcome is not None:
        scores, ranks = tuple(map(str, result.outcome.scores)), tuple(map(str, result.outcome.ranks))
    labels = result.assignment.labels
    columns = (Column("seat", left=True), Column("bot", left=True), Column("score"), Column("rank"))
    return Grid(columns, zip(result.assignment.planned.letters, labels, scores, ranks, strict=True))


def _failure(record: GameRecord, result: Result, failure: Failure) -> list[str]:
    what = f"{failure.ending.replace('_', ' ')} at ply {failure.ply + 1}"
    told = [
        f"seat {failure.seat}: {what}, {failure.charged_us / 1e6:.3f} s after it was asked",
        clean(f"reason: {failure.reason}"),
        *time_lines(result, failure),
    ]
    if failure.reply is not None:
        told.append(f"reply: {failure.reply!r}")
    if failure.evidence:
        told += ["evidence:", *(_INDENT + line for line in clean_lines(failure.evidence))]
    told += box_lines(failure)
    if failure.position:
        told += [clean(f"position: {failure.position}"), *_drawing(record, failure.position)]
    return told


def _drawing(record: GameRecord, position: str) -> list[str]:
    """Nothing where the game cannot read the position."""
    try:
        state = find(record.game).state(position)
    except GameError:
        return []
    return [_INDENT + line if line else "" for line in drawn(state).split("\n")]


def _times(result: Result) -> Grid:
    columns = (
        Column("seat", left=True),
        *map(Column, ("moves", "total ms", "mean ms", "longest ms", "own ms", "credit ms")),
    )
    return Grid(columns, _time_rows(result))


def _time_rows(result: Result) -> Iterator[Sequence[str]]:
    for letter in result.assignment.planned.letters:
        moves = [move for move in result.moves if move.seat == letter]
        charged = [move.charged_us for move in moves]
        if moves:
            mean, own, credit = sum(charged) / len(moves), sum(m.own_us for m in moves), sum(m.credit_us for m in moves)
            yield (
                letter,
                str(len(moves)),
                *(f"{us / 1e3:.1f}" for us in (sum(charged), mean, max(charged), own, credit)),
            )
