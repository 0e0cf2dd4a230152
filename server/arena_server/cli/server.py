"""`arena server`: a standing server itself, asked through its socket by the user who runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from arena_server.cli.options import AsJson, group

if TYPE_CHECKING:
    from arena_server.service.administration.administrator import ServerStatus

server = group("See what a standing server does, or stop it.")

At = Annotated[str, typer.Option("--server", metavar="unix:PATH", help="Its socket, as `arena serve --socket` has it.")]


@server.command()
def status(*, address: At, as_json: AsJson = False) -> None:
    """Show its season, who is connected, and the games that it plays."""
    from dataclasses import asdict

    from arena_server.cli.output import show_json
    from arena_server.service.administration.remote import RemoteAdministrator

    with RemoteAdministrator(address) as office:
        found = office.status()
    if as_json:
        show_json(asdict(found))
    else:
        _print(found)


@server.command()
def stop(
    *,
    address: At,
    now: Annotated[
        bool, typer.Option("--now", help="Do not wait for games: the next server plays them again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Stop it. No game begins any more, those that run have a grace to finish."""
    from arena_server.cli.output import show_json
    from arena_server.service.administration.remote import RemoteAdministrator

    with RemoteAdministrator(address) as office:
        grace = office.stop(at_once=now)
    if as_json:
        show_json({"grace_s": grace})
    else:
        print(f"it stops: games that run have {grace:g} s to finish" if grace else "it stops at once")


def _print(found: ServerStatus) -> None:
    from arena_server.cli.grids import Column, Grid
    from arena_server.cli.output import say, show

    say(
        f"season {found.season} on arena {found.version}, since {found.since}"
        + (", stopping" if found.stopping else "")
    )
    say(f"at {', '.join(found.addresses)}")
    say(
        f"{len(found.games)} of {found.capacity} games at once, {found.waiting} more planned, "
        f"{_bots(len(found.connections))} connected"
    )
    if found.games:
        columns = (Column("game", left=True), Column("seats", left=True), Column("ply"), Column("seconds"))
        rows = [(one.id, " - ".join(one.seats), str(one.ply), f"{one.seconds:.0f}") for one in found.games]
        print()
        show(Grid(columns, rows))
    if found.connections:
        print()
        bots = [(one.label, str(one.games_at_once)) for one in found.connections]
        show(Grid((Column("bot", left=True), Column("games at once")), bots))


def _bots(number: int) -> str:
    return "1 bot" if number == 1 else f"{number} bots"
