"""Bots that run elsewhere: they come with a token of the registry, and have one session over however many streams."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Container, Iterator, Mapping
from dataclasses import dataclass, replace

from arena.v1 import referee_pb2 as pb
from arena_engine.game import Game
from arena_server.launching.processes import Exit, Output
from arena_server.model import ArenaError, Entrant, Identity
from arena_server.referee.stalls import Stalls
from arena_server.wire.lobby import PROTOCOL, Lobby, said
from arena_server.wire.session import Session

START_LIMIT_S = 30.0
"""Seconds that a guest has to get ready for a game."""
LATE_REPLY_S = 60.0
"""Seconds after which an answer to a game that is over is awaited no more."""
MAX_STRANGE = 20
"""Tokens a second that are looked up although nobody had them a moment ago: a flood of wrong ones costs no more. Bots
that are known are let in beside it, and new ones in the next second."""
REFUSAL_S = 60.0
"""Between two lines of the log about refusals of one token: its bot may come a thousand times a second."""
MAX_GAMES_AT_ONCE = 8
"""Games that one guest can play at the same time, whatever it offers."""


@dataclass(frozen=True, slots=True)
class Present:
    """A guest that can be given games."""

    entrant: Entrant
    owner: int
    games_at_once: int


class Elsewhere:
    """Stands for the process of a guest, of which nothing is known here.

    Attributes:
        pid: there is none.
        exited: never done.
    """

    pid = None

    def __init__(self) -> None:
        self.exited: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()

    async def output(self) -> Output:
        """What it says stays with its author."""
        return Output()


class Guest:
    """A guest as one game has it.

    Attributes:
        rested: set once a late answer came.
    """

    alive = fresh = True
    dismissed = False

    def __init__(self, session: Session, stalls: Stalls) -> None:
        self.session = session
        self.process = Elsewhere()
        self.rested = asyncio.Event()
        self._stalls = stalls

    def ready_by(self) -> float:
        """When it must be ready for a game that begins now."""
        return self._stalls.now().at + START_LIMIT_S

    def let_go(self, handle: str) -> None:
        """The game is over: a late answer is awaited for a while only."""
        if handle in self.session.games:
            asyncio.get_running_loop().call_later(LATE_REPLY_S, self.session.games.pop, handle, None)


class Guests(Lobby):
    """The lobby of the bots that come from elsewhere.

    Args:
        game: what is played here.
        identify: who has the token with that SHA-256; None: nobody.
        admission: whether a version must have passed the admission test to be given games.

    Attributes:
        changed: called whenever one comes, goes, or asks for no more games.
        notes: told what the organiser should read.
        season: what is played here, which they are told.
    """

    def __init__(
        self, game: Game, identify: Callable[[bytes], Awaitable[Identity | None]], *, admission: bool = False
    ) -> None:
        super().__init__(game)
        self.season = ""
        self._admission = admission
        self.changed: Callable[[], None] = lambda: None
        self.notes: Callable[[str], None] = lambda _line: None
        self._identify = identify
        self._identities: dict[bytes, Identity] = {}
        self._known: Container[bytes] = ()  # digests of all tokens that were good when they were last looked through
        self._newer: set[bytes] = set()  # those of which we know what the look that goes on may not have read yet
        self._strange, self._counted_until = 0, 0.0
        self._refusals: dict[bytes, float] = {}  # when the next one of a token is worth a line
        self._guests: dict[Entrant, tuple[Session, bytes]] = {}  # each with the digest of its token

    async def knows(self, sha256: bytes) -> bool:
        """Asks the registry; raises ArenaError where too many come with tokens that it did not have a moment ago."""
        if sha256 not in self._known:
            self._count_stranger()
        found = await self._identify(sha256)
        if found is None:
            return False
        self._identities[sha256] = found
        self._newer.add(sha256)
        return True

    def _count_stranger(self) -> None:
        now = time.monotonic()
        if now >= self._counted_until:
            self._counted_until, self._strange = now + 1.0, 0
        self._strange += 1
        if self._strange > MAX_STRANGE:
            raise ArenaError("too many unknown tokens", "", "come again in a second")

    def session(self, sha256: bytes, hello: pb.Hello) -> Session | str:
        """That of the version which the bot says it is, by default of the newest."""
        identity = self._identities[sha256]
        if hello.bot and hello.bot.casefold() != identity.bot.casefold():
            return f"this token is {identity.bot}'s, the bot calls itself {said(hello.bot)}"
        version = hello.version or (identity.versions[-1] if identity.versions else "")
        entrant = Entrant(identity.bot, version, "")
        known_session = self._guests.get(entrant)
        welcome = pb.Welcome(protocol=PROTOCOL, bot=identity.bot, version=version, tournament=self.season)
        session = known_session[0] if known_session else Session(welcome, self._tell)
        if version not in identity.versions and not session.games:  # its last ones may be finished
            return _no_version(identity, version)
        self._guests[entrant] = session, sha256
        return session

    def refused(self, sha256: bytes, reason: str) -> None:
        """Told to the organiser, too, now and then."""
        now = time.monotonic()
        if now < self._refusals.get(sha256, now):
            return
        self._refusals[sha256] = now + REFUSAL_S
        self.notes(f"{self._identities[sha256].bot} is refused: {reason}")

    def guest(self, entrant: Entrant, stalls: Stalls) -> Guest:
        """One that has been here, for a game; it may come back while that is on."""
        return Guest(self._guests[entrant][0], stalls)

    def present(self) -> list[Present]:
        """Those that are connected, want games and may have them."""
        return [one for one, admitted in self._here() if admitted]

    def all(self) -> list[Present]:
        """Those that are connected and want games, whether they may have them or not."""
        return [one for one, _ in self._here()]

    def newcomers(self) -> list[Present]:
        """Those that are connected and want games, and have to pass the admission test before."""
        return [one for one, admitted in self._here() if not admitted]

    def let_in(self, entrant: Entrant) -> None:
        """It has passed the test: known at once, and not only once the registry is read again."""
        _, sha256 = self._guests[entrant]
        identity = self._identities[sha256]
        self._identities[sha256] = replace(identity, admitted=identity.admitted | {entrant.version})
        self._newer.add(sha256)
        self.changed()

    def tell(self, entrant: Entrant, text: str) -> None:
        """Something that its author should know, where it is a guest and connected."""
        if entrant in self._guests:
            self._guests[entrant][0].post(pb.PlayResponse(notice=pb.Notice(text=text)).SerializeToString())

    def turn_away(self, entrant: Entrant, why: str) -> None:
        """Says Goodbye to one that failed, where it is a guest and connected."""
        if entrant in self._guests and self._guests[entrant][0].connected:
            self._guests[entrant][0].end(_goodbye(pb.Goodbye(code=pb.GOODBYE_CODE_FAILED, text=why)))

    def _here(self) -> Iterator[tuple[Present, bool]]:
        """Those that are connected and want games, each with whether it is admitted."""
        for entrant, (session, sha256) in self._guests.items():
            if session.connected and not self.leaves(entrant) and session.hello is not None:
                at_once = max(1, min(session.hello.games_at_once, MAX_GAMES_AT_ONCE))
                identity = self._identities[sha256]
                admitted = not self._admission or entrant.version in identity.admitted
                yield Present(entrant, identity.owner, at_once), admitted

    def _tell(self) -> None:
        self.changed()

    def leaves(self, entrant: Entrant) -> bool:
        """Whether it has asked for no more games or was sent away, and not come back since; or is retired."""
        return entrant in self._guests and (self._guests[entrant][0].leaving or self._is_retired(entrant))

    def _is_retired(self, entrant: Entrant) -> bool:
        _, sha256 = self._guests[entrant]
        return entrant.version not in self._identities[sha256].versions

    @property
    def connections(self) -> int:
        """How many are connected; also asked from other threads, while bots come."""
        return sum(session.connected for session, _ in list(self._guests.values()))

    def see_off(self, playing: Collection[Entrant], replaced: Mapping[Entrant, Entrant]) -> None:
        """Says Goodbye to those that play no game and get no more.

        Args:
            playing: who may not be disturbed.
            replaced: who gets no more, each with the later version that plays in its place.
        """
        for entrant, (session, _) in list(self._guests.items()):
            if not session.connected or entrant in playing:
                continue
            if self._is_retired(entrant):
                session.end(_goodbye(pb.Goodbye(code=pb.GOODBYE_CODE_RETIRED, text="this version is retired")))
            elif session.leaving:
                session.end(_goodbye(pb.Goodbye(code=pb.GOODBYE_CODE_DONE, text="no more games, as asked")))
            elif entrant in replaced:
                text = f"{replaced[entrant].label} plays in its place"
                session.end(_goodbye(pb.Goodbye(code=pb.GOODBYE_CODE_REPLACED, text=text)))

    async def check(self, look: Callable[[], Awaitable[Mapping[bytes, Identity]]]) -> None:
        """Says Goodbye to those whose tokens are no longer good; retired versions finish their games, see `see_off`.

        Args:
            look: gives everybody who may play, by digest of the token.
        """
        self._newer.clear()
        self._known = identities = await look()
        for session, sha256 in list(self._guests.values()):
            if sha256 in self._newer:
                continue  # until the next look
            if sha256 in identities:
                self._identities[sha256] = identities[sha256]
            elif session.connected:
                session.leaving = True  # nobody has to wait for it
                session.end(_goodbye(pb.Goodbye(code=pb.GOODBYE_CODE_RETIRED, text="its token was revoked")))

    def close(self, retry_after_s: float) -> None:
        """Tells all that the server stops, and when to try again."""
        goodbye = pb.Goodbye(
            code=pb.GOODBYE_CODE_SHUTDOWN, text="the arena stops", retry_after_ms=round(retry_after_s * 1000)
        )
        for session, _ in self._guests.values():
            session.end(_goodbye(goodbye))


def _no_version(identity: Identity, version: str) -> str:
    """Why a version cannot come."""
    if not identity.versions:
        return f"every version of {identity.bot} is retired"
    known = ", ".join(identity.versions)
    return f"{identity.bot} has no version {said(version)} that plays, only {known}: register it first"


def _goodbye(goodbye: pb.Goodbye) -> bytes:
    return pb.PlayResponse(goodbye=goodbye).SerializeToString()
