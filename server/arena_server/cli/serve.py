"""`arena serve`: a standing server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena_server.cli.options import AsJson, Db


def serve(  # noqa: PLR0913 - each option is one of the user's choices
    config: Annotated[
        Path | None, typer.Argument(metavar="CONFIG.toml", help="Settings; options and ARENA_SERVE_* come first.")
    ] = None,
    *,
    listen: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST:PORT", help="Where to dial in; repeatable.  [default: 127.0.0.1:5400]"),
    ] = None,
    bot: Annotated[
        list[str] | None, typer.Option(metavar="BOT", help="A house bot, launched here; repeatable.")
    ] = None,
    season: Annotated[str | None, typer.Option(help="Name of the season.  [default: season]")] = None,
    anchor: Annotated[
        list[str] | None, typer.Option(metavar="BOT=ELO", help="Fix a bot's Elo, so that seasons compare; repeatable.")
    ] = None,
    time: Annotated[str | None, typer.Option(help="1s a ply, 60s+1s, or 60s+1s/5s.  [default: 1s]")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Games at once.  [default: 2]")] = None,
    admission: Annotated[
        bool | None,
        typer.Option("--admission/--no-admission", help="Test bots from elsewhere before rated games.  [default: yes]"),
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate chain, PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its private key, PEM.")] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Let the wire be plain beyond this machine: tokens can be read there.")
    ] = False,
    socket: Annotated[Path | None, typer.Option(help="A Unix socket for this user alone.")] = None,
    metrics: Annotated[int | None, typer.Option(help="Port of Prometheus metrics on 127.0.0.1; 0: any.")] = None,
    dev: Annotated[bool, typer.Option("--dev", help="Let clients ask what services there are.")] = False,
    db: Db = None,
    as_json: AsJson = False,  # noqa: ARG001 - lines are JSON anyhow; errors heed it
) -> None:
    """Serve a season: bots dial in and play rated games until the server is stopped. It logs lines of JSON."""
    from arena_server.service.serving import Serving
    from arena_server.service.settings import read

    said = {
        "listen": listen,
        "bots": bot,
        "season": season,
        "anchor": anchor,
        "time": time,
        "concurrency": concurrency,
        "admission": admission,
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "insecure": insecure or None,
        "socket": socket,
        "metrics": metrics,
        "dev": dev or None,
        "db": db,
    }
    Serving.of(read(config, {key: value for key, value in said.items() if value is not None})).run()
