"""The standings as people see them: the same columns in ``arena leaderboard`` and while a tournament runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from arena_server.cli.grids import Column, Grid
from arena_server.model import Ending

if TYPE_CHECKING:
    from arena_server.store import Standing


def standings_grid(standings: Sequence[Standing]) -> Grid:
    """Rank, bot, mu, sigma, mu - 3 sigma, W-L (or W-L-D), games, mean margin, failures by kind; best first."""
    draws = any(standing.draws for standing in standings)
    columns = (
        Column("#"),
        Column("bot", left=True),
        Column("mu", spare=2),
        Column("sigma", spare=2),
        Column("mu-3sigma"),
        Column("W-L-D" if draws else "W-L"),
        Column("games", spare=4),
        Column("margin", spare=3),
        Column("failures", left=True, wraps=True, spare=1),
    )
    return Grid(columns, _rows(standings, draws=draws))


def marked(label: str, *, withdrawn: bool, parked: bool = False) -> str:
    """``mcts 0.3 (withdrawn)``, ``mcts 0.3 (parked)``."""
    mark = "withdrawn" if withdrawn else "parked" if parked else ""
    return f"{label} ({mark})" if mark else label


def marked_bot(standing: Standing) -> str:
    """The label of a row, marked where it plays no more."""
    return marked(standing.label, withdrawn=standing.withdrawn, parked=standing.parked is not None)


def won_lost(standing: Standing, *, draws: bool) -> str:
    """``12-8``; where any game was drawn ``12-8-0``."""
    return f"{standing.wins}-{standing.losses}" + (f"-{standing.draws}" if draws else "")


def failures_text(failures: Mapping[Ending, int]) -> str:
    """``timeout 3, crash 1``; ``-`` for none."""
    return ", ".join(f"{kind.replace('_', ' ')} {number}" for kind, number in failures.items()) or "-"


def margin_text(margin: float | None) -> str:
    """``+12.3``; ``-`` for none."""
    return "-" if margin is None else f"{margin:+.1f}"


def moment(at: str | None) -> str:
    """A date and time of the database, UTC, as people write it; ``-`` for none."""
    return (at or "-")[: len("2026-11-30T12:00:00")].replace("T", " ")


def day(at: str) -> str:
    """The date of it."""
    return at[: len("2026-11-30")]


def _rows(standings: Sequence[Standing], *, draws: bool) -> Iterator[Sequence[str]]:
    for standing in standings:
        yield (
            str(standing.rank),
            marked_bot(standing),
            f"{standing.mu:.2f}",
            f"{standing.sigma:.2f}",
            f"{standing.rating.conservative:.2f}",
            won_lost(standing, draws=draws),
            str(standing.games),
            margin_text(standing.margin),
            failures_text(standing.failures),
        )
