"""Who has won a season: the closing round-robin decides, beside it stands the rank on the ladder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena_server.ratings.analysis import Analysis, analyse
from arena_server.ratings.estimates import Estimate
from arena_server.service.reading import Reader
from arena_server.store import Season, Standing, anchors
from arena_server.store.samples import Sample


@dataclass(frozen=True, slots=True)
class Final:
    """A row of the table.

    Attributes:
        rank: 1 has won.
        ladder: its row of the season's own table.
        closing: its row of that of the closing round-robin; None where it does not play there.
        elo: by the closing round-robin; None where it has met nobody there.
        ranks: best and worst of those that are possible there (95 %); None likewise.
    """

    rank: int
    ladder: Standing
    closing: Standing | None = None
    elo: Estimate | None = None
    ranks: tuple[int, int] | None = None


def final_table(source: Reader, season: Season) -> list[Final]:
    """Best first: by Elo those who have met in the closing round-robin, then the others by the ladder."""
    ladder = source.leaderboard(season.ladder.name).standings
    decided = [] if season.closing is None else list(_decided(source, season, ladder))
    met = {row.ladder.position for row in decided}
    others = [Final(0, row) for row in ladder if row.position not in met]
    return [_ranked(row, rank) for rank, row in enumerate([*decided, *others], 1)]


def _decided(source: Reader, season: Season, ladder: Sequence[Standing]) -> Iterator[Final]:
    """Those who play in the closing round-robin, best first."""
    assert season.closing is not None
    selection = source.selection(season.closing.name, Sample())
    fixed = anchors.holding(season.closing, selection.games, {})
    analysis = analyse(selection.games, season.closing.spec, resample=False, anchors=fixed)
    here = {row.entrant: row for row in ladder}
    rows = sorted(selection.board.standings, key=lambda row: _order(analysis, row, here[row.entrant]))
    for row in rows:
        place = row.position
        yield Final(0, here[row.entrant], row, analysis.strengths[place], analysis.ranges.get(place))


def _order(analysis: Analysis, row: Standing, ladder: Standing) -> tuple[bool, float, int]:
    """Who has met nobody stands behind the others, and equal ones by the ladder."""
    elo = analysis.strengths[row.position]
    return elo is None, 0.0 if elo is None else -elo.value, ladder.rank


def _ranked(row: Final, rank: int) -> Final:
    return Final(rank, row.ladder, row.closing, row.elo, row.ranks)
