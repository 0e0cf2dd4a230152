"""Texts cut to what a message may carry."""

import traceback
from pathlib import Path

PACKAGE = str(Path(__file__).parent)
TRACEBACK_BYTES = 16 * 1024
"""What is kept of a traceback: its end, where the error stands."""


def clip(text: str, length: int) -> str:
    """The first characters of a text; what UTF-8 cannot carry (lone surrogates) becomes ``?``."""
    return text[:length].encode(errors="replace").decode()


def trace(error: BaseException) -> str:
    """The traceback of an error, at most TRACEBACK_BYTES of UTF-8, from the first frame that is not the SDK's."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename.startswith(PACKAGE):
        frames = frames.tb_next
    text = "".join(traceback.format_exception(type(error), error, frames))
    encoded = text.encode(errors="replace")
    if len(encoded) <= TRACEBACK_BYTES:
        return encoded.decode()
    return "...\n" + encoded[4 - TRACEBACK_BYTES :].decode(errors="ignore")
