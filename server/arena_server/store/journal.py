"""The journal entry of an attempt: canonical bytes, written once, and the chain of hashes over them.

An entry is canonical JSON, so one value has one byte form, and an edit of either shows. It names its place (tournament
by contract, number, attempt, epoch, commit sequence) and holds all that happened: deal, moves, times, ending, blame.
Seeds are left out: they follow from the secret.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from arena_engine.game import Outcome
from arena_server.model import (
    Assignment,
    BlackBox,
    Ending,
    Failure,
    PlannedGame,
    Played,
    Result,
    Spec,
    Token,
    canonical_json,
)

FORMAT = 1
_PLAIN = 7
"""Fields of a failure behind its seat and ending; its black box comes behind them."""
_EMPTY = BlackBox()


@dataclass(frozen=True, slots=True)
class Entry:
    """A decoded entry: the result (without seeds) and its place in the chain."""

    result: Result
    sequence: int
    contract_sha256: str


@dataclass(frozen=True, slots=True)
class Amendment:
    """A change of the contract, as the chain holds it.

    Attributes:
        number: from 1.
        sequence: its place in the chain.
        stage: the first that is planned by it.
        contract: canonical JSON.
        commitment: SHA-256 of the secret that deals come from since then, in hex.
    """

    number: int
    sequence: int
    stage: int
    contract: str
    commitment: str


def encode_amendment(amendment: Amendment) -> bytes:
    """The canonical bytes."""
    return canonical_json({"format": FORMAT, "amendment": asdict(amendment)})


def contract_sha256(spec: Spec) -> str:
    """What an entry names its tournament by."""
    return hashlib.sha256(canonical_json(spec.contract())).hexdigest()


def first_link(contract: str, commitment: str) -> str:
    """The chain's head before the first attempt: bound to the first contract (its SHA-256) and to its secret."""
    return hashlib.sha256(f"arena chain|{contract}|{commitment}".encode()).hexdigest()


def next_link(head: str, entry: bytes) -> str:
    """The chain's head after one more entry."""
    return hashlib.sha256(bytes.fromhex(head) + entry).hexdigest()


def encode(entry: Entry) -> bytes:
    """The canonical bytes."""
    result, planned = entry.result, entry.result.assignment.planned
    return canonical_json(
        {
            "format": FORMAT,
            "contract": entry.contract_sha256,
            "sequence": entry.sequence,
            "epoch": result.assignment.token.epoch,
            "tournament": planned.tournament,
            "number": planned.number,
            "attempt": result.assignment.token.attempt,
            "stage": planned.stage,
            "pairing": planned.pairing,
            "seats": planned.seats,
            "deal": dict(planned.deal),
            "ending": result.ending,
            "outcome": None if result.outcome is None else [result.outcome.ranks, result.outcome.scores],
            "moves": [_move(move) for move in result.moves],
            "failures": [_failure(failure) for failure in result.failures],
            "position": result.position,
            "started": result.started,
            "duration_us": result.duration_us,
            "stalled_us": result.stalled_us,
            "alone": result.assignment.alone,
            "reason": result.reason,
        }
    )


def decode(data: bytes, spec: Spec) -> Entry:
    """Reads ``encode`` back; raises ValueError where the bytes are no entry.

    Args:
        data: the bytes.
        spec: of the tournament.
    """
    try:
        fields = json.loads(data)
        if fields["format"] != FORMAT:
            raise ValueError(fields["format"])
        return Entry(_result(fields, spec), fields["sequence"], fields["contract"])
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"no journal entry: {error!r}") from error


def _move(move: Played) -> list[object]:
    fields: list[object] = [move.ply, move.seat, move.move, move.used_us, move.credit_us, move.own_us, move.log]
    if move.stolen_us or move.cpu_us is not None:  # what came later is absent where it is default, to keep old bytes
        later = {"stolen_us": move.stolen_us or None, "cpu_us": move.cpu_us}
        fields.append({key: value for key, value in later.items() if value is not None})
    return fields


def _played(fields: list[Any]) -> Played:
    ply, seat, move, used_us, credit_us, own_us, log, *later = fields
    return Played(ply, seat, move, used_us, credit_us, own_us, tuple(log), **(later[0] if later else {}))


def _failure(failure: Failure) -> list[object]:
    box = [] if failure.box is None else [_box(failure.box)]
    return [
        failure.seat,
        failure.ending,
        failure.ply,
        failure.reason,
        failure.used_us,
        failure.credit_us,
        failure.reply,
        failure.position,
        failure.evidence,
        *box,
    ]


def _box(box: BlackBox) -> dict[str, object]:
    """What was known."""
    return {key: value for key, value in asdict(box).items() if value != getattr(_EMPTY, key)}


def _failed(fields: list[Any]) -> Failure:
    seat, ending, *rest = fields
    known = [BlackBox(**{**box, "messages": tuple(box.get("messages", ()))}) for box in rest[_PLAIN:]]
    return Failure(seat, Ending(ending), *rest[:_PLAIN], *known)


def _result(fields: dict[str, Any], spec: Spec) -> Result:
    planned = PlannedGame(
        tournament=fields["tournament"],
        number=fields["number"],
        stage=fields["stage"],
        pairing=fields["pairing"],
        seats=tuple(fields["seats"]),
        deal=fields["deal"],
    )
    token = Token(fields["epoch"], fields["attempt"])
    outcome = fields["outcome"]
    return Result(
        assignment=Assignment(planned, token, spec, seeds=(), alone=fields["alone"]),
        ending=Ending(fields["ending"]),
        outcome=None if outcome is None else Outcome(tuple(outcome[0]), tuple(outcome[1])),
        moves=tuple(_played(move) for move in fields["moves"]),
        failures=tuple(_failed(failure) for failure in fields["failures"]),
        position=fields["position"],
        started=fields["started"],
        duration_us=fields["duration_us"],
        stalled_us=fields["stalled_us"],
        reason=fields["reason"],
    )
