"""`arena report`: a tournament as a folder of pages and tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_server.cli.options import AsJson, Db

if TYPE_CHECKING:
    from arena_server.report.writing import Written
    from arena_server.store import Store
    from arena_server.store.anchors import Anchors


def report(  # noqa: PLR0913 - each option is one of the user's choices
    tournament: Annotated[
        str | None, typer.Argument(metavar="TOURNAMENT", help="Which one.  [default: the one started last]")
    ] = None,
    *,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where to.  [default: TOURNAMENT-report]")] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write the tables as Parquet, too.")] = False,
    anchor: Annotated[
        list[str] | None,
        typer.Option(metavar="BOT=ELO", help="Fix a bot's Elo, so that tournaments compare; may be repeated."),
    ] = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Write a report of a tournament: pages to read and replay, tables and records for programs."""
    from arena_server.cli.output import opened, show_json
    from arena_server.store import anchors

    anchored = anchors.read(anchor or ())
    with opened(db, quiet=as_json) as store:
        written = write_report(store, tournament, out, parquet=parquet, anchored=anchored)
    if as_json:
        show_json(report_dict(written))
    else:
        print(told(written))


def report_dict(written: Written) -> dict[str, Any]:
    """The JSON form."""
    return {
        "tournament": written.tournament,
        "folder": str(written.folder),
        "files": list(written.files),
        "games": written.games,
    }


def write_report(
    store: Store, name: str | None, out: Path | None, *, parquet: bool = False, anchored: Anchors | None = None
) -> Written:
    """Writes it, and tells its progress on standard error when that takes a while."""
    from arena_server.cli.progress import Progress
    from arena_server.report.writing import write

    with Progress("games written") as progress:
        return write(store, name, out, parquet=parquet, anchored=anchored, told=progress.tell)


def told(written: Written) -> str:
    """Where it is."""
    from arena_server.report.folder import REPORT

    return f"report: {written.folder / REPORT}, and beside it {', '.join(_names(written))}"


def _names(written: Written) -> list[str]:
    pages = sum("/" in name for name in written.files)
    plain = [name for name in written.files if "/" not in name and name != "report.html"]
    return [*plain, *([f"{pages} pages of further games"] if pages else [])]
