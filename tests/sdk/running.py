"""Sessions in threads of the test, and a bot for them."""

import threading
from collections.abc import Callable
from typing import Any

from tests.sdk.stand_in import WAIT, Arena, Match, Stream

from arena.v1 import referee_pb2 as pb
from arena_sdk import Bot, Clock, Result
from arena_sdk.session import Session

Run = Callable[..., "Running"]


class Running:
    """A session in a thread."""

    def __init__(self, bot_class: type[Bot], arena: Arena, **options: Any) -> None:
        self.code: int | None = None
        self._session = Session(bot_class, arena.address, "token", **options)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        self.code = self._session.run()

    def finish(self) -> int | None:
        self._thread.join(WAIT)
        assert not self._thread.is_alive()
        return self.code


class First(Bot):
    """Plays the first legal move and remembers what it was given."""

    made: list["First"]

    def __init_subclass__(cls) -> None:
        cls.made = []

    def __init__(self) -> None:
        self.positions: list[str] = []
        self.results: list[Result] = []
        self.started = 0
        self.drawn = self.random.random()
        self.made.append(self)

    def on_start(self) -> None:
        self.started += 1

    def on_end(self, result: Result) -> None:
        self.results.append(result)

    def choose(self, state: Any, clock: Clock) -> Any:
        self.clock = clock
        self.positions.append(state.text)
        return state.legal_moves()[0]


def ask(stream: Stream, match: Match, *plies: str, **fields: Any) -> pb.Move:
    stream.send(move_request=match.request(*plies, **fields))
    move: pb.Move = stream.receive("move")
    return move


def failure(stream: Stream, match: Match) -> pb.Failure:
    stream.send(move_request=match.request())
    failure: pb.Failure = stream.receive("failure")
    return failure
