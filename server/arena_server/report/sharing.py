"""Games as one page to share."""

from __future__ import annotations

from collections.abc import Sequence

from arena_engine.game import SEATS
from arena_engine.record import GameRecord
from arena_server.model import UserError
from arena_server.report.page import Shelf, instant, render


def page(records: Sequence[GameRecord]) -> str:
    """A self-contained page that plays them; raises UserError where there are none."""
    if not records:
        raise UserError("no game to show", "0 records", "`arena games list` shows those that were played")
    first = records[0]
    shelf = Shelf(first.game)
    for record in records:
        shelf.add(record)
    several = len(records) > 1
    return render(
        "replays.html",
        data=shelf.data(),
        title=first.tournament if several else first.id,
        lead=f"{first.game} · {len(records)} games"
        if several
        else f"{first.game} · {first.time_control} · {instant(first.date)}",
        report="",
        several=several,
        letters=SEATS[: len(first.seats)],
    )
