"""`arena bridge`: a bot whose moves a program of any language chooses."""

from __future__ import annotations

from typing import Annotated

import typer

from arena_server.model import TimeControl, UserError


def bridge(
    command: Annotated[list[str], typer.Argument(metavar="PROGRAM", help="Its words, behind --.")],
    *,
    start_limit: Annotated[str, typer.Option(help="How long it may take to be ready for a game.")] = "30s",
) -> None:
    """Be a bot whose moves a program of any language chooses, by lines.

    It reads them on its standard input and answers on its standard output: docs/bridge.md.
    """
    seconds = _seconds(start_limit)
    from arena_sdk.bridge import play

    raise typer.Exit(play(command, seconds))


def _seconds(text: str) -> float:
    control = TimeControl.parse(text)
    if control.limit_us is None or control.bank_us is not None or control.cpu:
        raise UserError("not a start limit", repr(text), "give a duration with its unit: 30s")
    return control.limit_us / 1e6
