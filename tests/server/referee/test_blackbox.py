"""What the black box keeps of messages."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from arena.v1 import referee_pb2 as pb
from arena_server.referee import blackbox


@pytest.mark.parametrize(
    "message",
    [
        pb.Move(handle="h", ply=3, move="K6c4", log=[""] * 32_000),
        pb.Move(handle="h", log=["x" * 10] * 5_000),
        pb.Failure(handle="h", ply=2, traceback="\x1b" * 65_000),
        pb.Move(handle="h", ply=1, move="y" * 65_000),
    ],
)
def test_a_long_message_is_kept_as_its_beginning_and_no_more_of_it_is_written_out(message: pb.Move) -> None:
    whole = text_format.MessageToString(message, as_one_line=True)
    assert blackbox._text(message) == whole[: blackbox.MAX_MESSAGE] + "..."
    assert blackbox._shortened(message).ByteSize() < 4 * blackbox.MAX_MESSAGE


def test_a_short_message_is_kept_whole() -> None:
    assert (
        blackbox._text(pb.Move(handle="h", ply=3, move=">", log=["a", "b"]))
        == 'handle: "h" ply: 3 move: ">" log: "a" log: "b"'
    )
