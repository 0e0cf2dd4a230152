"""The store's values as messages and back, pair by pair: what is sent is what is read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from arena.v1 import leaderboard_pb2 as pb
from arena.v1.referee_pb2 import ENDING_UNSPECIFIED
from arena.v1.referee_pb2 import Ending as EndingNumber
from arena.v1.referee_pb2 import Option as OptionMessage
from arena_engine.game import SEATS
from arena_server.formats import Place
from arena_server.model import FAILURES, About, Ending, Entrant, Option, UserError
from arena_server.ratings import Rating
from arena_server.ratings.fold import Finished
from arena_server.referee.messages import ENDINGS
from arena_server.service.reading import Began, BotGame, Details, Ended, LiveEvent, Plies, Table, Void
from arena_server.store import GameStatus, Parked, Progress, Run, Standing, Status, Terms, Tournament, contracts
from arena_server.store.crosstable import Cell, Crosstable, Score
from arena_server.store.lists import Appearance, GameSummary
from arena_server.store.meetings import RatedGame
from arena_server.wire.lobby import option_message

if TYPE_CHECKING:
    from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper

_Number = TypeVar("_Number", bound=int)
_ENDINGS = {number: ending for ending, number in ENDINGS.items()}


def tournament_message(held: Tournament, progress: Progress) -> pb.Tournament:
    """A tournament; a secret that the store does not give is not sent."""
    return pb.Tournament(
        name=held.name,
        terms=_terms_messages(held.terms),
        public_seed=held.public_seed,
        status=held.status,
        ratings=held.ratings,
        chain_head=held.chain_head,
        chain_length=held.chain_length,
        sums_json="" if held.sums is None else json.dumps(held.sums),
        stopped=held.stopped or 0,
        created=held.created,
        started=held.started or "",
        finished=held.finished or "",
        tags=held.tags,
        called_off=held.called_off,
        progress=progress_message(progress),
        anchors=held.anchors,
        watermark=held.watermark,
    )


def tournament_of(message: pb.Tournament) -> tuple[Tournament, Progress]:
    """Reads ``tournament_message`` back; numbers of the database alone are 0."""
    held = Tournament(
        id=0,
        name=message.name,
        terms=_terms_of(message.terms),
        public_seed=message.public_seed,
        epoch=0,
        status=Status(message.status),
        planned=message.progress.planned,
        ratings=message.ratings,
        chain_head=message.chain_head,
        chain_length=message.chain_length,
        sums=json.loads(message.sums_json) if message.sums_json else None,
        stopped=message.stopped or None,
        created=message.created,
        started=message.started or None,
        finished=message.finished or None,
        tags=tuple(message.tags),
        called_off=message.called_off,
        anchors=dict(message.anchors),
        watermark=message.watermark,
    )
    return held, progress_of(message.progress)


def _terms_messages(terms: Sequence[Terms]) -> Iterator[pb.Terms]:
    """The first with the whole contract, each other one with what it adds."""
    specs = [one.spec for one in terms]
    told = [contracts.whole(specs[0]), *(contracts.amended(*two) for two in pairwise(specs))]
    for one, contract in zip(terms, told, strict=True):
        yield pb.Terms(stage=one.stage, contract_json=contract, commitment=one.commitment, secret=one.secret)


def _terms_of(messages: Sequence[pb.Terms]) -> tuple[Terms, ...]:
    first, *later = (message.contract_json for message in messages)
    return tuple(
        Terms(message.stage, whole, message.secret, message.commitment, extent)
        for message, (whole, extent) in zip(messages, contracts.history(first, later), strict=True)
    )


def progress_message(progress: Progress) -> pb.Progress:
    """How many games are where."""
    return pb.Progress(
        planned=progress.planned,
        finished=progress.finished,
        rated=progress.folded,
        abandoned=progress.abandoned,
        cancelled=progress.cancelled,
    )


def progress_of(message: pb.Progress) -> Progress:
    """Reads ``progress_message`` back."""
    return Progress(message.planned, message.finished, message.rated, message.abandoned, message.cancelled)


def standing_message(standing: Standing) -> pb.Standing:
    """A row of a leaderboard."""
    parked = standing.parked
    return pb.Standing(
        rank=standing.rank,
        bot=_bot_message(standing.entrant, standing.position),
        label=standing.label,
        mu=standing.mu,
        sigma=standing.sigma,
        games=standing.games,
        wins=standing.wins,
        losses=standing.losses,
        draws=standing.draws,
        margin=standing.margin,
        failures={str(kind): number for kind, number in standing.failures.items()},
        withdrawn=standing.withdrawn,
        parked=None if parked is None else pb.Parked(number=parked.number, why=parked.why),
    )


def standing_of(message: pb.Standing) -> Standing:
    """Reads ``standing_message`` back."""
    parked = message.parked
    return Standing(
        rank=message.rank,
        position=message.bot.position,
        entrant=_entrant_of(message.bot),
        label=message.label,
        rating=Rating(message.mu, message.sigma),
        games=message.games,
        wins=message.wins,
        losses=message.losses,
        draws=message.draws,
        margin=message.margin if message.HasField("margin") else None,
        failures={kind: message.failures[kind] for kind in FAILURES if kind in message.failures},
        withdrawn=message.withdrawn,
        parked=Parked(message.bot.position, parked.number, parked.why) if message.HasField("parked") else None,
    )


def _bot_message(entrant: Entrant, position: int) -> pb.Bot:
    options = {name: option_message(value) for name, value in entrant.options}
    return pb.Bot(name=entrant.name, version=entrant.version, digest=entrant.digest, options=options, position=position)


def _entrant_of(message: pb.Bot) -> Entrant:
    options = tuple(sorted((name, _option_of(value)) for name, value in message.options.items()))
    return Entrant(message.name, message.version, message.digest, options)


def _option_of(message: OptionMessage) -> Option:
    value: Option = getattr(message, message.WhichOneof("value") or "text")
    return value


def details_message(details: Details) -> pb.GetDetailsResponse:
    """All about a tournament."""
    return pb.GetDetailsResponse(
        tournament=tournament_message(details.tournament, details.progress),
        about=[pb.About(owner=one.owner, group=one.group, tags=one.tags or ()) for one in details.about],
        runs=[
            pb.Run(epoch=run.epoch, started=run.started, facts_json=json.dumps(dict(run.facts))) for run in details.runs
        ],
    )


def details_of(message: pb.GetDetailsResponse) -> Details:
    """Reads ``details_message`` back."""
    return Details(
        *tournament_of(message.tournament),
        [_about_of(one) for one in message.about],
        [Run(run.epoch, run.started, json.loads(run.facts_json)) for run in message.runs],
    )


def _about_of(message: pb.About) -> About:
    owner = message.owner if message.HasField("owner") else None
    return About(owner, message.group if message.HasField("group") else None, tuple(message.tags))


def rated_message(game: RatedGame) -> pb.RatedGame:
    """A game as the ratings have it."""
    return pb.RatedGame(
        number=game.number,
        pairing=game.pairing,
        entrants=game.entrants,
        ranks=game.result.ranks,
        scores=game.result.scores,
        failures=[ending_number(failure) for failure in game.result.failures],
        mu=[rating.mu for rating in game.after],
        sigma=[rating.sigma for rating in game.after],
    )


def rated_of(message: pb.RatedGame) -> RatedGame:
    """Reads ``rated_message`` back."""
    failures = tuple(ending_of(failure) for failure in message.failures)
    return RatedGame(
        number=message.number,
        pairing=message.pairing,
        entrants=tuple(message.entrants),
        result=Finished(tuple(message.ranks), tuple(message.scores), failures),
        after=tuple(Rating(mu, sigma) for mu, sigma in zip(message.mu, message.sigma, strict=True)),
    )


def bot_game_message(one: BotGame) -> pb.BotGame:
    """A rated game as one bot saw it."""
    return pb.BotGame(
        game=summary_message(one.played.game),
        seat=one.played.seat,
        mu=one.played.rating.mu,
        sigma=one.played.rating.sigma,
        failure=ending_number(one.played.failure),
        moves=one.moves,
        median_us=one.median_us,
        longest_us=one.longest_us,
    )


def bot_game_of(message: pb.BotGame) -> BotGame:
    """Reads ``bot_game_message`` back."""
    rating, failure = Rating(message.mu, message.sigma), ending_of(message.failure)
    played = Appearance(summary_of(message.game), message.seat, rating, failure)
    return BotGame(played, message.moves, message.median_us, message.longest_us)


def live_of(message: pb.WatchGamesResponse) -> LiveEvent:
    """What has happened to a game."""
    if message.HasField("began"):
        began = message.began
        return Began(began.id, tuple(began.seats), dict(began.deal), tuple(began.plies))
    if message.HasField("played"):
        return Plies(message.played.id, message.played.ply, tuple(message.played.plies))
    if message.HasField("ended"):
        return Ended(summary_of(message.ended))
    return Void(message.void.id)


def table_message(table: Table | None) -> pb.GetPlacesResponse:
    """A format's own table, or that there is none."""
    if table is None:
        return pb.GetPlacesResponse()
    return pb.GetPlacesResponse(
        has_table=True,
        stages=table.stages,
        places=[
            pb.Place(
                rank=row.rank,
                position=row.entrant,
                marks=[pb.Mark(title=title, value=value) for title, value in row.marks.items()],
            )
            for row in table.rows
        ],
    )


def table_of(message: pb.GetPlacesResponse) -> Table | None:
    """Reads ``table_message`` back."""
    if not message.has_table:
        return None
    rows = [Place(row.rank, row.position, {mark.title: mark.value for mark in row.marks}) for row in message.places]
    return Table(message.stages, rows)


def summary_message(game: GameSummary) -> pb.GameSummary:
    """A row of a list of games."""
    return pb.GameSummary(
        id=game.id,
        number=game.number,
        stage=game.stage,
        pairing=game.pairing,
        seats=game.seats,
        status=game.status,
        ending=ending_number(game.ending),
        ranks=game.ranks,
        scores=game.scores,
        plies=game.plies,
    )


def summary_of(message: pb.GameSummary) -> GameSummary:
    """Reads ``summary_message`` back."""
    return GameSummary(
        id=message.id,
        number=message.number,
        stage=message.stage,
        pairing=message.pairing,
        seats=tuple(message.seats),
        status=GameStatus(message.status),
        ending=ending_of(message.ending),
        ranks=tuple(message.ranks),
        scores=tuple(message.scores),
        plies=message.plies if message.HasField("plies") else None,
    )


def known(kind: _EnumTypeWrapper[_Number], number: _Number) -> _Number:
    """A number of a request's enum; raises UserError where that has no such one."""
    if number not in kind.values():
        fix = f"known: {', '.join(kind.keys())}"
        raise UserError(f"no such {kind.DESCRIPTOR.name.lower()} in the protocol", number, fix)
    return number


def ending_number(ending: Ending | None) -> EndingNumber.ValueType:
    """As the protocol has it; unspecified for none."""
    return ENDING_UNSPECIFIED if ending is None else ENDINGS[ending]


def ending_of(number: EndingNumber.ValueType) -> Ending | None:
    """Reads ``ending_number`` back; none also for what this version does not know."""
    return _ENDINGS.get(number)


def cell_messages(table: Crosstable) -> list[pb.Cell]:
    """The cells, one for each seat."""
    return [
        pb.Cell(
            row=row,
            column=column,
            seat=SEATS.index(letter),
            wins=score.wins,
            losses=score.losses,
            draws=score.draws,
            margin_total=score.margin_total,
            margin_games=score.margin_games,
        )
        for (row, column), cell in table.cells.items()
        for letter, score in cell.by_seat.items()
    ]


def crosstable_of(entrants: Sequence[Entrant], messages: Iterable[pb.Cell]) -> Crosstable:
    """Reads ``cell_messages`` back."""
    cells: dict[tuple[int, int], Cell] = {}
    for one in messages:
        score = Score(one.wins, one.losses, one.draws, one.margin_total, one.margin_games)
        cell = cells.get((one.row, one.column), Cell())
        cells[one.row, one.column] = Cell(cell.total + score, {**cell.by_seat, SEATS[one.seat]: score})
    return Crosstable(tuple(entrants), cells)
