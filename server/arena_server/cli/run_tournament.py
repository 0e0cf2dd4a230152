"""`arena run-tournament`: plays a tournament, or goes on with it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from arena_server.cli.options import (
    AsJson,
    Concurrency,
    Db,
    Edition,
    Name,
    New,
    Progress,
    Seed,
    Time,
    database_url,
    program,
)

if TYPE_CHECKING:
    from arena_server.coordinator.event import Event
    from arena_server.coordinator.settings import Settings
    from arena_server.model import Spec
    from arena_server.store import Entered, Store, Tournament


def run_tournament(  # noqa: PLR0913 - each option is one of the user's choices
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SPEC.toml|BOT",
            help="A spec file, or bots, or bots in place of the file's own; nothing: the example bots.",
        ),
    ] = None,
    *,
    name: Name = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="round-robin, gauntlet, match, swiss, knockout, double-elimination or ladder.  [default: round-robin]",
        ),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(help="Games between two bots that meet.  [default: 10; 2 where they meet in rounds]"),
    ] = None,
    rounds: Annotated[int | None, typer.Option(help="Rounds of a swiss or a ladder.")] = None,
    challengers: Annotated[
        int | None, typer.Option(help="A gauntlet: so many, the first, meet all others.  [default: 1]")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="RULE", help="Stop once that is known: 'top 3 at 95%', 'sprt elo1=20'.")
    ] = None,
    seed: Seed = None,
    deals: Annotated[
        str | None, typer.Option(metavar="FILE", help="Play the deals listed there, in turn: see `arena deals make`.")
    ] = None,
    time: Time = None,
    clock: Annotated[
        Literal["wall", "cpu"] | None,
        typer.Option(help="What counts: time on the wall, or the bot's CPU time.  [default: wall]"),
    ] = None,
    concurrency: Concurrency = None,
    restart: Annotated[
        Literal["never", "every game"] | None,
        typer.Option(help="Whether every game gets fresh bot processes.  [default: never]"),
    ] = None,
    db: Db = None,
    report: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Write the report there at the end, as `arena report` does.")
    ] = None,
    edition: Edition = None,
    new: New = False,
    extend: Annotated[
        bool, typer.Option("--extend", help="Add games, rounds or bots to a tournament; nothing is played twice.")
    ] = False,
    init: Annotated[
        bool, typer.Option("--init", help="Write a spec file to begin with, SPEC.toml or spec.toml; play nothing.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it takes - games, time, memory, disk; play nothing.")
    ] = False,
    progress: Annotated[
        Progress, typer.Option(help="auto: a screen on a terminal, else lines; lines; json: an object a line; none.")
    ] = Progress.AUTO,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only errors and the final result.")] = False,
    as_json: AsJson = False,
) -> None:
    """Play a tournament; the same command again goes on with what is unfinished.

    Every option of a setting bears the name of its key in the spec file, and overrides it.
    """
    options = locals()
    _check_modes({"--init": init, "--extend": extend, "--new": new, "--dry-run": dry_run})
    if init:
        _init(what or [], options, as_json=as_json)
    elif dry_run:
        _foresee(_settings(what or [], options), new=new, as_json=as_json)
    else:
        shown = Progress.NONE if quiet else progress
        hold(_settings(what or [], options), new=new, extend=extend, progress=shown, as_json=as_json)


def _check_modes(modes: Mapping[str, bool]) -> None:
    from arena_server.model import UserError

    chosen = [name for name, given in modes.items() if given]
    if len(chosen) > 1 and chosen != ["--new", "--dry-run"]:
        raise UserError(f"{' and '.join(chosen)} contradict each other", "", "leave one of them out")


def hold(
    settings: Settings, *, new: bool, extend: bool = False, progress: Progress = Progress.AUTO, as_json: bool
) -> Tournament:
    """Plays what is unfinished of a tournament and shows it; the tournament as it is then."""
    from arena_server.coordinator.event import Event
    from arena_server.store import queries

    event = Event.of(settings)
    _check_report(settings, None)
    with _opened(settings) as store:
        entered = event.enter(store, new=new, extend=extend)
        _check_report(settings, entered.tournament.name)
        if progress not in (Progress.NONE, Progress.JSON):
            _say_hello(store, entered, event, quiet=as_json)
        if entered.tournament.status != "finished":
            with store.lock(entered.tournament) as lock:
                _play(store, lock.tournament, event, progress, quiet=as_json)
        _show_result(store, entered.tournament, as_json=as_json)
        _write_report(store, settings, entered.tournament, quiet=as_json)
        return queries.tournament(store, entered.tournament.name)


def _foresee(settings: Settings, *, new: bool, as_json: bool) -> None:
    from arena_server.cli.dry_run import print_forecast
    from arena_server.coordinator.event import Event
    from arena_server.store import Store

    event = Event.of(settings)
    with settings.telling("db"):
        found = Store.existing(database_url(settings.db), event.spec, name=settings.name)
    print_forecast(event, None if new else found, as_json=as_json)


def _init(what: list[str], options: Mapping[str, Any], *, as_json: bool) -> None:
    from arena_server.cli.new_spec import write_spec
    from arena_server.coordinator.settings import Settings

    write_spec(what, Settings.said(options), as_json=as_json)


def _settings(what: list[str], options: Mapping[str, Any]) -> Settings:
    """What the command line says, over what its spec file says."""
    from arena_server.coordinator import spec_file
    from arena_server.coordinator.settings import Settings
    from arena_server.model import UserError

    specs = [text for text in what if text.endswith(".toml")]
    bots = [text for text in what if text not in specs]
    given = Settings.said({**options, "bots": bots or None})
    if not specs:
        return given
    if len(specs) > 1:
        raise UserError("more than one spec file", " ".join(specs), "give one; bots beside it stand in for its own")
    if Path(specs[0]).name == "bot.toml":
        raise UserError("a bot's manifest is no spec file", specs[0], "give the bot's folder")
    return given.over(spec_file.read(Path(specs[0])))


def _opened(settings: Settings) -> Store:
    from arena_server.store import Store

    with settings.telling("db"):
        return Store.open(database_url(settings.db))


def _check_report(settings: Settings, tournament: str | None) -> None:
    """Before anything is played: whether the report will find its place; None where the name is not known yet."""
    if settings.report is not None:
        from arena_server.report.folder import check

        with settings.telling("report"):
            check(Path(settings.report), tournament)


def _write_report(store: Store, settings: Settings, tournament: Tournament, *, quiet: bool) -> None:
    if settings.report is not None:
        from arena_server.cli.report import told, write_report

        with settings.telling("report"):
            written = write_report(store, tournament.name, Path(settings.report))
        print(told(written), file=sys.stderr if quiet else sys.stdout)


def _say_hello(store: Store, entered: Entered, event: Event, *, quiet: bool) -> None:
    from rich.console import Console

    out = Console(stderr=quiet, highlight=False, markup=False, soft_wrap=True)
    tournament, spec = entered.tournament, entered.tournament.spec
    out.print(f"database {store.label}")
    for note in entered.notes:
        out.print(note)
    out.print(
        f"tournament {tournament.name}: {spec.format} of {len(spec.entrants)} bots, {length_text(spec)}, "
        f"{spec.time_control} a {'ply' if spec.time_control.bank_us is None else 'game'}, "
        f"{event.capacity} at once, {_deals(tournament)}"
    )
    if spec.seed is None:
        out.print(f"commitment {tournament.commitment}: SHA-256 of the secret, which is revealed at the end")
    progress = store.progress(tournament)
    if not entered.created and progress.open:
        out.print(f"going on: {progress.planned - progress.open} of {progress.planned} games are on record")


def _deals(tournament: Tournament) -> str:
    spec = tournament.spec
    source = f"public seed {spec.seed!r}" if spec.seed is not None else "a secret"
    return f"{len(spec.suite)} listed deals, seeds by {source}" if spec.suite else f"deals by {source}"


def length_text(spec: Spec) -> str:
    """What is played between two, and over how many rounds."""
    rounds = "" if spec.rounds is None else f"{spec.rounds} {'round' if spec.rounds == 1 else 'rounds'}, "
    return f"{rounds}{spec.games} games a pair"


def _play(store: Store, tournament: Tournament, event: Event, progress: Progress, *, quiet: bool) -> None:
    from arena_server.cli import going_on
    from arena_server.cli.live import shown
    from arena_server.coordinator import Interrupted

    with shown(progress, quiet=quiet) as watcher:
        try:
            event.play(store, tournament, watcher)
        except Interrupted as interrupted:
            told = store.progress(tournament)
            line = (
                f"stopped: {told.planned - told.open} of {told.planned} games are on record; "
                f"the same command goes on with the rest: {going_on.command(tournament.name)}"
            )
            if progress is Progress.NONE:
                print(line, file=sys.stderr)
            watcher.notes(line)
            raise SystemExit(128 + interrupted.args[0]) from None


def _show_result(store: Store, tournament: Tournament, *, as_json: bool) -> None:
    """The leaderboard, as `arena leaderboard` prints it, what proves it, and where to look next."""
    from arena_server.cli.leaderboard import print_leaderboard
    from arena_server.service.reading import StoreReader
    from arena_server.store import queries

    print_leaderboard(StoreReader(store), tournament.name, as_json=as_json)
    if not as_json:
        held = queries.tournament(store, tournament.name)
        print(f"\nchain head {held.chain_head} over {held.chain_length} attempts and amendments")
        if held.secret and not held.public_seed:
            print(f"secret {held.secret.hex()}, which hashes to the commitment {held.commitment}")
        print(f"more about it: {program()} crosstable | games list | replay last | verify")
