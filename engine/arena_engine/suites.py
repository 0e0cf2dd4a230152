"""Suites: listed deals that a tournament plays instead of shuffled ones, for any game.

A suite is a text with a deal a line, as the game writes them; ``#`` begins a comment, empty lines count for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Protocol, runtime_checkable

from arena_engine.game import DealError, Game, State

Deal = Mapping[str, str]

_LOOKS = 8
"""A deal is looked at so often while its games are played: most are given up early."""
_DOUBT = 2.0
"""Standard errors that a share may be off before a deal is given up early."""


def read(text: str, game: Game, options: Mapping[str, str], seats: int) -> tuple[dict[str, str], ...]:
    """The deals of a suite, in order.

    Args:
        text: of the suite.
        game: whose deals.
        options: as ``game.options`` completes them.
        seats: of a game.

    Raises:
        DealError: a line is no deal of the game or one listed before (the reason names the lines), or there is none.
    """
    found: dict[str, tuple[int, dict[str, str]]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        written = line.partition("#")[0].strip()
        if not written:
            continue
        try:
            deal = game.read_deal(written, options)
            game.start(deal, seats)
        except DealError as error:
            raise DealError(error.value, "", f"line {number}: {error.why}") from None
        before, _ = found.setdefault(repr(sorted(deal.items())), (number, deal))
        if before != number:
            raise DealError(written, "", f"line {number}: the same deal as line {before}")
    if not found:
        raise DealError("", "", "a suite without a deal")
    return tuple(deal for _, deal in found.values())


@runtime_checkable
class SelfPlay(Protocol):
    """A game that plays itself, well and quickly enough to show which seat a deal favours."""

    def self_play(self, state: State, random: Random, effort: int) -> State:
        """The last position of a game from there.

        Args:
            state: where it begins.
            random: all else follows from it.
            effort: how hard each move is thought about; in Patchwork so many playouts.
        """


@dataclass(frozen=True, slots=True)
class Screening:
    """How a deal is screened.

    Attributes:
        games: of self-play, where the deal is not given up early.
        window: how far the share of games that a seat wins may be from an equal one.
        effort: of each move, see ``SelfPlay``.
    """

    games: int = 96
    window: float = 0.08
    effort: int = 400

    def passes(self, shares: Sequence[float], games: int) -> bool:
        """Whether a deal is still in, its seats having won so much of so many games."""
        equal = 1 / len(shares)
        doubt = _DOUBT * sqrt(equal * (1 - equal) / games) if games < self.games else 0.0
        return all(abs(share - equal) <= self.window + doubt for share in shares)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A deal that was screened.

    Attributes:
        shares: what share of the self-played games each seat won, a shared win in parts; None where it was given up
            because a seat wins by the deal alone.
    """

    deal: Deal
    shares: tuple[float, ...] | None


def candidate(game: Game, options: Mapping[str, str], seats: int, screening: Screening, seed: str) -> Candidate:
    """A shuffled deal, screened; all of it follows from the seed.

    Raises:
        DealError: the game does not play itself.
    """
    if not isinstance(game, SelfPlay):
        raise DealError(game.name, "", "this game does not play itself, so its deals cannot be screened")
    random = Random(seed)  # noqa: S311 - not for secrets
    deal = game.deal(options, seats, lambda items: random.sample(items, len(items)))
    return Candidate(deal, _shares(game, game.start(deal, seats), seats, screening, random))


def _shares(game: SelfPlay, start: State, seats: int, screening: Screening, random: Random) -> tuple[float, ...] | None:
    won = [0.0] * seats
    looks = {round(screening.games * look / _LOOKS) for look in range(1, _LOOKS + 1)}
    for played in range(1, screening.games + 1):
        ranks = game.self_play(start, random, screening.effort).outcome.ranks
        for seat, rank in enumerate(ranks):
            won[seat] += (rank == 1) / ranks.count(1)
        if played in looks and not screening.passes([wins / played for wins in won], played):
            return None
    return tuple(wins / screening.games for wins in won)
