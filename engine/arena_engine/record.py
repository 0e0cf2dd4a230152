"""Game records, for any game: a JSON object and a text in PGN's habits (file ending ``.patchwork``).

The JSON form holds everything (``record.schema.json``). The text form is for people and holds what a replay needs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from arena_engine import record_text, schema
from arena_engine.game import SEATS, GameError, RecordError, State, find

FORMAT = 1
SUFFIX = ".patchwork"
SCHEMA = schema.load("record")
TAGS = ("Id", "Game", "Date", "TimeControl", "Score", "Winner", "Ranks", "Termination", "Attempt", "Blame", "Reply")
"""The tags of the text form beside the seats and the deal's own."""

REPLY_LIMIT = 200
"""Characters of a failed reply that the text form shows."""

SHOWN = 60
"""Characters of a bad record that an error shows."""

_APART = re.compile(r" (?=[A-Za-z_][\w-]*=)")


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sat at one seat.

    Attributes:
        digest: SHA-256 of the bot's files, in hex; empty where unknown.
        label: as people read it: name and version, and what else sets it apart in its tournament: ``mcts 0.3 c=1.4``.
    """

    bot: str
    version: str = ""
    digest: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", f"{self.bot} {self.version}".rstrip())


@dataclass(frozen=True, slots=True)
class Failed:
    """What one seat did that ended the game.

    Attributes:
        ply: number of the ply asked, from 0.
        seconds: how long it took.
        reply: as given; None where there was none.
        position: the one it was asked in.
        command: what asks the bot once more in that position.
        evidence: its traceback, or the end of its standard error.
        box: what else the arena knew of it then; None where it kept nothing.
    """

    seat: str
    ply: int = 0
    seconds: float = 0.0
    reply: str | None = None
    reason: str = ""
    position: str = ""
    command: str = ""
    evidence: str = ""
    box: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """One game, or one void attempt at it.

    Attributes:
        date: UTC, ISO 8601.
        seconds: duration of the game.
        deal: the game's own keys; beside the others in JSON.
        seed: the bots' and the deal's secret, once revealed.
        moves: accepted moves only.
        movers: a seat letter for each move.
        times: seconds for each move.
        score: in seat order, like ``ranks``; both empty for a void attempt.
        winner: None only for a draw or a void attempt.
        blame: the first of the ``blamed`` seats.
    """

    id: str
    game: str
    deal: Mapping[str, str]
    seats: tuple[Seat, ...]
    format: int = FORMAT
    tournament: str = ""
    number: int = 1
    attempt: int = 1
    rules: str = "1"
    date: str = ""
    seconds: float = 0.0
    time_control: str = "none"
    pairing: int = 1
    seed: str | None = None
    moves: tuple[str, ...] = ()
    movers: str = ""
    times: tuple[float, ...] = ()
    score: tuple[int, ...] = ()
    winner: str | None = None
    ranks: tuple[int, ...] = ()
    termination: str = "normal"
    blame: str | None = None
    blamed: tuple[str, ...] = ()
    failed: Failed | None = None

    def as_dict(self) -> dict[str, Any]:
        """The JSON form as a dict, keys in the order of the schema, the deal's own behind ``pairing``."""
        parts: dict[str, Any] = {
            key: list(part) if isinstance(part, tuple) else part for key, part in asdict(self).items()
        }
        deal = parts.pop("deal")
        ordered: dict[str, Any] = {}
        for key in SCHEMA["properties"]:
            ordered |= {**deal, key: parts[key]} if key == "seed" else {key: parts[key]}
        return ordered

    def to_json(self) -> str:
        """The JSON form on one line."""
        return json.dumps(self.as_dict(), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Reads the JSON form; texts under keys of no other meaning are the deal. Raises RecordError."""
        try:
            data = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise RecordError(_short(text), "", f"no JSON: {error}") from None
        fault = next(schema.faults(data, SCHEMA), None)
        if fault is not None:
            raise RecordError(_short(text), "", f"no game record of format {FORMAT}: {fault}")
        return cls._from_dict(data)

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any]) -> Self:
        known: dict[str, Any] = {
            key: tuple(data[key]) if isinstance(data[key], list) else data[key] for key in SCHEMA["required"]
        }
        known["seats"] = tuple(Seat(**_known(Seat, seat)) for seat in data["seats"])
        known["failed"] = data["failed"] and Failed(**_known(Failed, data["failed"]))
        deal = {key: value for key, value in data.items() if key not in SCHEMA["properties"] and isinstance(value, str)}
        return cls(deal=deal, **known)

    def __post_init__(self) -> None:
        fault = self._fault()
        if fault:
            raise RecordError(self.id, "", fault)

    def _fault(self) -> str:
        letters = SEATS[: len(self.seats)]
        named = {*self.movers, *self.blamed, *filter(None, (self.winner, self.blame, self.failed and self.failed.seat))}
        if not len(self.moves) == len(self.movers) == len(self.times):
            return f"{len(self.moves)} moves, but {len(self.movers)} movers and {len(self.times)} times"
        if not named <= set(letters):
            return (
                f"no such seat: {', '.join(sorted(named - set(letters)))}; the seats are {', '.join(letters) or 'none'}"
            )
        if not {len(self.score), len(self.ranks)} <= {0, len(letters)}:
            return f"{len(letters)} seats, but {len(self.score)} scores and {len(self.ranks)} ranks"
        return ""

    def to_text(self) -> str:
        """The text form; numbering the plies needs the game's engine, so raises GameError where a move is illegal."""
        moves = list(zip(self.movers, self.moves, self.times, strict=True))
        plies, taken = [], 0
        for _, ply, _ in replay(self):
            plies.append(moves[taken : taken + len(ply)])
            taken += len(ply)
        return record_text.write(self._tags(), [*plies[1:], moves[taken:]])

    def _tags(self) -> dict[str, str]:
        seats = {letter: seat.label for letter, seat in zip(SEATS, self.seats, strict=False)}
        deal = {key[:1].upper() + key[1:]: value for key, value in self.deal.items()}
        tags = {"Id": self.id, "Game": self.game, "Date": self.date[:10].replace("-", ".") or "?", **seats, **deal}
        tags |= {"TimeControl": self.time_control, "Score": _join(self.score), "Winner": self.winner or "-"}
        if self.ranks != _plain_ranks(len(self.seats), self.winner, self.score):
            tags["Ranks"] = _join(self.ranks)
        tags["Termination"] = self.termination
        if self.termination != "normal":
            tags |= {"Attempt": str(self.attempt), "Blame": _join(self.blamed) or "-"}
        if self.failed and self.failed.reply is not None:
            tags["Reply"] = f"{self.failed.seat} {self.failed.reply[:REPLY_LIMIT]}"
        return tags

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Reads the text form; what it does not hold has its default. Raises RecordError."""
        tags, moves = record_text.read(text)
        movers, names, times = zip(*moves, strict=True) if moves else ((), (), ())
        try:
            return cls(moves=names, movers="".join(movers), times=times, **_from_tags(tags))
        except KeyError as error:
            raise RecordError(_short(text), "", f"tag [{error.args[0]}] is missing") from None
        except RecordError:
            raise
        except ValueError as error:
            raise RecordError(_short(text), "", f"a tag holds no number where it should: {error}") from None


def replay(record: GameRecord) -> Iterator[tuple[int, dict[str, Any], State]]:
    """Plays a record through its game's engine.

    Yields:
        How many plies were played, the moves of the last one by seat, and the position after it; first
        ``(0, {}, first position)``. Moves of a last ply in which another seat failed were never played.

    Raises:
        GameError: a move the rules refuse (the reason begins with its ply, counted from 1), or an unknown game or deal.
    """
    state = find(record.game).start(record.deal, len(record.seats))
    yield 0, {}, state
    ply = taken = 0
    while taken < len(record.moves):
        until = taken + max(1, len(state.to_move))
        movers = record.movers[taken:until]
        if len(movers) < len(state.to_move):
            return
        ply += 1
        state, moves = _play(state, ply, movers, record.moves[taken:until])
        yield ply, moves, state
        taken = until


def _play(state: State, ply: int, movers: str, texts: Sequence[str]) -> tuple[State, dict[str, Any]]:
    try:
        moves = {seat: state.parse_move(text, seat) for seat, text in zip(movers, texts, strict=True)}
        return state.play(moves), moves
    except GameError as error:
        raise type(error)(error.value, error.position, f"ply {ply}: {error.why}") from None


def _from_tags(tags: Mapping[str, str]) -> dict[str, Any]:
    """The parts of a record that tags give; raises KeyError for a missing tag, ValueError for a bad number."""
    letters = [letter for letter in SEATS if letter in tags]
    if "".join(letters) != SEATS[: len(letters)]:
        raise RecordError(", ".join(letters), "", "the seats are a, b and so on, none left out")
    tournament, _, number = tags["Id"].rpartition("/")
    winner = None if tags["Winner"] == "-" else tags["Winner"]
    score = _split(tags["Score"])
    blamed = tuple(tags.get("Blame", "-").replace("-", "").split())
    seat, space, reply = tags.get("Reply", "").partition(" ")
    return {
        "id": tags["Id"],
        "tournament": tournament,
        "number": int(number.partition(".")[0]),
        "attempt": int(tags.get("Attempt", "1")),
        "game": tags["Game"],
        "date": tags["Date"].replace(".", "-").replace("?", ""),
        "time_control": tags["TimeControl"],
        "seats": tuple(_seat(tags[letter]) for letter in letters),
        "deal": {key[0].lower() + key[1:]: value for key, value in tags.items() if key not in {*TAGS, *letters}},
        "score": score,
        "winner": winner,
        "ranks": _split(tags["Ranks"]) if "Ranks" in tags else _plain_ranks(len(letters), winner, score),
        "termination": _termination(tags["Termination"]),
        "blame": blamed[0] if blamed else None,
        "blamed": blamed,
        "failed": Failed(seat, reply=reply) if space else None,
    }


def _seat(label: str) -> Seat:
    name, _, version = _APART.split(label, maxsplit=1)[0].rpartition(" ")
    return Seat(name or version, version if name else "", label=label)


def _plain_ranks(seats: int, winner: str | None, score: Sequence[int]) -> tuple[int, ...]:
    """The ranks that follow from the winner alone: the others second together, a draw without one."""
    return tuple(1 if winner in (None, letter) else 2 for letter in SEATS[:seats]) if score else ()


def _termination(text: str) -> str:
    known = SCHEMA["properties"]["termination"]["enum"]
    if text not in known:
        raise RecordError(text, "", f"no known termination: {', '.join(known)}")
    return text


def _join(parts: Sequence[object]) -> str:
    return " ".join(map(str, parts))


def _split(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


def _known(kind: type[Seat | Failed], data: Mapping[str, Any]) -> dict[str, Any]:
    """What of a JSON object that class knows: keys may have been added since."""
    return {part.name: data[part.name] for part in fields(kind) if part.name in data}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
