"""Who may connect: one-time tokens and the sessions they open."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable

import grpc

from arena.v1 import referee_pb2 as pb
from arena_engine.game import Game
from arena_server.model import ArenaError, Option
from arena_server.text import clean
from arena_server.wire.session import Line, Session, Stream

PROTOCOL = 1
HELLO_LIMIT = 10.0
"""Seconds from the opening of a stream to its Hello."""
MAX_STRANGERS = 1_000
"""Streams at once that have not said Hello; a server that comes back is dialled by all its bots in the same second."""
MAX_OF_ONE = 4
"""Of them with one token."""
LOOK_UPS = 2
"""Tokens that are looked up at the same time: whoever floods us with wrong ones takes no more of the database."""
MAX_SAID = 64
"""Characters of what a bot says of itself in an answer: a status is metadata, which is bounded."""
NO_HELLO = "the first message of a stream must be Hello"


class Lobby:
    """Knows which bots are expected and serves their streams.

    Args:
        game: the game that is played here; bots whose engine knows other rules of it are refused.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self._sessions: dict[bytes, Session] = {}  # by SHA-256 of the token
        self._strangers: Counter[bytes] = Counter()  # streams before their Hello, likewise
        self._looking_up = asyncio.Semaphore(LOOK_UPS)

    def admit(self, bot: str, options: tuple[tuple[str, Option], ...], version: str = "") -> tuple[str, Session]:
        """Expects a bot: the token to give it, and its session, not yet connected."""
        token = secrets.token_urlsafe(24)
        welcome = pb.Welcome(protocol=PROTOCOL, bot=bot, version=version)
        for name, value in options:
            welcome.options[name].CopyFrom(option_message(value))
        session = Session(welcome)
        self._sessions[_digest(token)] = session
        return token, session

    def dismiss(self, session: Session) -> None:
        """The bot's token is no longer good."""
        self._sessions = {key: known for key, known in self._sessions.items() if known is not session}

    async def knows(self, sha256: bytes) -> bool:
        """Whether a bot has the token with that digest."""
        return sha256 in self._sessions

    def session(self, sha256: bytes, hello: pb.Hello) -> Session | str:  # noqa: ARG002 - others look at it
        """The session that a known token opens, or why it opens none."""
        return self._sessions.get(sha256, "this token is no longer good")

    def refused(self, sha256: bytes, reason: str) -> None:
        """A bot whose token is good may not play all the same."""

    async def play(self, _requests: object, stream: Stream) -> None:
        """Serves one stream of the Referee service."""
        line = Line(stream)
        try:
            await self._serve(stream, line)
        finally:
            line.close()

    async def _serve(self, stream: Stream, line: Line) -> None:
        sha256, hello = await self._introduced(stream, line)
        # By itself: with a message that is never taken it could be sent no second time, nor then a status.
        await stream.send_initial_metadata(())
        refusal = self._refusal(hello)
        session = self.session(sha256, hello)
        if isinstance(session, str):
            self.refused(sha256, session)
            await stream.abort(grpc.StatusCode.PERMISSION_DENIED, session)
        elif refusal is None:
            await session.serve(line, hello)
        else:
            self.refused(sha256, refusal.text)
            session.arrive(refusal.text)
            await line.write(pb.PlayResponse(goodbye=refusal).SerializeToString())

    async def _introduced(self, stream: Stream, line: Line) -> tuple[bytes, pb.Hello]:
        """The digest of the token that opened a stream, and its Hello; ends one that does not come so far."""
        token = _token(stream.invocation_metadata())
        if token is None:
            await stream.abort(grpc.StatusCode.UNAUTHENTICATED, "it gave no token")
            raise AssertionError(token)  # aborting raises
        sha256 = _digest(token)
        if self._strangers.total() >= MAX_STRANGERS or self._strangers[sha256] >= MAX_OF_ONE:
            await stream.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many streams that have not said Hello")
        self._strangers[sha256] += 1
        try:
            async with asyncio.timeout(HELLO_LIMIT):
                await self._check(sha256, stream)
                return sha256, await self._hello(stream, line)
        except TimeoutError:
            await stream.abort(grpc.StatusCode.INVALID_ARGUMENT, NO_HELLO)
            raise AssertionError(token) from None
        finally:
            self._strangers[sha256] -= 1
            if not self._strangers[sha256]:
                del self._strangers[sha256]

    async def _check(self, sha256: bytes, stream: Stream) -> None:
        """Ends a stream whose token is not good."""
        try:
            async with self._looking_up:
                known = await self.knows(sha256)
        except ArenaError:
            await stream.abort(grpc.StatusCode.UNAVAILABLE, "the arena cannot look up tokens at the moment")
        if not known:
            await stream.abort(grpc.StatusCode.UNAUTHENTICATED, "no bot has this token")

    async def _hello(self, stream: Stream, line: Line) -> pb.Hello:
        request = await line.read()
        if request is None or request.WhichOneof("message") != "hello":
            await stream.abort(grpc.StatusCode.INVALID_ARGUMENT, NO_HELLO)
        assert request is not None
        return request.hello

    def _refusal(self, hello: pb.Hello) -> pb.Goodbye | None:
        if not hello.protocol_min <= PROTOCOL <= hello.protocol_max:
            text = (
                f"the arena speaks protocol {PROTOCOL}, the bot {hello.protocol_min} to {hello.protocol_max}: "
                "install an SDK of the arena's version"
            )
            return pb.Goodbye(code=pb.GOODBYE_CODE_VERSION, text=text)
        rules = hello.rules.get(self.game.name)
        if hello.rules and rules != self.game.rules:
            text = (
                f"the arena plays {self.game.name} by rules {self.game.rules}, the bot's engine knows "
                f"{'rules ' + said(rules) if rules else 'no such game'}: install an SDK of the arena's version"
            )
            return pb.Goodbye(code=pb.GOODBYE_CODE_RULES, text=text)
        return None


def said(text: str) -> str:
    """What a bot says of itself, as it may be told to people."""
    return clean(text[:MAX_SAID])


def option_message(value: Option) -> pb.Option:
    """An option's value as a message."""
    if isinstance(value, bool):
        return pb.Option(flag=value)
    if isinstance(value, int):
        return pb.Option(integer=value)
    if isinstance(value, float):
        return pb.Option(number=value)
    return pb.Option(text=value)


def _token(metadata: Iterable[tuple[str, str | bytes]] | None) -> str | None:
    """What the call says who it is by."""
    for key, value in metadata or ():
        if key == "authorization" and isinstance(value, str) and value.startswith("Bearer "):
            return value.removeprefix("Bearer ") or None
    return None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
