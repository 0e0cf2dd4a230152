"""What is known of a seat that failed, in words: its time, the machine's load, its process, its last messages."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from arena_server.model import BlackBox, Ending, Failure, Result
from arena_server.text import clean, clean_lines

_INDENT = "  "
STOLEN_SHARE = 0.2
WAITED_SHARE = 0.5
"""Of the time used, from which the machine is suspected."""


def time_lines(result: Result, failure: Failure) -> Iterator[str]:
    """How a loss on time came about, and whose fault it looks like; nothing for other failures."""
    box = failure.box
    if box is None or box.limit_us is None or failure.ending not in (Ending.TIMEOUT, Ending.DISCONNECT):
        return
    yield f"allowed: {_ms(box.limit_us)} and {_ms(box.margin_us)} of margin"
    if box.spent_us is not None:
        yield f"charged when it lost: {_ms(box.spent_us)} of CPU, {_ms(failure.used_us)} on the wall"
        yield "whose fault: the bot's: CPU time is its own"
        return
    stalls = f" ({_ms(failure.used_us)} less {_ms(failure.credit_us)} of our own stalls)" if failure.credit_us else ""
    yield f"charged when it lost: {_ms(failure.charged_us)}{stalls}"
    yield _own(failure, box)
    yield from _machine(box)
    others = [move.charged_us for move in result.moves if move.seat == failure.seat]
    if others:
        yield f"its other {len(others)} moves: median {_ms(round(median(others)))}, longest {_ms(max(others))}"
    yield f"whose fault: {_verdict(failure, box)}"


def box_lines(failure: Failure) -> Iterator[str]:
    """The rest of the black box."""
    box = failure.box
    if box is None:
        return
    if (process := ", ".join(_process(box))) != "":
        yield clean(f"process: {process}")
    if box.stderr:
        yield from ("standard error:", *(_INDENT + line for line in clean_lines(box.stderr)))
    if box.messages:
        yield from ("last messages:", *(_INDENT + clean(message) for message in box.messages))


def _own(failure: Failure, box: BlackBox) -> str:
    if box.own_us is None or box.late_us is None:
        return "its own measure: none, it gave no answer"
    way = max(0, box.late_us - failure.credit_us - box.own_us)
    return (
        f"its own measure: {_ms(box.own_us)} of {_ms(box.late_us)} until its answer; the way there and back {_ms(way)}"
    )


def _machine(box: BlackBox) -> Iterator[str]:
    if box.stolen_us is not None:
        yield f"the machine's host took {_ms(box.stolen_us)} of CPU time meanwhile"
    if box.waited_us is not None:
        yield f"some process waited for a core during {_ms(box.waited_us)} of it"


def _verdict(failure: Failure, box: BlackBox) -> str:
    """Careful words: evidence, no proof."""
    assert box.limit_us is not None
    if failure.ending is Ending.DISCONNECT:
        return "its connection was lost and did not return in time"
    if box.own_us is not None and box.own_us > box.limit_us:
        return "the bot's: by its own measure, too, it thought longer than it was allowed"
    if box.own_us is not None:
        return (
            "not clearly the bot's: by its own measure it was in time; the rest passed on the way, as on a busy machine"
        )
    return _verdict_of_silence(failure, box)


def _verdict_of_silence(failure: Failure, box: BlackBox) -> str:
    if (box.stolen_us or 0) > STOLEN_SHARE * failure.used_us:
        return "perhaps the machine's: its host took much of the CPU time; play fewer games at once, or elsewhere"
    told = "the bot's, as far as can be seen: it gave no answer"
    if box.waited_us is None:
        return f"{told}; whether the machine was short of cores is not known"
    if box.waited_us > WAITED_SHARE * failure.used_us:
        return f"{told}; but the machine was short of cores meanwhile"
    return f"{told}, and the machine had cores to spare"


def _process(box: BlackBox) -> Iterator[str]:
    if box.exit:
        yield box.exit
    if box.cpu_us is not None:
        yield f"{box.cpu_us / 1e6:.3f} s of CPU in this game"
    if box.max_rss_kb is not None:
        yield f"at most {box.max_rss_kb / 1024:.0f} MiB"


def _ms(us: int) -> str:
    return f"{us / 1e3:.1f} ms"
