"""A tournament's report: pages, tables, records, in one folder; the same results give the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from arena_engine.game import SEATS
from arena_engine.record import GameRecord
from arena_server.report import failures, games, standings
from arena_server.report.columns import Table, Value
from arena_server.report.contents import Contents, Game
from arena_server.report.contents import games as all_games
from arena_server.report.folder import REPORT, filled
from arena_server.report.overview import context
from arena_server.report.page import Shelf, render
from arena_server.report.tables import check_parquet, write_csv, write_parquet
from arena_server.store import Store
from arena_server.store.anchors import Anchors
from arena_server.text import printable

EMBEDDED = 1000
"""Games whose replays are in the report itself, the first ones (3.5 kB each); later ones go to pages of so many."""

Told = Callable[[int, int], None]
"""Hears how many games of how many are written."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes:
        games: that were played, each with a replay.
    """

    tournament: str
    folder: Path
    files: tuple[str, ...]
    games: int


def default_folder(tournament: str) -> Path:
    """Where a report goes unless the user says so."""
    return Path(f"{tournament}-report")


def write(  # noqa: PLR0913 - what to write, and how
    store: Store,
    name: str | None,
    folder: Path | None,
    *,
    parquet: bool,
    anchored: Anchors | None = None,
    told: Told = lambda *_: None,
) -> Written:
    """Writes the report of a tournament as it is at this moment.

    Args:
        store: the database.
        name: of the tournament; None: the one started last.
        folder: where to; an earlier report of the same tournament is replaced, None: ``default_folder``.
        parquet: whether to write Parquet, too.
        anchored: whose Elo is fixed; none: the tournament's own anchors are.
        told: hears of the progress.

    Raises:
        UserError: no such tournament, the folder cannot be used, or an anchor cannot hold.
    """
    if parquet:
        check_parquet()
    with store.frozen() as frozen:
        contents = Contents.read(frozen, name, anchored or {})
        place = folder or default_folder(contents.tournament.name)
        with filled(place, contents.tournament.name) as beside:
            played = _Writing(contents, beside).all(all_games(frozen, contents.tournament), told, parquet=parquet)
            files = tuple(sorted(path.relative_to(beside).as_posix() for path in beside.rglob("*") if path.is_file()))
    return Written(contents.tournament.name, place, files, played)


class _Writing:
    """One report on its way into a folder."""

    def __init__(self, contents: Contents, folder: Path) -> None:
        self._contents = contents
        self._folder = folder
        self._spec = contents.tournament.spec
        self._shelf = self._new_shelf()
        self._further = self._new_shelf()
        self._page = ""
        self._failures: list[failures.Shown] = []

    def all(self, played: Iterator[Game], told: Told, *, parquet: bool) -> int:
        rows: list[tuple[Value, ...]] = []
        columns, planned = games.columns(self._spec.seats), self._contents.board.progress.planned
        with (self._folder / "records.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
            for number, game in enumerate(played, 1):
                rows.append(games.row(game, columns))
                if len(self._failures) < failures.MOST:
                    self._failures += failures.shown(game)
                if game.record is not None:
                    self._add(game.record, lines)
                told(number, planned)
        self._close_page()
        for stem, table in (
            ("standings", standings.table(self._contents)),
            ("games", games.table(self._spec.seats, rows)),
        ):
            self._write_table(stem, table, parquet=parquet)
        self._write_page(REPORT, self._report())
        return len(self._shelf)

    def _report(self) -> str:
        shown = {"failures": self._failures, "most": failures.MOST}
        return render("report.html", data=self._shelf.data(), **shown, **context(self._contents))

    def _add(self, record: GameRecord, lines: TextIO) -> None:
        lines.write(printable(record.to_json()) + "\n")
        if len(self._shelf) >= EMBEDDED:
            if not self._page:
                self._page = f"games/{record.number}.html"
            self._further.add(record)
        self._shelf.add(record, page=self._page)
        if len(self._further) == EMBEDDED:
            self._close_page()

    def _close_page(self) -> None:
        """Writes the page of further games, if there are any."""
        if not self._page:
            return
        page = render(
            "replays.html",
            data=self._further.data(),
            title=f"{self._contents.tournament.name}: further games",
            lead=f"{len(self._further)} games, from number {Path(self._page).stem} on",
            report=f"../{REPORT}",
            several=True,
            letters=SEATS[: self._spec.seats],
        )
        self._write_page(self._page, page)
        self._page, self._further = "", self._new_shelf()

    def _new_shelf(self) -> Shelf:
        return Shelf(self._spec.game, self._contents.labels)

    def _write_page(self, name: str, page: str) -> None:
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(page, "utf-8")

    def _write_table(self, stem: str, table: Table, *, parquet: bool) -> None:
        write_csv(table, self._folder / f"{stem}.csv")
        if parquet:
            write_parquet(table, self._folder / f"{stem}.parquet")
