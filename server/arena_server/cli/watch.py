"""`arena watch`: the games that a server plays, line by line, until Ctrl-C."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_engine.game import SEATS
from arena_server.cli.options import AsJson, Ca, Insecure

if TYPE_CHECKING:
    from arena_server.service.reading import LiveEvent
    from arena_server.store.lists import GameSummary


def watch(
    *,
    server: Annotated[str, typer.Option("--server", metavar="HOST:PORT", help="Which server; or unix:PATH.")],
    tournament: Annotated[
        str | None, typer.Option("--tournament", metavar="NAME", help="Only games of this one.  [default: of all]")
    ] = None,
    ca: Ca = None,
    insecure: Insecure = False,
    as_json: AsJson = False,
) -> None:
    """Watch the games that a server plays now.

    Each event is a line, with --json of JSON. What a server hides from others is seen at its socket alone; the end of a
    game is told to everybody.
    """
    from arena_server.cli.output import dialled

    with dialled(server, ca, insecure=insecure) as source:
        for event in source.watch(tournament):
            print(json.dumps(event_dict(event)) if as_json else line(event), flush=True)


def line(event: LiveEvent) -> str:
    """What has happened, for a person."""
    from arena_server.service.reading import Began, Ended, Plies
    from arena_server.text import clean

    if isinstance(event, Began):
        so_far = f", {len(event.plies)} plies so far" if event.plies else ""
        return clean(f"{event.id} is played by {_seated(event.seats)}{so_far}")
    if isinstance(event, Plies):
        return clean(f"{event.id} {event.ply + 1}: {', '.join(event.plies)}")
    if isinstance(event, Ended):
        return clean(f"{event.game.id} is over: {_outcome(event.game)}")
    return clean(f"{event.id} came to nothing, by no bot's fault")


def _seated(seats: tuple[str, ...]) -> str:
    return ", ".join(f"{label} ({letter})" for letter, label in zip(SEATS, seats, strict=False))


def _outcome(game: GameSummary) -> str:
    ended = (game.ending or game.status).replace("_", " ")
    if not game.ranks:
        return f"{_seated(game.seats)}, {ended}"
    won = [label for label, rank in zip(game.seats, game.ranks, strict=True) if rank == 1]
    told = f"{won[0]} won" if len(won) == 1 else "a draw"
    return f"{told} {':'.join(map(str, game.scores))} ({', '.join(game.seats)}), {ended}, {game.plies} plies"


def event_dict(event: LiveEvent) -> dict[str, Any]:
    """What has happened, for a program."""
    from arena_server.cli.games import summary_dict
    from arena_server.service.reading import Began, Ended, Plies

    if isinstance(event, Began):
        seats, plies = list(event.seats), list(event.plies)
        return {"event": "began", "id": event.id, "seats": seats, "deal": dict(event.deal), "plies": plies}
    if isinstance(event, Plies):
        return {"event": "played", "id": event.id, "ply": event.ply, "plies": list(event.plies)}
    if isinstance(event, Ended):
        return {"event": "ended", **summary_dict(event.game)}
    return {"event": "void", "id": event.id}
