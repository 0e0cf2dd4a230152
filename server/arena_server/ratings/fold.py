"""One rated game folded into what is known of its entrants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from arena_server.model import Ending
from arena_server.ratings.trueskill import INITIAL, Rating, update


@dataclass(frozen=True, slots=True)
class Finished:
    """What the fold needs of a rated game, in seat order.

    Attributes:
        failures: what each seat is to blame for; None for nothing.
    """

    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    failures: tuple[Ending | None, ...]

    @property
    def normal(self) -> bool:
        """Whether it ended by the rules."""
        return not any(self.failures)

    def margin(self, seat: int) -> int:
        """The seat's points above the best of the others."""
        return self.scores[seat] - max(score for other, score in enumerate(self.scores) if other != seat)


@dataclass(frozen=True, slots=True)
class Tally:
    """An entrant's rating and counts.

    Attributes:
        margin_total: sum of the margins of normally ended games.
        margin_games: how many those are.
        failures: kind to count.
        unstarted: start failures in a row, the last of them in its last game.
    """

    rating: Rating = INITIAL
    games: int = 0
    wins: int = 0
    losses: int = 0
    draws: int = 0
    margin_total: int = 0
    margin_games: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    unstarted: int = 0


def fold(tallies: Sequence[Tally], game: Finished, draw_probability: float) -> tuple[tuple[Tally, ...], bool]:
    """The tallies of a game's entrants after it, in seat order, and whether the rating fell back.

    A win is the first rank alone, a draw the first rank shared, all else a loss; a seat that is to blame always loses.
    """
    rated = update([tally.rating for tally in tallies], game.ranks, draw_probability)
    after = tuple(
        _count(tally, rating, game, seat)
        for seat, (tally, rating) in enumerate(zip(tallies, rated.ratings, strict=True))
    )
    return after, rated.flagged


def counted(tallies: Sequence[Tally], game: Finished) -> tuple[Tally, ...]:
    """The same without the ratings, which stay as they are."""
    return tuple(_count(tally, tally.rating, game, seat) for seat, tally in enumerate(tallies))


def _count(tally: Tally, rating: Rating, game: Finished, seat: int) -> Tally:
    failure = game.failures[seat]
    first = game.ranks[seat] == 1 and failure is None
    alone = game.ranks.count(1) == 1
    return Tally(
        rating=rating,
        games=tally.games + 1,
        wins=tally.wins + (first and alone),
        losses=tally.losses + (not first),
        draws=tally.draws + (first and not alone),
        margin_total=tally.margin_total + (game.margin(seat) if game.normal else 0),
        margin_games=tally.margin_games + game.normal,
        failures={**tally.failures, failure: tally.failures.get(failure, 0) + 1} if failure else tally.failures,
        unstarted=tally.unstarted + 1 if failure is Ending.START_FAILURE else 0,
    )
