"""`arena season`: how far seasons are, and the steps of their end. Works on the database, also while a server plays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_server.cli.options import AsJson, Db, Socket, group

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena_server.cli.grids import Grid
    from arena_server.service.final_table import Final
    from arena_server.service.reading import Reader
    from arena_server.store import Progress, Season

season = group("List seasons and end them: freeze, close, archive.")

Name = Annotated[str, typer.Argument(metavar="SEASON", help="Which one.")]


@season.command("list")
def list_(*, server: Socket = None, db: Db = None, as_json: AsJson = False) -> None:
    """List seasons, and how far they are."""
    from arena_server.cli.output import administrator, show, show_json

    with administrator(db, server, quiet=as_json) as office:
        found = office.seasons()
    if as_json:
        show_json({"seasons": [season_dict(one) for one in found]})
    elif found:
        show(_grid(found))
    else:
        print("no season yet: arena serve")


@season.command()
def show(name: Name, *, server: Socket = None, db: Db = None, as_json: AsJson = False) -> None:
    """Show a season with its table. What decides it stands beside the rank on the ladder."""
    from arena_server.cli.output import administrator, reader

    with administrator(db, server, quiet=as_json) as office, reader(db, server, None, quiet=True) as source:
        _tell(source, office.season(name), as_json=as_json)


@season.command()
def freeze(name: Name, *, server: Socket = None, db: Db = None, as_json: AsJson = False) -> None:
    """Plan no more games. Nobody joins any more, what is planned is played; there is no way back."""
    from arena_server.cli.output import administrator, show_json

    with administrator(db, server, quiet=as_json) as office:
        found = office.freeze(name)
    if as_json:
        show_json(season_dict(found))
        return
    print(f"{found.ladder.name} is {found.phase}: game {found.ladder.spec.frozen} is the last of its ladder")
    _say_next(found)


@season.command()
def close(  # noqa: PLR0913 - each option is one of the user's choices
    name: Name,
    *,
    top: Annotated[int | None, typer.Option(metavar="N", help="Only the best N by the frozen table.")] = None,
    games: Annotated[int | None, typer.Option(metavar="M", help="Games between each two.  [default: 10]")] = None,
    server: Socket = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Have a frozen season decided. A server plays a round-robin among those that still play."""
    from arena_server.cli.output import administrator, show_json

    with administrator(db, server, quiet=as_json) as office:
        found = office.close_season(name, top=top, games=games)
    if as_json:
        show_json(season_dict(found))
        return
    if found.closing is not None:
        spec = found.closing.spec
        print(
            f"{found.closing.name} decides {found.ladder.name}: {len(spec.entrants)} bots, "
            f"{spec.games} games between each two of different owners"
        )
    _say_next(found)


@season.command()
def archive(
    name: Name,
    *,
    without_closing: Annotated[
        bool, typer.Option("--without-closing", help="Let the season's own table decide it.")
    ] = False,
    server: Socket = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """Finish a season that is decided. Its secrets are revealed; there is no way back."""
    from arena_server.cli.output import administrator, reader

    with administrator(db, server, quiet=as_json) as office, reader(db, server, None, quiet=True) as source:
        _tell(source, office.archive(name, without_closing=without_closing), as_json=as_json)


def season_dict(found: Season) -> dict[str, Any]:
    """The JSON form."""
    from arena_server.cli.tournaments import games_dict

    closing, progress = found.closing, found.closing_progress
    return {
        "season": found.ladder.name,
        "phase": found.phase,
        "last_game": found.ladder.spec.frozen,
        "games": games_dict(found.progress),
        "bots": len(found.ladder.spec.entrants),
        "closing": closing
        and {
            "tournament": closing.name,
            "bots": len(closing.spec.entrants),
            "games_between_two": closing.spec.games,
            "games": progress and games_dict(progress),
        },
        "chain_head": found.ladder.chain_head,
    }


def final_dict(row: Final) -> dict[str, Any]:
    """A row of the final table."""
    from arena_server.cli.full_leaderboard import estimate_dict

    closing = row.closing
    return {
        "rank": row.rank,
        "label": row.ladder.label,
        "elo": estimate_dict(row.elo),
        "rank_range": row.ranks and list(row.ranks),
        "games": closing and closing.games,
        "wins": closing and closing.wins,
        "losses": closing and closing.losses,
        "draws": closing and closing.draws,
        "ladder": {"rank": row.ladder.rank, "conservative": row.ladder.rating.conservative, "games": row.ladder.games},
    }


def _tell(source: Reader, found: Season, *, as_json: bool) -> None:
    """All about one season."""
    from arena_server.cli.output import show, show_json
    from arena_server.service.final_table import final_table

    rows = final_table(source, found)
    if as_json:
        show_json({**season_dict(found), "table": [final_dict(row) for row in rows]})
        return
    print(f"season {found.ladder.name} is {found.phase}: {found.progress}")
    if found.closing is not None:
        print(f"its closing round-robin {found.closing.name}: {found.closing_progress}")
    show(_final_grid(rows, decided=found.closing is not None))
    for held in (found.ladder, found.closing):
        if held is not None and found.phase == "archived":
            print(f"chain head of {held.name}: {held.chain_head} over {held.chain_length} attempts and amendments")
    _say_next(found)


def _say_next(found: Season) -> None:
    """What is to be waited for, or done."""
    name, left = found.ladder.name, found.progress.open
    if found.phase == "frozen" and left:
        print(f"{left} games of it are still to be played; once they are over: arena season close {name}")
    elif found.phase == "frozen":
        print(f"then: arena season close {name}")
    elif found.phase == "closing" and found.closing_progress is not None:
        print(f"{found.closing_progress.open or 'all'} games of it are to be played; then: arena season archive {name}")
    elif found.phase == "closed":
        print(f"then: arena season archive {name}")
    elif found.phase == "archived":
        print(f"its secrets are revealed: arena tournaments show {name} --json")


def _grid(found: Sequence[Season]) -> Grid:
    from arena_server.cli.grids import Column, Grid

    columns = (
        Column("season", left=True),
        Column("phase", left=True),
        Column("games"),
        Column("bots"),
        Column("closing", left=True),
        Column("games"),
    )
    return Grid(columns, [_row(one) for one in found])


def _row(one: Season) -> Sequence[str]:
    closing = "-" if one.closing is None else one.closing.name
    bots = str(len(one.ladder.spec.entrants))
    return one.ladder.name, one.phase, _played(one.progress), bots, closing, _played(one.closing_progress)


def _played(progress: Progress | None) -> str:
    return "-" if progress is None else f"{progress.planned - progress.open}/{progress.planned}"


def _final_grid(rows: Sequence[Final], *, decided: bool) -> Grid:
    """Without what only a closing round-robin can say, where there is none."""
    from arena_server.cli.grids import Column, Grid

    closing = (Column("Elo"), Column("95 %", spare=1), Column("ranks"), Column("W-L", spare=2))
    columns = (
        Column("#"),
        Column("bot", left=True),
        *(closing if decided else ()),
        Column("on the ladder"),
        Column("mu-3sigma", spare=3),
    )
    return Grid(columns, [_final_row(row, decided=decided) for row in rows])


def _final_row(row: Final, *, decided: bool) -> Sequence[str]:
    from arena_server.cli.tables import marked

    ladder, parked = row.ladder, (row.closing or row.ladder).parked is not None
    return (
        str(row.rank),
        marked(ladder.label, withdrawn=ladder.withdrawn, parked=parked),
        *(_decided_by(row) if decided else ()),
        str(ladder.rank),
        f"{ladder.rating.conservative:.2f}",
    )


def _decided_by(row: Final) -> Sequence[str]:
    from arena_server.cli.full_leaderboard import interval, rank_range, signed
    from arena_server.cli.tables import won_lost

    return (
        signed(row.elo.value) if row.elo else "-",
        interval(row.elo) if row.elo else "-",
        rank_range(*row.ranks) if row.ranks else "-",
        won_lost(row.closing, draws=bool(row.closing.draws)) if row.closing else "-",
    )
