"""The values of the administration as messages and back, as ``messages`` does it for results."""

from __future__ import annotations

from arena.v1 import administration_pb2 as pb
from arena_server.service.administration.administrator import Connected, Playing, ServerStatus
from arena_server.service.messages import tournament_message, tournament_of
from arena_server.store import Season
from arena_server.store.admissions import Tested
from arena_server.store.registry import Registered


def registered_message(one: Registered) -> pb.RegisteredBot:
    """A version of a bot."""
    return pb.RegisteredBot(
        bot=one.bot,
        version=one.version,
        owner=one.owner,
        created=one.created,
        retired=one.retired or "",
        tokens=one.tokens,
        admission=one.admission,
        is_open=one.is_open,
    )


def registered_of(message: pb.RegisteredBot) -> Registered:
    """Reads ``registered_message`` back."""
    return Registered(
        bot=message.bot,
        version=message.version,
        owner=message.owner,
        created=message.created,
        retired=message.retired or None,
        tokens=tuple(message.tokens),
        admission=message.admission,
        is_open=message.is_open,
    )


def tested_message(one: Tested) -> pb.AdmissionTest:
    """An admission test."""
    return pb.AdmissionTest(version=one.version, at=one.at, why=one.why, contract=one.contract, entry=one.entry)


def tested_of(message: pb.AdmissionTest) -> Tested:
    """Reads ``tested_message`` back."""
    kept = (message.contract, message.entry) if message.HasField("entry") else (None, None)
    return Tested(message.version, message.at, message.why, *kept)


def season_message(season: Season) -> pb.Season:
    """A season and what decides it."""
    closing, progress = season.closing, season.closing_progress
    return pb.Season(
        ladder=tournament_message(season.ladder, season.progress),
        closing=None if closing is None or progress is None else tournament_message(closing, progress),
    )


def season_of(message: pb.Season) -> Season:
    """Reads ``season_message`` back."""
    closing = tournament_of(message.closing) if message.HasField("closing") else (None, None)
    return Season(*tournament_of(message.ladder), *closing)


def status_message(status: ServerStatus) -> pb.GetStatusResponse:
    """What a server does."""
    return pb.GetStatusResponse(
        version=status.version,
        season=status.season,
        since=status.since,
        addresses=status.addresses,
        stopping=status.stopping,
        capacity=status.capacity,
        waiting=status.waiting,
        connections=[pb.ConnectedBot(label=one.label, games_at_once=one.games_at_once) for one in status.connections],
        games=[pb.RunningGame(id=one.id, seats=one.seats, ply=one.ply, seconds=one.seconds) for one in status.games],
    )


def status_of(message: pb.GetStatusResponse) -> ServerStatus:
    """Reads ``status_message`` back."""
    return ServerStatus(
        version=message.version,
        season=message.season,
        since=message.since,
        addresses=tuple(message.addresses),
        stopping=message.stopping,
        capacity=message.capacity,
        waiting=message.waiting,
        connections=tuple(Connected(one.label, one.games_at_once) for one in message.connections),
        games=tuple(Playing(one.id, tuple(one.seats), one.ply, one.seconds) for one in message.games),
    )
