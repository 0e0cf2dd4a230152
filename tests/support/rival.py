"""A bot that plays by the rules of the game and not by those of the protocol."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Self

import grpc

from arena.v1 import referee_pb2 as pb
from arena_sdk.stream import Stream

HELLO = pb.Hello(
    protocol_min=1,
    protocol_max=1,
    rules={"patchwork": "1"},
    games_at_once=1,
    observation_mode=pb.OBSERVATION_MODE_FULL_WITH_LEGAL_MOVES,
)
PATIENCE = 90.0
"""Seconds for anything to happen on a slow machine."""


def nothing(_: Rival, __: pb.MoveRequest) -> Iterable[pb.PlayRequest]:
    """No mischief."""
    return ()


Mischief = Callable[["Rival", pb.MoveRequest], Iterable[pb.PlayRequest]]


@dataclass
class Rival:
    """Connected in a thread of its own until it is closed; a context manager.

    Args:
        address: of the server.
        token: of the bot.
        before, after: what it says before and after each answer.

    Attributes:
        handles: of its games, the last one last.
        answered: its answers by handle, in order.
        overs: games that are over, by the name that they have on record.
        goodbye: what the arena said at the end, if it did.
        status: how the stream ended otherwise.
    """

    address: str
    token: str
    before: Mischief = nothing
    after: Mischief = nothing
    handles: list[str] = field(default_factory=list)
    answered: dict[str, list[str]] = field(default_factory=dict)
    overs: dict[str, pb.GameOver] = field(default_factory=dict)
    goodbye: pb.Goodbye | None = None
    status: grpc.StatusCode | None = None
    _asked: set[tuple[str, int]] = field(default_factory=set)

    def __enter__(self) -> Self:
        self._stream = Stream(self.address, self.token, pb.PlayRequest(hello=HELLO))
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.goodbye is None and self.status is None:
            self._stream.send(pb.PlayRequest(leave=pb.Leave()))  # or its opponents wait for it
            self.wait_for(lambda: self.goodbye or self.status, "Goodbye")
        self._stream.__exit__(None, None, None)
        self._thread.join(PATIENCE)

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        """Waits until it has come so far."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain for {what}: {self.goodbye} {self.status}"
            time.sleep(0.02)

    @property
    def rated(self) -> dict[str, pb.GameOver]:
        """Its games of the season that are over."""
        return {name: over for name, over in self.overs.items() if name.startswith("season/")}

    def _run(self) -> None:
        try:
            for response in self._stream:
                self._hear(response)
        except grpc.RpcError as error:
            self.status = error.code()

    def _hear(self, response: pb.PlayResponse) -> None:
        match response.WhichOneof("message"):
            case "game_started":
                handle = response.game_started.handle
                if handle not in self.handles:
                    self.handles.append(handle)
                self._stream.send(pb.PlayRequest(ready=pb.Ready(handle=handle)))
            case "move_request":
                self._answer(response.move_request)
            case "game_over":
                self.overs[response.game_over.game_id] = response.game_over
            case "goodbye":
                self.goodbye = response.goodbye

    def _answer(self, request: pb.MoveRequest) -> None:
        if (request.handle, request.ply) in self._asked:
            return  # asked again: its answer is under way
        self._asked.add((request.handle, request.ply))
        for one in self.before(self, request):
            self._stream.send(one)
        move = request.legal_moves[0]
        self.answered.setdefault(request.handle, []).append(move)
        self._stream.send(pb.PlayRequest(move=pb.Move(handle=request.handle, ply=request.ply, move=move)))
        for one in self.after(self, request):
            self._stream.send(one)
