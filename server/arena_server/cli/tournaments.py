"""`arena tournaments`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_server.cli.options import AsJson, Ca, Db, Insecure, Server, group
from arena_server.model import Purpose

if TYPE_CHECKING:
    from arena_server.cli.grids import Grid
    from arena_server.store import Progress, Tournament

tournaments = group("List and show tournaments.")


@tournaments.callback(invoke_without_command=True)
def list_tournaments(  # noqa: PLR0913 - each option is one of the reader's choices
    context: typer.Context,
    *,
    purpose: Annotated[Purpose | None, typer.Option(help="Only these.  [default: all but challenges]")] = None,
    server: Server = None,
    ca: Ca = None,
    insecure: Insecure = False,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """List the tournaments of a database, the newest first; `show` tells all about one."""
    if context.invoked_subcommand is not None:
        return
    from arena_server.cli.output import reader, show, show_json

    with reader(db, server, ca, insecure=insecure, quiet=as_json) as source:
        found = source.tournaments(purpose)
    if as_json:
        show_json([tournament_dict(held, progress) for held, progress in found])
    elif found:
        show(_grid(found))
    elif purpose is not None:
        print(f"no {purpose} yet")
    else:
        print("no tournament yet: arena run-tournament")


@tournaments.command()
def show(  # noqa: PLR0913 - each option is one of the reader's choices
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which one.  [default: the last]")] = None,
    *,
    server: Server = None,
    ca: Ca = None,
    insecure: Insecure = False,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Show what shaped a tournament.

    That is its contract, whose the bots are, and what every run ran with.
    """
    from arena_server.cli.output import reader, show_json
    from arena_server.cli.tournament_details import details_dict, print_details

    with reader(db, server, ca, insecure=insecure, quiet=as_json) as source:
        details = source.details(name)
    if as_json:
        show_json({**tournament_dict(details.tournament, details.progress), **details_dict(details)})
    else:
        print_details(details)


def _grid(found: Sequence[tuple[Tournament, Progress]]) -> Grid:
    from arena_server.cli.grids import Column, Grid

    columns = (
        Column("tournament", left=True),
        Column("status", left=True),
        Column("games"),
        Column("bots", spare=1),
        Column("game", left=True, spare=4),
        Column("time", left=True, spare=2),
        Column("started (UTC)", left=True, spare=3),
    )
    return Grid(columns, [_row(held, progress) for held, progress in found])


def _row(held: Tournament, progress: Progress) -> Sequence[str]:
    from arena_server.cli.tables import moment

    return (
        held.name,
        _status(held),
        f"{progress.finished if held.stopped else progress.planned - progress.open}/{progress.planned}",
        " - ".join(held.spec.labels) if held.purpose is Purpose.CHALLENGE else str(len(held.spec.entrants)),
        held.spec.game,
        str(held.spec.time_control),
        moment(held.started),
    )


def _status(held: Tournament) -> str:
    if held.called_off:
        return "called off"
    return held.status if held.stopped is None else f"stopped at {held.stopped}"


def games_dict(progress: Progress) -> dict[str, int]:
    """How many games are where, as JSON."""
    return {"planned": progress.planned, "finished": progress.finished, "open": progress.open}


def tournament_dict(held: Tournament, progress: Progress) -> dict[str, Any]:
    """The JSON form; the secret is null until it may be known."""
    from arena_server.store import stopping

    return {
        "name": held.name,
        "purpose": held.purpose,
        "status": held.status,
        "called_off": held.called_off or None,
        "stop": stopping.as_dict(held),
        "games": games_dict(progress),
        "contract": held.spec.contract(),
        "commitment": held.terms[0].commitment,
        "public_seed": held.public_seed,
        "secret": held.terms[0].secret.hex() or None,
        "amendments": [
            {"stage": terms.stage, "commitment": terms.commitment, "secret": terms.secret.hex() or None}
            for terms in held.terms[1:]
        ],
        "chain_head": held.chain_head,
        "chain_length": held.chain_length,
        "anchors": dict(held.anchors),
        "created": held.created,
        "started": held.started,
        "finished": held.finished,
    }
