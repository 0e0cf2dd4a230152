"""How a bot does in a tournament: its row of the standings, its opponents, its games. It shows no date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from arena_engine.game import SEATS
from arena_server.cli.crosstable import score_dict, won_lost
from arena_server.cli.games import summary_dict
from arena_server.cli.grids import Column, Grid
from arena_server.cli.leaderboard import standing_dict
from arena_server.cli.output import say, show
from arena_server.cli.tables import failures_text, margin_text, marked_bot
from arena_server.text import clean

if TYPE_CHECKING:
    from arena_server.service.reading import BotGame, BotPage
    from arena_server.store.crosstable import Score


def print_report(page: BotPage) -> None:
    """Prints it."""
    standing, name = page.standing, page.tournament.name
    say(f"tournament {name}: {clean(marked_bot(standing))} is at rank {standing.rank}")
    say(
        f"mu {standing.mu:.2f}, sigma {standing.sigma:.2f}, mu-3sigma {standing.rating.conservative:.2f}; "
        f"{standing.games} games: {standing.wins} won, {standing.losses} lost, {standing.draws} drawn; "
        f"failures: {failures_text(standing.failures)}"
    )
    if standing.parked is not None:
        say(clean(f"parked since game {standing.parked.number}: {standing.parked.why}"))
    if page.opponents.cells:
        print()
        show(_opponents_grid(page))
    if page.games:
        print()
        show(_games_grid(page))
    if page.following is not None:
        print(f"more: --before {page.following}")


def _opponents_grid(page: BotPage) -> Grid:
    columns = (Column("against", left=True), Column("W-L"), Column("margin", spare=1))
    return Grid(columns, [(label, won_lost(score), margin_text(score.margin)) for label, score in _opponents(page)])


def _opponents(page: BotPage) -> Iterator[tuple[str, Score]]:
    """Whom it met, in the order of entry."""
    labels = page.tournament.spec.labels
    for (row, column), cell in sorted(page.opponents.cells.items()):
        if row == page.standing.position:
            yield labels[column], cell.total


def _games_grid(page: BotPage) -> Grid:
    columns = (
        Column("game"),
        Column("seat", left=True, spare=5),
        Column("against", left=True),
        Column("rank"),
        Column("score"),
        Column("ended", left=True, wraps=True, spare=1),
        Column("mu", spare=4),
        Column("sigma", spare=4),
        Column("moves", spare=6),
        Column("median ms", spare=2),
        Column("longest ms", spare=3),
    )
    return Grid(columns, map(_game_row, page.games))


def _game_row(one: BotGame) -> Sequence[str]:
    played, game = one.played, one.played.game
    others = [label for seat, label in enumerate(game.seats) if seat != played.seat]
    return (
        str(game.number),
        SEATS[played.seat],
        ", ".join(others),
        str(game.ranks[played.seat]),
        ":".join(map(str, game.scores)),
        (game.ending or game.status).replace("_", " ") + (" (its own)" if played.failure else ""),
        f"{played.rating.mu:.2f}",
        f"{played.rating.sigma:.2f}",
        str(one.moves),
        f"{one.median_us / 1e3:.1f}" if one.moves else "-",
        f"{one.longest_us / 1e3:.1f}" if one.moves else "-",
    )


def report_dict(page: BotPage) -> dict[str, Any]:
    """The JSON form."""
    return {
        "tournament": page.tournament.name,
        **standing_dict(page.standing),
        "opponents": [{"label": label, **score_dict(score)} for label, score in _opponents(page)],
        "history": [_game_dict(one) for one in page.games],
        "next_before": page.following,
    }


def _game_dict(one: BotGame) -> dict[str, Any]:
    played = one.played
    return {
        **summary_dict(played.game),
        "seat": SEATS[played.seat],
        "mu": played.rating.mu,
        "sigma": played.rating.sigma,
        "failure": played.failure,
        "moves": one.moves,
        "median_us": one.median_us,
        "longest_us": one.longest_us,
    }
