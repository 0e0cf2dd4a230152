"""The black box of a seat that failed: read out on faults alone, a healthy game has no cost of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain

from google.protobuf import text_format
from google.protobuf.message import Message

from arena.v1 import referee_pb2 as pb
from arena_server.launching import usage
from arena_server.launching.bots import Bot
from arena_server.model import ArenaError, BlackBox, Ending, Entrant, Failure, Result
from arena_server.referee.driver import Chair

LATE = 0.25
"""Seconds for which an answer is awaited that came too late: it says how long the bot itself believes it thought."""
MAX_STDERR = 8 << 10
MAX_MESSAGE = 1_000
"""Characters that are kept of the standard error, and of each message: with the evidence under 64 KiB."""
MAX_KEPT = 200
"""Of a list in a long message, before it is cut."""


async def read_out(result: Result, chairs: Mapping[str, Chair], bots: Mapping[Entrant, Bot]) -> Result:
    """The result with all that can be known of the seats that failed."""
    if not result.failures:
        return result
    by_seat = dict(zip(result.assignment.planned.letters, result.assignment.entrants, strict=True))
    texts = {letter: bots[entrant].text if entrant in bots else "" for letter, entrant in by_seat.items()}
    failures = [_read_out(failure, chairs.get(failure.seat), texts[failure.seat]) for failure in result.failures]
    return replace(result, failures=tuple(await asyncio.gather(*failures)))


async def _read_out(failure: Failure, chair: Chair | None, bot: str) -> Failure:
    box = replace(failure.box or BlackBox(), bot=bot)
    if chair is not None:
        if failure.ending is Ending.TIMEOUT:
            box = await _with_late_answer(box, chair, failure.ply)
        box = await _with_process(_with_pressure(box, chair), chair, failure.evidence)
        box = replace(box, messages=tuple(_lines(chair)))
    return replace(failure, box=box)


async def _with_late_answer(box: BlackBox, chair: Chair, ply: int) -> BlackBox:
    await chair.late_answer(LATE)
    for at, message in chair.heard:
        if isinstance(message, pb.Move) and message.ply == ply:
            return replace(box, own_us=message.own_us, late_us=round((at - chair.asked_at) * 1e6))
    return box


def _with_pressure(box: BlackBox, chair: Chair) -> BlackBox:
    pressure = chair.driver.stalls.pressure
    return replace(
        box,
        stolen_us=box.stolen_us if pressure.has_stolen else None,
        waited_us=box.waited_us if pressure.has_waited else None,
    )


async def _with_process(box: BlackBox, chair: Chair, evidence: str) -> BlackBox:
    process = chair.player.process
    cpu, peak, how, output = usage.cpu_us(process.pid), usage.peak_rss_kb(process.pid), "", None
    if process.exited.done():
        gone = process.exited.result()
        cpu, peak, how, output = gone.cpu_us, gone.max_rss_kb, gone.describe(), gone.output
    else:
        with suppress(ArenaError):  # the keeper is lost: told elsewhere
            output = await process.output()
    said = output.stderr if output is not None and output.stderr != evidence else ""
    used = None if cpu is None or chair.cpu_us is None else max(0, cpu - chair.cpu_us)
    return replace(box, cpu_us=used, max_rss_kb=peak or None, exit=how, stderr=said[-MAX_STDERR:])


def _lines(chair: Chair) -> Iterable[str]:
    """The last messages, with seconds since the last request, or since the first of them where nothing was asked."""
    sent = [(at, "to", _text(_without_seed(pb.PlayResponse.FromString(data)))) for at, data in chair.sent]
    heard = [(heard.at, "from", f"{type(heard.message).__name__} {_text(heard.message)}") for heard in chair.heard]
    messages = sorted(chain(sent, heard))
    since = chair.asked_at or next((at for at, _, _ in messages), 0)
    for at, way, text in messages:
        yield f"{at - since:+.6f} s {way} the bot: {text}"


def _without_seed(message: pb.PlayResponse) -> pb.PlayResponse:
    """It is the bot's alone until the tournament's secret is revealed."""
    if message.HasField("game_started"):
        message.game_started.ClearField("seed")
    return message


def _text(message: Message) -> str:
    text = text_format.MessageToString(_shortened(message), as_one_line=True)
    return text if len(text) <= MAX_MESSAGE else text[:MAX_MESSAGE] + "..."


def _shortened(message: Message) -> Message:
    """Without most of what is cut anyhow: written out, 64 KiB of empty log lines hold up everybody for long."""
    if message.ByteSize() <= MAX_MESSAGE:
        return message
    shorter = type(message)()
    shorter.CopyFrom(message)
    for field, value in message.ListFields():
        if field.is_repeated and field.message_type is None:
            del getattr(shorter, field.name)[MAX_KEPT:]
        elif isinstance(value, str):
            setattr(shorter, field.name, value[:MAX_MESSAGE])
    return shorter
