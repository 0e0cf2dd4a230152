"""`arena games`: list, show, export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_engine.game import SEATS
from arena_server.cli.export import Form
from arena_server.cli.options import AsJson, Ca, Db, Insecure, OfTournament, Server, again, group
from arena_server.model import Ending

if TYPE_CHECKING:
    from arena_engine.record import GameRecord
    from arena_server.cli.grids import Grid
    from arena_server.store import Store
    from arena_server.store.lists import GameSummary

GAME_HELP = "An id (nightly/17), a unique beginning of it, a number, or `last`."
PAGE = 100
LAST_NUMBER = 10**9


Bot = Annotated[str | None, typer.Option(metavar="BOT", help="Only games of this bot: a name, or name and version.")]

games = group("List, show and export games.")


@games.command("list")
def list_games(  # noqa: PLR0913 - each option is one of the reader's choices
    *,
    bot: Bot = None,
    opponent: Annotated[str | None, typer.Option(metavar="BOT", help="Only games in which this one sits, too.")] = None,
    ending: Annotated[
        Ending | None, typer.Option(metavar="ENDING", help="Only games that ended so: timeout, illegal_move ...")
    ] = None,
    stage: Annotated[int | None, typer.Option(min=1, max=LAST_NUMBER, help="Only games of this stage.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = PAGE,
    after: Annotated[int, typer.Option(min=0, max=LAST_NUMBER, help="Only games after this number.")] = 0,
    tournament: OfTournament = None,
    server: Server = None,
    ca: Ca = None,
    insecure: Insecure = False,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """List the games of a tournament in schedule order."""
    from arena_server.cli.output import reader, show, show_json
    from arena_server.store.lists import Choice

    choice = Choice(bot, opponent, ending, stage)
    with reader(db, server, ca, insecure=insecure, quiet=as_json) as source:
        name, page = source.games(tournament, choice, after=after, limit=limit)
    if as_json:
        shown = [summary_dict(game) for game in page.games]
        show_json({"tournament": name, "games": shown, "next_after": page.following})
        return
    print(f"tournament {name}" + ("" if page.games else ": no games" + (f" after {after}" if after else "")))
    if page.games:
        show(_grid(page.games))
    if page.following is not None:
        print(f"more: --after {page.following}")


@games.command("show")
def show_game(  # noqa: PLR0913 - each option is one of the reader's choices
    game: Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP)],
    *,
    server: Server = None,
    ca: Ca = None,
    insecure: Insecure = False,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Show how a game ended, why, and how long everything took."""
    from arena_server.cli.game_report import report_dict, report_text
    from arena_server.cli.output import reader, show_json

    with reader(db, server, ca, insecure=insecure, quiet=as_json) as source:
        record, result = source.game(game)
    where = again(db, server, ca, insecure=insecure)
    if as_json:
        show_json(report_dict(record, result, where))
    else:
        print(report_text(record, result, where))


@games.command("export")
def export_games(  # noqa: PLR0913 - each option is one of the reader's choices
    game: Annotated[str | None, typer.Argument(metavar="GAME", help=GAME_HELP)] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every game of the tournament.")] = False,
    bot: Bot = None,
    all_attempts: Annotated[bool, typer.Option("--all-attempts", help="With --all: void attempts, too.")] = False,
    form: Annotated[Form, typer.Option("--format", help="JSON lines, text, or a page that replays.")] = Form.JSONL,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write there.  [default: print]")] = None,
    tournament: OfTournament = None,
    db: Db = None,
) -> None:
    """Write game records; the first line of output is the first record."""
    from arena_server.cli.output import opened
    from arena_server.model import UserError

    if (game is None) is not everything:
        given = "neither GAME nor --all" if game is None else f"{game} and --all"
        raise UserError("which games?", given, "give one GAME, or --all for every game of a tournament")
    if all_attempts and form is Form.HTML:
        raise UserError("a page shows no void attempts", "--all-attempts", "name one as GAME: nightly/17.1")
    with opened(db, quiet=output is None) as store:
        records = _chosen(store, game, tournament, bot=bot, all_attempts=all_attempts)
        _write(records, form, output)


def _chosen(
    store: Store, game: str | None, tournament: str | None, *, bot: str | None, all_attempts: bool
) -> Iterator[GameRecord]:
    from arena_server.store import queries

    if game is not None:
        return iter([queries.record(store, queries.find_game(store, game))])
    return queries.export(store, queries.tournament(store, tournament), bot=bot, all_attempts=all_attempts)


def _write(records: Iterator[GameRecord], form: Form, output: Path | None) -> None:
    from arena_server.cli.export import print_records, write_records

    if output is None:
        print_records(records, form)
        return
    number = write_records(records, output, form)
    print(f"{number} game{'s' if number != 1 else ''} written to {output}")


def _grid(page: Sequence[GameSummary]) -> Grid:
    from arena_server.cli.grids import Column, Grid

    letters = SEATS[: len(page[0].seats)]
    columns = (
        Column("game"),
        *[Column(letter, left=True) for letter in letters],
        Column("score"),
        Column("winner", left=True),
        Column("ended", left=True, wraps=True, spare=1),
        Column("plies", spare=2),
    )
    return Grid(columns, [_row(game, letters) for game in page])


def _row(game: GameSummary, letters: str) -> Sequence[str]:
    winner = letters[game.ranks.index(1)] if game.ranks.count(1) == 1 else "draw" if game.ranks else "-"
    return (
        str(game.number),
        *game.seats,
        ":".join(map(str, game.scores)) or "-",
        winner,
        (game.ending or game.status).replace("_", " "),
        "-" if game.plies is None else str(game.plies),
    )


def summary_dict(game: GameSummary) -> dict[str, Any]:
    """The JSON form of a row."""
    return {
        "id": game.id,
        "number": game.number,
        "pairing": game.pairing,
        "seats": list(game.seats),
        "status": game.status,
        "ending": game.ending,
        "ranks": list(game.ranks),
        "scores": list(game.scores),
        "plies": game.plies,
    }
