"""`arena deals`: suites of deals, screened by self-play."""

from __future__ import annotations

import os
import secrets
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count as counting
from itertools import islice
from pathlib import Path
from typing import IO, Annotated

import typer

from arena_engine.game import SEATS, DealError, find
from arena_engine.suites import Candidate, Screening, candidate
from arena_server.cli.options import AsJson, Edition, group, program
from arena_server.model import UserError

GAME = "patchwork"
PATIENCE = 1000
"""Candidates in a row that may be screened out."""
AHEAD = 2
"""Candidates under way or waiting, per job."""

deals = group("Make suites of deals.")


@deals.callback()
def _group() -> None:
    """Make suites of deals."""


@deals.command()
def make(  # noqa: PLR0913 - each option is one of the organiser's choices
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write; a file that exists is never replaced.")],
    *,
    count: Annotated[int, typer.Option(min=1, max=100_000, help="How many deals.")] = 50,
    games: Annotated[int, typer.Option(min=8, max=100_000, help="Self-played games a deal.")] = 96,
    window: Annotated[
        float, typer.Option(min=0.01, max=0.5, help="How far a seat's share of wins may be from an equal one.")
    ] = 0.08,
    playouts: Annotated[int, typer.Option(min=1, max=1_000_000, help="How hard each move is thought about.")] = 400,
    edition: Edition = None,
    seed: Annotated[str | None, typer.Option(help="The same suite again.  [default: another one each time]")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, max=256, help="Deals screened at once.  [default: cores]")] = None,
    as_json: AsJson = False,
) -> None:
    """Write balanced deals. In quick self-play neither seat of any of them wins by the deal alone."""
    from arena_server.cli.output import show_json
    from arena_server.cli.progress import Progress

    seed = secrets.token_hex(8) if seed is None else seed
    search = _Search(edition, Screening(games, window, playouts), seed, jobs or _cores())
    head = f"# arena deals make --count {count} --games {games} --window {window:g} --playouts {playouts} --seed {seed}"
    tried = 0
    with _new(out) as file, Progress(f"deals found ({games} games each)") as progress:
        print(head + (f" --edition {edition}" if edition else ""), file=file)
        for found, (number, line) in enumerate(islice(search.found(), count), 1):
            tried = number
            print(line, file=file, flush=True)
            progress.tell(found, count)
    if as_json:
        show_json({"file": str(out), "deals": count, "tried": tried, "seed": seed})
    else:
        print(
            f"{out}: {count} balanced deals of {tried} tried; play them with `{program()} run-tournament --deals {out}`"
        )


class _Search:
    """Candidates, several screened at once; found in the order of their numbers, however many those are."""

    def __init__(self, edition: str | None, screening: Screening, seed: str, jobs: int) -> None:
        self._game = find(GAME)
        try:
            self._options = self._game.options({} if edition is None else {"edition": edition})
        except DealError as error:
            raise UserError("no such edition", repr(edition), error.why) from None
        self._screening = screening
        self._seed = seed
        self._jobs = jobs

    def found(self) -> Iterator[tuple[int, str]]:
        """How many were tried, and the line of each deal that is balanced."""
        with ThreadPoolExecutor(self._jobs) as pool:  # the searches leave the interpreter to each other
            numbers = counting(1)
            running = deque(self._screen(pool, number) for number in islice(numbers, AHEAD * self._jobs))
            last = 0
            try:
                for tried in counting(1):
                    screened = running.popleft().result()
                    running.append(self._screen(pool, next(numbers)))
                    if screened.shares is not None:
                        last = tried
                        yield tried, self._line(screened.deal, screened.shares)
                    elif tried - last == PATIENCE:
                        fix = "widen --window, or let it think harder with --playouts"
                        raise UserError("no balanced deal", f"none of the last {PATIENCE} passed", fix)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _screen(self, pool: Executor, number: int) -> Future[Candidate]:
        seats = self._game.min_seats
        return pool.submit(_candidate, self._options, seats, self._screening, f"{self._seed}|{number}")

    def _line(self, deal: Mapping[str, str], shares: Sequence[float]) -> str:
        won = " ".join(f"{seat} {share:.0%}" for seat, share in zip(SEATS, shares, strict=False))
        return f"{self._game.deal_text(deal)}  # {won}"


def _candidate(options: Mapping[str, str], seats: int, screening: Screening, seed: str) -> Candidate:
    return candidate(find(GAME), options, seats, screening, seed)


def _cores() -> int:
    return len(os.sched_getaffinity(0))


@contextmanager
def _new(path: Path) -> Iterator[IO[str]]:
    try:
        file = path.open("x", encoding="utf-8")
    except OSError as error:
        fix = "give another name" if isinstance(error, FileExistsError) else "give a folder that you can write to"
        raise UserError(f"cannot write the suite: {error.strerror}", path, fix) from None
    with file:
        yield file
