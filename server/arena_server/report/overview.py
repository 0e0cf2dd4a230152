"""What the page of a tournament shows beside the games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from arena_engine.game import SEATS
from arena_server.model import FAILURES
from arena_server.report import plots, standings
from arena_server.report.contents import Contents
from arena_server.report.page import instant
from arena_server.store import Status, Tournament, anchors, stopping
from arena_server.store.crosstable import Cell, Score

_HEATS = 7
_DISAGREEMENTS = 5


@dataclass(frozen=True, slots=True)
class CrossCell:
    """A cell as it is shown.

    Attributes:
        total: ``12-8``; ``seats`` the same by the letter of the row's seat.
        heat: from 0, all lost, to 6, all won.
    """

    total: str
    seats: Sequence[tuple[str, str]]
    heat: int


@dataclass(frozen=True, slots=True)
class CrossRow:
    """A bot against all in the order of the standings; None where the two did not meet."""

    place: int
    cells: Sequence[CrossCell | None]


def context(contents: Contents) -> dict[str, Any]:
    """For the template."""
    board, analysis = contents.board, contents.analysis
    entries = list(standings.entries(contents))
    plot = plots.ratings(contents.meetings, board.standings, board.places)
    draws = any(standing.draws for standing in board.standings)
    kinds = [kind for kind in FAILURES if any(kind in standing.failures for standing in board.standings)]
    return {
        "tournament": contents.tournament,
        "labels": contents.labels,
        "letters": SEATS[: contents.tournament.spec.seats],
        "summary": _summary(contents),
        "question": stopping.told(contents.tournament),
        "entries": entries,
        "draws": draws,
        "owned": any(about.owner or about.group for about in contents.about),
        "places": contents.places,
        "places_title": _places_title(contents),
        "anchored": _anchored(contents),
        "whiskers": plots.whiskers([entry.elo for entry in entries]),
        "notes": _notes(contents),
        "plot": plot,
        "width": plots.WIDTH,
        "height": plots.HEIGHT,
        "left": plots.LEFT,
        "cross": _cross(contents, draws=draws),
        "kinds": kinds,
        "others": any(entry.others_failed for entry in entries),
        "seats": list(zip(SEATS, analysis.seats, strict=False)),
        "calibration": analysis.calibration,
        "contract": list(_contract(contents.tournament).items()),
        "parts": _parts(contents, plotted=plot is not None),
    }


def _summary(contents: Contents) -> str:
    spec = contents.tournament.spec
    length = "" if spec.rounds is None else f" over {spec.rounds} {'round' if spec.rounds == 1 else 'rounds'}"
    return f"{spec.game}, {spec.format} of {len(spec.entrants)} bots{length} · {contents.board.progress}"


def _anchored(contents: Contents) -> str:
    held = anchors.told(contents.tournament, contents.anchors)
    return ", ".join(f"{label} at {value:g}" for label, value in held.items())


def _places_title(contents: Contents) -> str:
    spec = contents.tournament.spec
    unit = "stage" if spec.rounds is None else "round"
    of = "" if spec.rounds is None else f" of {spec.rounds}"
    return f"The {spec.format} after {unit} {contents.stages}{of}"


def _parts(contents: Contents, *, plotted: bool) -> list[tuple[str, str]]:
    parts = {
        "standings": "Standings",
        **({"places": contents.tournament.spec.format.capitalize()} if contents.places else {}),
        "strength": "How sure it is",
        **({"ratings": "Ratings"} if plotted else {}),
        "crosstable": "Crosstable",
        "endings": "Endings",
        "seats": "Seats",
        "games": "Games",
        "bots": "Bots",
    }
    return list(parts.items())


def _notes(contents: Contents) -> list[str]:
    """What the tables do not say."""
    analysis, remarks = contents.analysis, [f"{line[0].upper()}{line[1:]}." for line in contents.board.remarks.lines]
    if not contents.meetings:
        return remarks
    strengths, seats = analysis.fit.scatter
    lines = [*remarks, f"Pairings scatter {strengths:.2f} times as much as independent games (seats: {seats:.2f})."]
    if analysis.groups > 1:
        lines.append(f"{analysis.groups} groups of bots are linked by no game: Elo between them is a guess.")
    if analysis.silent:
        lines.append(f"Games in which all were to blame, left out of Elo: {analysis.silent}.")
    swapped = analysis.disagreements(contents.board.places)
    if not swapped:
        return [*lines, "TrueSkill and Elo agree on the order."]
    lines.append(f"TrueSkill and Elo disagree on the order of {len(swapped)} pairs of bots.")
    return [*lines, *(_disagreement(contents, *two) for two in swapped[:_DISAGREEMENTS])]


def _disagreement(contents: Contents, one: int, other: int) -> str:
    over = contents.analysis.fit.difference(other, one)
    names = contents.labels
    return f"{names[one]} stands above {names[other]}, by Elo {over.value:.0f} below ({over.positive:.1%} sure)."


def _cross(contents: Contents, *, draws: bool) -> list[CrossRow]:
    order, cells = contents.board.places, contents.crosstable.cells
    return [CrossRow(row, [_cell(cells.get((row, column)), draws=draws) for column in order]) for row in order]


def _cell(cell: Cell | None, *, draws: bool) -> CrossCell | None:
    if cell is None:
        return None
    seats = [(letter, _won_lost(score, draws=draws)) for letter, score in sorted(cell.by_seat.items())]
    total = cell.total
    share = (total.wins + total.draws / 2) / (total.wins + total.losses + total.draws)
    return CrossCell(_won_lost(total, draws=draws), seats, round(share * (_HEATS - 1)))


def _won_lost(score: Score, *, draws: bool) -> str:
    return f"{score.wins}-{score.losses}" + (f"-{score.draws}" if draws else "")


def _contract(tournament: Tournament) -> Mapping[str, str]:
    spec = tournament.spec
    deals = [f"{key} {value}" for options in spec.variants or (spec.deals,) for key, value in options]
    return {
        "game": f"{spec.game}, rules {spec.rules}, {spec.seats} seats",
        "deals": ", ".join([*deals, *([f"{len(spec.suite)} listed"] if spec.suite else [])]) or "as the game has them",
        "format": spec.format,
        **({} if spec.rounds is None else {"rounds": str(spec.rounds)}),
        **({} if spec.challengers == 1 else {"challengers": str(spec.challengers)}),
        "games of those who meet": str(spec.games),
        **({} if spec.stop is None else {"stop rule": spec.stop}),
        "time": str(spec.time_control),
        **({"public seed": spec.seed} if spec.seed is not None else _secrets(tournament)),
        "status": _status(tournament),
        "chain head": f"{tournament.chain_head} over {tournament.chain_length} attempts and amendments",
        "ratings": tournament.ratings,
        "arena": version("patchwork-arena"),
    }


def _secrets(tournament: Tournament) -> Mapping[str, str]:
    """What the deals come from, as far as it may be known; each amendment has a secret of its own."""
    told: dict[str, str] = {}
    for number, terms in enumerate(tournament.terms):
        since = f" from stage {terms.stage} on" if number else ""
        told[f"commitment{since}"] = terms.commitment
        if terms.secret:
            told[f"secret{since}"] = terms.secret.hex()
    return told


def _status(tournament: Tournament) -> str:
    if tournament.status is Status.FINISHED:
        return f"finished {instant(tournament.finished)}"
    return (
        tournament.status if tournament.started is None else f"{tournament.status} since {instant(tournament.started)}"
    )
