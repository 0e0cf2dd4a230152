"""One round by FIDE's Dutch system, as py4swiss pairs it. White is the first seat of the first game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena_server.model import ArenaError

WON, DRAWN, LOST = 2, 1, 0
"""Half points for a round."""
_POINTS_PER_HALF = 5  # the library counts tenths


@dataclass(frozen=True, slots=True)
class Result:
    """What a player has of one round.

    Attributes:
        opponent: None without one: a bye, or nothing of the meeting counts.
        white: whether it sat first.
        half_points: of the round.
    """

    half_points: int
    opponent: int | None = None
    white: bool = False


def pair(history: Sequence[Sequence[Result]], rounds: int) -> list[tuple[int, int]] | None:
    """The next round: (white, black) by index; who is left out has the bye.

    Args:
        history: by player, strongest seed first, what each has of every round so far.
        rounds: of the whole tournament.

    Returns:
        None where no round is left that repeats neither a pair nor a bye.

    Raises:
        ArenaError: the library is not installed.
    """
    try:
        from py4swiss.engines.common import PairingError  # noqa: PLC0415 - takes a third of a second
        from py4swiss.engines.dutch import Engine  # noqa: PLC0415 - likewise
    except ImportError:
        fix = "it has builds for Linux and Windows on x86-64 and macOS on arm64: pip install py4swiss==0.3.1"
        raise ArenaError("a Swiss needs py4swiss, which is not installed", "", fix) from None
    try:
        pairs = Engine.generate_pairings(_report(history, rounds))
    except PairingError:
        return None
    return [(pair.white - 1, pair.black - 1) for pair in pairs if pair.black]


def _report(history: Sequence[Sequence[Result]], rounds: int) -> Any:
    """The tournament so far in the library's form."""
    from py4swiss.trf import ParsedTrf  # noqa: PLC0415 - as above
    from py4swiss.trf.codes import PlayerCode  # noqa: PLC0415 - likewise
    from py4swiss.trf.sections import PlayerSection, XSection  # noqa: PLC0415 - likewise

    players = [
        PlayerSection(
            code=PlayerCode.PLAYER,
            starting_number=number,
            rank=number,
            points_times_ten=_POINTS_PER_HALF * sum(result.half_points for result in results),
            results=[_round(result) for result in results],
        )
        for number, results in enumerate(history, 1)
    ]
    return ParsedTrf(player_sections=players, x_section=XSection(number_of_rounds=rounds))


def _round(result: Result) -> Any:
    from py4swiss.trf.results import ColorToken, ResultToken, RoundResult  # noqa: PLC0415 - as above

    if result.opponent is None:
        token = ResultToken.PAIRING_ALLOCATED_BYE if result.half_points else ResultToken.ZERO_POINT_BYE
        return RoundResult(id=0, color=ColorToken.BYE_OR_NOT_PAIRED, result=token)
    token = (ResultToken.LOSS, ResultToken.DRAW, ResultToken.WIN)[result.half_points]
    color = ColorToken.WHITE if result.white else ColorToken.BLACK
    return RoundResult(id=result.opponent + 1, color=color, result=token)
