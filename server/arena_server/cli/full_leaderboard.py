"""`arena leaderboard --full`: how sure the standings are. Like them it shows no time, rate or date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from arena_engine.game import SEATS
from arena_server.cli.grids import Column, Grid
from arena_server.cli.leaderboard import leaderboard_dict
from arena_server.cli.output import show, show_json
from arena_server.cli.places import places_dict, print_places
from arena_server.cli.tables import marked, won_lost
from arena_server.ratings.analysis import Analysis, analyse
from arena_server.ratings.estimates import Estimate
from arena_server.store import anchors
from arena_server.store.samples import Sample
from arena_server.text import clean

if TYPE_CHECKING:
    from arena_server.service.reading import Reader
    from arena_server.store import Tournament
    from arena_server.store.anchors import Anchors
    from arena_server.store.samples import Selection
    from arena_server.store.views import Leaderboard

_SHOWN = 5
"""Disagreements that are told one by one."""


def print_full(source: Reader, name: str | None, sample: Sample, anchored: Anchors, *, as_json: bool) -> None:
    """Prints the statistics of a tournament, or of a choice of its games, on the scale of these anchors or its own."""
    selection = source.selection(name, sample)
    tournament, chosen = selection.board.tournament, sample != Sample()
    table = None if chosen else source.table(tournament)
    fixed = anchors.holding(tournament, selection.games, anchored)
    analysis = analyse(selection.games, tournament.spec, resample=chosen, anchors=fixed)
    if as_json:
        show_json(
            {
                **full_dict(selection, analysis, sample),
                **places_dict(tournament, table),
            }
        )
        return
    board = selection.board
    print(f"tournament {tournament.name}: {board.progress}")
    if chosen:
        print(f"chosen and rated on their own: {sample}; {len(selection.games)} games")
    show(standings_grid(board, analysis))
    print_places(board, table)
    for grid in (seats_grid(analysis), calibration_grid(analysis)):
        print()
        show(grid)
    print()
    print("\n".join(notes(board, analysis)))


def standings_grid(board: Leaderboard, analysis: Analysis) -> Grid:
    """The standings with Elo, its interval, the possible ranks, and how far each is above the next; best first."""
    draws = any(standing.draws for standing in board.standings)
    columns = (
        Column("#"),
        Column("bot", left=True),
        Column("mu-3sigma", spare=3),
        Column("W-L-D" if draws else "W-L", spare=4),
        Column("pairs", spare=6),
        Column("Elo"),
        Column("95 %", spare=1),
        *([Column("resampled", spare=7)] if analysis.resampled else []),
        Column("ranks"),
        Column("over next", spare=5),
        Column("superior", spare=2),
    )
    return Grid(columns, _standing_rows(board, analysis, draws=draws))


def _standing_rows(board: Leaderboard, analysis: Analysis, *, draws: bool) -> Iterator[Sequence[str]]:
    order = board.places
    for row, (standing, place) in enumerate(zip(board.standings, order, strict=True)):
        strength, ranks = analysis.strengths[place], analysis.ranges.get(place)
        over = analysis.over(place, order[row + 1]) if row + 1 < len(order) else None
        yield (
            str(standing.rank),
            marked(standing.label, withdrawn=standing.withdrawn, parked=standing.parked is not None),
            f"{standing.rating.conservative:.2f}",
            won_lost(standing, draws=draws),
            str(analysis.pairs[place]),
            signed(strength.value) if strength else "-",
            interval(strength) if strength else "-",
            *([_resampled(analysis, place)] if analysis.resampled else []),
            rank_range(*ranks) if ranks else "-",
            f"{signed(over.value)} ({interval(over)})" if over else "-",
            _percent(over.positive) if over else "-",
        )


def seats_grid(analysis: Analysis) -> Grid:
    """What each seat is worth."""
    columns = (Column("seat", left=True), Column("Elo"), Column("95 %"), Column("score"), Column("games", spare=1))
    rows = (
        (
            letter,
            signed(seat.advantage.value),
            interval(seat.advantage),
            "-" if seat.score is None else _percent(seat.score),
            str(seat.games),
        )
        for letter, seat in zip(SEATS, analysis.seats, strict=False)
    )
    return Grid(columns, rows)


def calibration_grid(analysis: Analysis) -> Grid:
    """The favourites' results, predicted by TrueSkill before each game and observed."""
    columns = (
        Column("favourite's chance"),
        Column("games", spare=2),
        Column("predicted"),
        Column("observed"),
        Column("95 %", spare=1),
    )
    rows = (
        (
            f"{row.low:.0%}-{row.high:.0%}",
            str(row.count),
            _percent(row.predicted),
            _percent(row.observed),
            f"{_percent(row.interval[0])}..{_percent(row.interval[1])}",
        )
        for row in analysis.calibration
    )
    return Grid(columns, rows)


def notes(board: Leaderboard, analysis: Analysis) -> list[str]:
    """What the tables do not say."""
    strengths, seats = analysis.fit.scatter
    lines = _anchor_lines(board.tournament, analysis)
    lines.append(f"pairs scatter {strengths:.2f} times as much as independent games (seats: {seats:.2f})")
    if analysis.groups > 1:
        lines.append(f"{analysis.groups} groups of bots are linked by no game: Elo between them is a guess")
    if analysis.silent:
        lines.append(f"games in which all were to blame, left out of Elo: {analysis.silent}")
    swapped = analysis.disagreements(board.places)
    if not swapped:
        return [*lines, "TrueSkill and Elo agree on the order"]
    names = board.tournament.spec.labels
    lines.append(f"TrueSkill and Elo disagree on the order of {len(swapped)} pairs of bots")
    for one, other in swapped[:_SHOWN]:
        over = analysis.fit.difference(other, one)
        told = f"{names[one]} stands above {names[other]}, by Elo {_magnitude(over)} below"
        lines.append(f"  {clean(told)} ({_percent(over.positive)} sure)")
    return [*lines, *(["  ..."] if len(swapped) > _SHOWN else [])]


def _anchor_lines(tournament: Tournament, analysis: Analysis) -> list[str]:
    """What Elo is measured from, where that is not the mean of the bots."""
    if held := anchors.told(tournament, analysis.fit.anchors):
        return [clean(f"Elo with {', '.join(f'{label} at {value:g}' for label, value in held.items())}")]
    if tournament.anchors:
        return [clean(f"Elo above the mean of the bots: {', '.join(tournament.anchors)} cannot be an anchor yet")]
    return []


def full_dict(selection: Selection, analysis: Analysis, sample: Sample) -> dict[str, Any]:
    """The JSON form: that of the leaderboard and more; bots are told by their ranks there."""
    board = selection.board
    plain = leaderboard_dict(board)
    order = board.places
    ranks = {place: rank for rank, place in enumerate(order, 1)}
    rows = [{**row, **_standing_extras(analysis, order, index)} for index, row in enumerate(plain["standings"])]
    return {
        **plain,
        "chosen": {**asdict(sample), "games": len(selection.games)},
        "standings": rows,
        "seats": {
            letter: {"elo": estimate_dict(seat.advantage), "score": seat.score, "games": seat.games}
            for letter, seat in zip(SEATS, analysis.seats, strict=False)
        },
        "anchors": anchors.told(board.tournament, analysis.fit.anchors),
        "scatter": dict(zip(("strengths", "seats"), analysis.fit.scatter, strict=True)),
        "unlinked_groups": analysis.groups,
        "games_all_to_blame": analysis.silent,
        "disagreements": [
            {
                "rank": ranks[one],
                "below_by_elo": ranks[other],
                "elo": estimate_dict(over := analysis.fit.difference(other, one)),
                "superiority": over.positive,
            }
            for one, other in analysis.disagreements(order)
        ],
        "calibration": [
            {
                "from": row.low,
                "to": row.high,
                "games": row.count,
                "predicted": row.predicted,
                "observed": row.observed,
                "interval": list(row.interval),
            }
            for row in analysis.calibration
        ],
    }


def _standing_extras(analysis: Analysis, order: Sequence[int], row: int) -> dict[str, Any]:
    place = order[row]
    over = analysis.over(place, order[row + 1]) if row + 1 < len(order) else None
    ranks = analysis.ranges.get(place)
    return {
        "pairs": analysis.pairs[place],
        "elo": estimate_dict(analysis.strengths[place]),
        "resampled": list(bounds) if (bounds := analysis.resampled.get(place)) else None,
        "rank_range": list(ranks) if ranks else None,
        "over_next": estimate_dict(over),
        "superiority": over.positive if over else None,
    }


def estimate_dict(estimate: Estimate | None) -> dict[str, float] | None:
    """The JSON form."""
    return None if estimate is None else {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def signed(elo: float) -> str:
    """``+12``."""
    return f"{round(elo):+d}"


def _magnitude(estimate: Estimate) -> str:
    return str(round(estimate.value))


def interval(estimate: Estimate) -> str:
    """``-3..+40``, of 95 %."""
    return f"{signed(estimate.low)}..{signed(estimate.high)}"


def _resampled(analysis: Analysis, place: int) -> str:
    bounds = analysis.resampled.get(place)
    return f"{signed(bounds[0])}..{signed(bounds[1])}" if bounds else "-"


def rank_range(best: int, worst: int) -> str:
    """``2-4``."""
    return str(best) if best == worst else f"{best}-{worst}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
