"""The `arena` command: one module a command, imported when it is the one that runs.

How to add a command:

- a line in ``COMMANDS`` below: its name and what it does, in the words of ``--help``;
- a module of that name (``-`` becomes ``_``) with a typer function of that name, or a ``typer.Typer`` for a group;
  options that several commands share come from ``options``;
- what is slow to import is imported inside functions: ``arena COMMAND --help`` must be quick, too;
- errors are raised (``UserError``, ``ArenaError``) and told by ``errors`` alone; another exit code than 0 is
  ``raise typer.Exit(code)``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from arena_server.cli import errors

COMMANDS = {
    "run-tournament": "Play a tournament; the same command again goes on with what is unfinished.",
    "sprt": "Play NEW against OLD until it is known whether NEW is better.",
    "withdraw": "Take a bot out of a tournament: its open games are cancelled, what it has played counts.",
    "leaderboard": "Show the standings of a tournament.",
    "crosstable": "Show who won against whom, and from which seat.",
    "tournaments": "List and show tournaments.",
    "games": "List, show and export games.",
    "replay": "Show a game position by position.",
    "report": "Write a report of a tournament: pages to read and replay, tables and records for programs.",
    "deals": "Make suites of deals.",
    "verify": "Replay and rate every recorded game again and compare.",
    "bridge": "Be a bot whose moves a program of any language chooses, by lines.",
    "serve": "Serve a season: bots dial in and play rated games until the server is stopped.",
    "server": "See what a standing server does, or stop it.",
    "watch": "Watch the games that a server plays now.",
    "season": "List seasons and end them: freeze, close, archive.",
    "join": "Let a bot on this machine play on a server elsewhere.",
    "challenge": "Let two bots play an unrated match on a standing server.",
    "bots": "Register, list, show and retire bots that play on a standing server.",
    "token": "Give a registered bot a token, change it or take it away.",
    "doctor": "Look at what the arena needs from this machine.",
    "version": "Show the versions of the arena and of what it plays.",
}
"""Every command in the order of ``arena --help``."""


class Commands(TyperGroup):
    """Imports the module of a command when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - given by typer
        """Every name."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - given by typer
        """The command of that name; None for an unknown one."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        found = getattr(import_module(f"{__name__}.{name}"), name)
        if not isinstance(found, typer.Typer):
            found, function = _typer(), found
            found.command(cmd_name)(function)
        return typer.main.get_command(found)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments begin with; an unknown one names its neighbour."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            from arena_server.model import UserError

            near = get_close_matches(args[0], COMMANDS, n=1)
            fix = f"did you mean {near[0]}?" if near else "`arena --help` lists them"
            raise UserError("no such command", repr(args[0]), fix)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - given by typer
        """The list in ``arena --help``, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _typer(**settings: Any) -> typer.Typer:
    return typer.Typer(add_completion=False, rich_markup_mode=None, **settings)


app = _typer(cls=Commands, invoke_without_command=True)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        from arena_server.cli.version import version

        version()
        raise typer.Exit


@app.callback()
def arena(
    context: typer.Context,
    *,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version.")
    ] = False,
) -> None:
    """Tournaments of bots: play them, read their results."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command that the arguments name, by default the program's own, and exits."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # read when grpc is imported: what is wrong is told by `errors`
    sys.exit(errors.guard(lambda: _run(given), as_json="--json" in given))


def _run(arguments: list[str]) -> None:
    command = typer.main.get_command(app)
    with command.make_context("arena", arguments) as context:
        command.invoke(context)
    sys.stdout.flush()
