"""`arena challenge`: an unrated match that a standing server plays beside its season."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from arena_server.cli.options import AsJson, Db, Socket

if TYPE_CHECKING:
    from arena_server.service.reading import Reader
    from arena_server.store import Progress, Tournament

LOOK_S = 0.5
"""Seconds between two looks at a challenge that is waited for."""


def challenge(  # noqa: PLR0913 - each option is one of the user's choices
    bots: Annotated[
        list[str], typer.Argument(metavar="BOT BOT", help="Registered bots: 'ada', or 'ada 2' for that version.")
    ],
    *,
    games: Annotated[int, typer.Option(min=1, max=100, help="How many, each deal from every seat.")] = 10,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the result and show it.")] = False,
    server: Socket = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Let two bots play an unrated match on a standing server, beside its season; works also while the server runs."""
    from arena_server.cli.leaderboard import print_leaderboard
    from arena_server.cli.output import administrator, reader, show_json

    with administrator(db, server, quiet=as_json) as office:
        made = office.challenge(bots, games)
    if not as_json:
        _tell(made)
    elif not wait:
        show_json({"challenge": made.name, "bots": list(made.spec.labels), "games": games})
    if not wait:
        return
    with reader(db, server, None, quiet=True) as source:
        held = _wait(source, made, quiet=as_json)
        print_leaderboard(source, held.name, as_json=as_json)
    if held.called_off:
        raise typer.Exit(1)


def _tell(made: Tournament) -> None:
    spec = made.spec
    print(f"{made.name}: {' against '.join(spec.labels)}, {spec.games} games, unrated")
    print("it begins once a server of this database runs and its bots are there")
    print(f"look with: arena leaderboard --tournament {made.name}", flush=True)


def _wait(source: Reader, made: Tournament, *, quiet: bool) -> Tournament:
    """The challenge once it is over; progress is told on standard error."""
    told = None
    while (details := source.details(made.name)).tournament.status != "finished":
        progress = details.progress
        if not quiet and progress != told and progress.planned:
            told = progress
            print(_shown(progress), file=sys.stderr, flush=True)
        time.sleep(LOOK_S)
    return details.tournament


def _shown(progress: Progress) -> str:
    return f"{progress.planned - progress.open} of {progress.planned} games played"
