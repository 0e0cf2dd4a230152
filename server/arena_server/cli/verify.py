"""`arena verify`: is everything as the journal says?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from arena_server.cli.options import AsJson, Db, OfTournament

if TYPE_CHECKING:
    from arena_server.store.verify import Report


def verify(*, tournament: OfTournament = None, db: Db = None, as_json: AsJson = False) -> None:
    """Replay and rate every recorded game again and compare; exit code 1 on a difference."""
    from arena_server.cli.output import opened, show_json
    from arena_server.cli.progress import Progress
    from arena_server.store import queries
    from arena_server.store.verify import verify as check

    with opened(db, quiet=as_json) as store:
        with Progress("attempts replayed") as progress:
            report = check(store, queries.tournament(store, tournament), progress.tell)
        if as_json:
            show_json(report_dict(report))
        else:
            print("\n".join(report_lines(report)))
    if not report.ok:
        raise typer.Exit(1)


def report_lines(report: Report) -> list[str]:
    """What was found: the first bad game first."""
    from arena_server.text import clean

    name = report.tournament.name
    checked = f"tournament {name}: {report.games} games, {report.attempts} attempts replayed"
    head = f"chain head {report.chain_head}"
    if report.ok:
        return [f"{checked}: all as recorded", head]
    found = [clean(f"{_place(name, problem.number, problem.attempt)}: {problem.what}") for problem in report.problems]
    return [*found, f"{checked}: {len(found)} differences", head]


def report_dict(report: Report) -> dict[str, Any]:
    """The JSON form."""
    name = report.tournament.name
    return {
        "tournament": name,
        "ok": report.ok,
        "games": report.games,
        "attempts": report.attempts,
        "chain_head": report.chain_head,
        "problems": [
            {"game": f"{name}/{problem.number}" if problem.number else None, "attempt": problem.attempt or None}
            | {"what": problem.what}
            for problem in report.problems
        ],
    }


def _place(tournament: str, number: int, attempt: int) -> str:
    if not number:
        return f"tournament {tournament}"
    return f"game {tournament}/{number}" + (f", attempt {attempt}" if attempt else "")
