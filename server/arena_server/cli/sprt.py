"""`arena sprt`: two bots play until a sequential test is decided."""

from __future__ import annotations

from typing import Annotated

import typer

from arena_server.cli.options import AsJson, Concurrency, Db, Edition, Name, New, Seed, Time

MOST_GAMES = 20_000


def sprt(  # noqa: PLR0913 - each option is one of the user's choices
    new_bot: Annotated[str, typer.Argument(metavar="NEW", help="The bot that may be better.")],
    old_bot: Annotated[str, typer.Argument(metavar="OLD", help="The bot to compare with: also other options of NEW.")],
    *,
    elo0: Annotated[float, typer.Option(help="How much better NEW is by the lower hypothesis.")] = 0,
    elo1: Annotated[float, typer.Option(help="How much better NEW is by the higher hypothesis.")] = 10,
    alpha: Annotated[float, typer.Option(help="Chance of accepting elo1 where elo0 is true.")] = 0.05,
    beta: Annotated[float, typer.Option(help="Chance of accepting elo0 where elo1 is true.")] = 0.05,
    normalised: Annotated[
        bool, typer.Option("--normalised", help="Elo in deviations of a game: draws do not lengthen the test.")
    ] = False,
    games: Annotated[int, typer.Option(metavar="MAX", help="Games after which it ends undecided.")] = MOST_GAMES,
    name: Name = None,
    seed: Seed = None,
    time: Time = None,
    concurrency: Concurrency = None,
    db: Db = None,
    edition: Edition = None,
    new: New = False,
    as_json: AsJson = False,
) -> None:
    """Play NEW against OLD until it is known whether NEW is better.

    It stops by itself, at any concurrency after the same pair of games; the same command goes on with it. Exit code 0:
    the test was decided, for NEW or against it (the last line says which; with --json `verdict`); 1: it was not, by MAX
    games.
    """
    options = locals()
    from arena_server.cli.run_tournament import hold
    from arena_server.coordinator.settings import Settings
    from arena_server.ratings.sprt import Sprt
    from arena_server.ratings.stopping import Better

    until = str(Better(Sprt(elo0, elo1, alpha, beta, normalised)))
    asked = Settings.said({**options, "bots": [new_bot, old_bot], "format": "match", "until": until})
    held = hold(asked, new=new, as_json=as_json)
    if held.stopped is None:
        raise typer.Exit(1)
