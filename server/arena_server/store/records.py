"""A journal entry as the public record of a game."""

from __future__ import annotations

from dataclasses import asdict, replace

from arena_engine.record import Failed, GameRecord, Seat
from arena_server.model import Entrant, Failure, Result
from arena_server.store import journal
from arena_server.store.views import Status, Tournament


def record(tournament: Tournament, entry: bytes, *, last: bool = True) -> GameRecord:
    """The record; raises ValueError where the bytes are no entry (``verify`` tells more).

    Args:
        tournament: whose game.
        entry: of an attempt.
        last: whether it is the last attempt; an earlier one does not count.
    """
    return record_of(tournament, journal.decode(entry, tournament.spec).result, last=last)


def record_of(tournament: Tournament, result: Result, *, last: bool = True) -> GameRecord:
    """The record of what the journal holds."""
    planned, token = result.assignment.planned, result.assignment.token
    attempt = "" if result.ending.rated and last else f".{token.attempt}"
    game_id = f"{tournament.name}/{planned.number}{attempt}"
    failed = _failed(result.failures[0], game_id) if result.failures else None
    return replace(unlisted(result), id=game_id, seed=_seed(tournament, planned.stage), failed=failed)


def unlisted(result: Result) -> GameRecord:
    """The record of a game of no tournament: its id finds it nowhere, and what its deal follows from is not known."""
    assignment = result.assignment
    planned, spec = assignment.planned, assignment.spec
    return GameRecord(
        id=assignment.game_id,
        tournament=planned.tournament,
        number=planned.number,
        attempt=assignment.token.attempt,
        game=spec.game,
        rules=spec.rules,
        date=result.started,
        seconds=result.duration_us / 1e6,
        time_control=str(spec.time_control),
        pairing=planned.pairing,
        deal=planned.deal,
        seed=None,
        seats=tuple(map(_seat, result.assignment.entrants, result.assignment.labels)),
        moves=tuple(played.move for played in result.moves),
        movers="".join(played.seat for played in result.moves),
        times=tuple(played.charged_us / 1e6 for played in result.moves),
        score=() if result.outcome is None else result.outcome.scores,
        ranks=() if result.outcome is None else result.outcome.ranks,
        winner=_winner(result),
        termination=str(result.ending),
        blame=result.blamed[0] if result.blamed else None,
        blamed=result.blamed,
        failed=_failed(result.failures[0], "") if result.failures else None,
    )


def _seed(tournament: Tournament, stage: int) -> str | None:
    """What deals and bot seeds follow from: the public seed's text, or the secret in hex once it is revealed."""
    if tournament.public_seed:
        return tournament.spec.seed
    return tournament.at(stage).secret.hex() if tournament.status is Status.FINISHED else None


def _seat(entrant: Entrant, label: str) -> Seat:
    return Seat(entrant.name, entrant.version, entrant.digest, dict(entrant.options), label)


def _winner(result: Result) -> str | None:
    """The seat that ranks first alone."""
    if result.outcome is None or result.outcome.ranks.count(1) != 1:
        return None
    return result.assignment.planned.letters[result.outcome.ranks.index(1)]


def _failed(failure: Failure, game_id: str) -> Failed:
    return Failed(
        seat=failure.seat,
        ply=failure.ply,
        seconds=failure.charged_us / 1e6,
        reply=failure.reply,
        reason=failure.reason,
        position=failure.position,
        command=failure.command(game_id) if game_id else "",
        evidence=failure.evidence,
        box=None if failure.box is None else asdict(failure.box),
    )
