"""All that the results of a tournament say about its entrants, beside their TrueSkill ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena_server.model import Spec, canonical_json
from arena_server.ratings.bradley_terry import Fit, fit
from arena_server.ratings.calibration import Calibration, calibration
from arena_server.ratings.estimates import Estimate
from arena_server.ratings.pairs import Meeting, Pair, pairs
from arena_server.ratings.ranks import rank_ranges
from arena_server.ratings.resampling import resampled


@dataclass(frozen=True, slots=True)
class SeatResult:
    """How well one seat did.

    Attributes:
        advantage: in Elo, over the mean of the other seats.
        games: comparisons with another seat.
        score: mean of them; None where there is none.
    """

    advantage: Estimate
    games: int
    score: float | None


@dataclass(frozen=True, slots=True)
class Analysis:
    """Of some of a tournament's games.

    Attributes:
        fit: Bradley-Terry with a seat term.
        strengths: in Elo, as ``Fit.strengths``, by entrant; None without a comparison.
        ranges: 95 % of the possible ranks, by entrant.
        resampled: bounds of the strengths by bootstrap, by entrant; only on request.
        pairs: how many pairings each entrant was compared in.
        seats: in seat order.
        silent: games in which all were to blame, so that nothing can be compared.
        groups: entrants that a chain of games links; between groups there is no evidence.
    """

    fit: Fit
    strengths: tuple[Estimate | None, ...]
    ranges: dict[int, tuple[int, int]]
    resampled: dict[int, tuple[float, float]]
    pairs: tuple[int, ...]
    seats: tuple[SeatResult, ...]
    calibration: Sequence[Calibration]
    silent: int
    groups: int

    def over(self, one: int, other: int) -> Estimate | None:
        """How far one entrant is above another, in Elo; None where one of them was not compared."""
        known = self.strengths[one] and self.strengths[other]
        return self.fit.difference(one, other) if known else None

    def disagreements(self, order: Sequence[int]) -> list[tuple[int, int]]:
        """Each two entrants of which the latter in this order is the stronger by Bradley-Terry, the surest first."""
        placed = [(place, strength.value) for place in order if (strength := self.strengths[place])]
        swapped = [
            (one, other)
            for row, (one, value) in enumerate(placed)
            for other, other_value in placed[row + 1 :]
            if other_value > value
        ]
        return sorted(swapped, key=lambda two: -self.fit.difference(two[1], two[0]).positive)


def analyse(
    meetings: Sequence[Meeting], spec: Spec, *, resample: bool, anchors: Mapping[int, float] | None = None
) -> Analysis:
    """Everything above, always the same for the same games of the same contract.

    Args:
        meetings: the games, in schedule order.
        spec: of the tournament.
        resample: whether to bootstrap, too.
        anchors: values that are fixed, in Elo, of entrants that were compared with any.
    """
    seed, entrants = canonical_json(spec.contract()), len(spec.entrants)
    compared = pairs(meetings)
    fitted = fit(compared, entrants, spec.seats, anchors)
    members = [{place for met in pair for place in (met.one, met.other)} for pair in compared]
    counts = Counter(place for met in members for place in met)
    return Analysis(
        fit=fitted,
        strengths=fitted.strengths(),
        ranges=rank_ranges(fitted, seed),
        resampled=resampled(fitted, compared, seed) if resample and compared else {},
        pairs=tuple(counts[place] for place in range(entrants)),
        seats=tuple(_seat(fitted, compared, seat) for seat in range(spec.seats)),
        calibration=calibration(meetings, spec.draw_probability),
        silent=sum(all(meeting.result.failures) for meeting in meetings),
        groups=_groups(members),
    )


def _seat(fitted: Fit, compared: Sequence[Pair], seat: int) -> SeatResult:
    as_one = [met.score for pair in compared for met in pair if met.one_seat == seat]
    scores = as_one + [1 - met.score for pair in compared for met in pair if met.other_seat == seat]
    return SeatResult(fitted.seat(seat), len(scores), sum(scores) / len(scores) if scores else None)


def _groups(members: Sequence[set[int]]) -> int:
    groups: list[set[int]] = []
    for met in {frozenset(met) for met in members}:
        linked = [group for group in groups if group & met]
        groups = [group for group in groups if not group & met] + [set(met).union(*linked)]
    return len(groups)
