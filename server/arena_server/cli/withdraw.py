"""`arena withdraw`: takes a bot out of a tournament."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from arena_server.cli.options import AsJson, Db, OfTournament

if TYPE_CHECKING:
    from arena_server.store import Tournament


def withdraw(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="Its name, or what the leaderboard calls it.")],
    *,
    tournament: OfTournament = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Take a bot out of a tournament: its open games are cancelled, what it has played counts."""
    from arena_server.cli.output import opened, show_json
    from arena_server.store import queries

    with opened(db, quiet=as_json) as store:
        found = queries.tournament(store, tournament)
        place = _place(found, bot)
        cancelled = store.progress(found).cancelled
        with store.lock(found) as lock:
            held = store.withdraw(lock.tournament, place)
        progress = store.progress(held)
    label, cancelled = held.spec.labels[place], progress.cancelled - cancelled
    if as_json:
        show_json({"tournament": held.name, "withdrawn": label, "cancelled": cancelled, "status": held.status})
        return
    print(f"{label} is withdrawn from {held.name}: {cancelled} of its games are cancelled, those played count")
    print("nothing is left to play" if held.status == "finished" else "the command that plays it goes on without it")


def _place(tournament: Tournament, bot: str) -> int:
    """The entrant's index; raises UserError where there is none of that name, or several that are still in."""
    from arena_server.model import UserError
    from arena_server.store.lists import find_bots

    places = find_bots(tournament, bot)
    out = dict(tournament.spec.withdrawn)
    still_in = [place for place in places if place not in out] or places
    if len(still_in) > 1:
        names = [tournament.spec.labels[place] for place in still_in]
        raise UserError("the bot could be one of several", repr(bot), f"say which: {', '.join(map(repr, names))}")
    return still_in[0]
