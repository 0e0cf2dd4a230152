"""All about one tournament: its contract, whose the bots are, and what every run ran with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena_server.cli.grids import Column, Grid
from arena_server.cli.output import show
from arena_server.store import stopping
from arena_server.text import clean

if TYPE_CHECKING:
    from arena_server.model import About
    from arena_server.service.reading import Details
    from arena_server.store import Run


_SHOWN = 100
"""Words of a command line, or deals of a suite, that are shown."""


def details_dict(details: Details) -> dict[str, Any]:
    """The JSON form, beside that of a list."""
    held = details.tournament
    about = zip(held.spec.labels, details.about, strict=True)
    return {
        "tags": list(held.tags),
        "bots": [
            {"label": label, "owner": said.owner, "group": said.group, "tags": list(said.tags or ())}
            for label, said in about
        ],
        "runs": [{"epoch": run.epoch, "started": run.started, **run.facts} for run in details.runs],
    }


def print_details(details: Details) -> None:
    """Prints the contract, the bots, and the runs."""
    held, progress = details.tournament, details.progress
    played = progress.finished if held.stopped else progress.planned - progress.open
    print(f"tournament {held.name}: {held.status}, {played} of {progress.planned} games" + _tagged(held.tags))
    if held.called_off:
        print(f"called off: {clean(held.called_off)}")
    if question := stopping.told(held):
        print(clean(question))
    contract = {key: value for key, value in held.spec.contract().items() if key != "entrants"}
    for key, value in contract.items():
        print(f"  {key:16} {clean(_shown(value))}")
    if held.anchors:
        print(clean(f"  {'anchors':16} {_shown(held.anchors)}"))
    show(_bots_grid(held.spec.labels, details.about))
    for run in details.runs:
        print("\n".join(clean(line) for line in _run_lines(run)))


def _bots_grid(labels: Sequence[str], about: Sequence[About]) -> Grid:
    columns = [Column(name, left=True) for name in ("bot", "owner", "group", "tags")]
    rows = [
        (label, said.owner or "-", said.group or "-", ", ".join(said.tags or ()) or "-")
        for label, said in zip(labels, about, strict=True)
    ]
    return Grid(columns, rows)


def _run_lines(run: Run) -> Iterator[str]:
    """One run: a fact a line, those of the versions and the machine together."""
    yield f"run {run.epoch}, started {run.started}"
    for key, value in run.facts.items():
        yield f"  {key:16} {_shown(value)}"


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items()) or "-"
    if isinstance(value, list):
        tables = bool(value) and isinstance(value[0], Mapping)
        return ("; " if tables else " ").join(map(_shown, value[:_SHOWN])) + (" ..." if len(value) > _SHOWN else "")
    if isinstance(value, float):
        return str(round(value, 3))
    return "-" if value is None else str(value)


def _tagged(tags: Sequence[str]) -> str:
    return f"; tags: {', '.join(tags)}" if tags else ""
