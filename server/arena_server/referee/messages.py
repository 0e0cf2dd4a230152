"""Messages to bots, serialised."""

from __future__ import annotations

import zlib

from arena.v1 import referee_pb2 as pb
from arena_server.model import Assignment, Ending, Result, TimeControl
from arena_server.referee.clocks import Now
from arena_server.referee.events import Ask, Begin
from arena_server.referee.match import Match

ENDINGS = {ending: pb.Ending.Value(f"ENDING_{ending.name}") for ending in Ending}


def game_started(handle: str, effect: Begin, match: Match) -> bytes:
    """A game begins, or goes on over a new stream."""
    assignment = match.assignment
    index = assignment.planned.letters.index(effect.seat)
    message = pb.GameStarted(
        handle=handle,
        game=match.game.name,
        rules=match.game.rules,
        seat=effect.seat,
        seats=_seats(assignment, effect.seat),
        deal=assignment.planned.deal,
        time_control=_time_control(assignment.spec.time_control),
        seed=assignment.seeds[index],
        plies=effect.plies,
        trial=assignment.trial,
    )
    return pb.PlayResponse(game_started=message).SerializeToString()


def move_request(handle: str, effect: Ask, match: Match, mode: pb.ObservationMode.ValueType, now: Now) -> bytes:
    """A move is asked, with what the bot's observation mode wants to be told."""
    position = match.state.text
    response = pb.PlayResponse()
    message = response.move_request  # filled in place: a nested message that is handed over is copied
    message.handle = handle
    message.seat = effect.seat
    message.ply = effect.ply
    message.plies.extend(effect.plies)
    message.checksum = zlib.crc32(position.encode())
    _fill_clock(message.clock, match, effect.seat, now)
    if mode in (pb.OBSERVATION_MODE_FULL, pb.OBSERVATION_MODE_FULL_WITH_LEGAL_MOVES):
        message.position = position
    if mode == pb.OBSERVATION_MODE_FULL_WITH_LEGAL_MOVES:
        message.legal_moves.extend(str(move) for move in match.state.legal_moves(effect.seat))
    return response.SerializeToString()


def game_over(handle: str, seat: str, result: Result) -> bytes:
    """The game is over; the reason goes to the seat that it concerns alone."""
    outcome = result.outcome
    reasons = [failure.reason for failure in result.failures if failure.seat == seat]
    message = pb.GameOver(
        handle=handle,
        ending=ENDINGS[result.ending],
        blamed=result.blamed,
        ranks=outcome.ranks if outcome else (),
        scores=outcome.scores if outcome else (),
        game_id=result.assignment.game_id,
        reason=reasons[0] if reasons else "",
    )
    return pb.PlayResponse(game_over=message).SerializeToString()


def goodbye(text: str) -> bytes:
    """Nothing more to play."""
    return pb.PlayResponse(goodbye=pb.Goodbye(code=pb.GOODBYE_CODE_DONE, text=text)).SerializeToString()


def _seats(assignment: Assignment, own: str) -> list[pb.Seat]:
    """Who sits where; without the names of others where opponents are anonymous."""
    seats = zip(assignment.planned.letters, assignment.entrants, strict=True)
    return [
        pb.Seat(seat=letter, bot="" if assignment.anonymous and letter != own else entrant.name)
        for letter, entrant in seats
    ]


def _time_control(control: TimeControl) -> pb.TimeControl:
    increment = control.increment_us if control.bank_us is not None else None
    return pb.TimeControl(limit_us=control.limit_us, bank_us=control.bank_us, increment_us=increment, cpu=control.cpu)


def _fill_clock(message: pb.Clock, match: Match, letter: str, now: Now) -> None:
    clock = match.seats[letter].clock
    left = clock.left_us(now)
    if left is not None:
        message.left_us = left
    if clock.bank_us is not None:
        message.bank_us = clock.bank_us
        for other, seat in match.seats.items():
            if other != letter and seat.clock.bank_us is not None:
                message.opponents_us[other] = seat.clock.bank_us
