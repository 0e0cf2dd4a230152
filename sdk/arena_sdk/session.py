"""The session of a bot process with the arena: one stream after the other, games across them."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib.metadata import entry_points, version
from queue import SimpleQueue
from types import MappingProxyType

import grpc

from arena.v1 import referee_pb2 as pb
from arena_sdk.author import Author, ending_of, say
from arena_sdk.bot import Bot
from arena_sdk.stream import Stream
from arena_sdk.table import Table
from arena_sdk.text import trace

PROTOCOL = 1
PATIENCE_S = 30.0
"""For how long a lost or absent arena is looked for."""
FIRST_DELAY_S, LAST_DELAY_S = 0.05, 2.0
"""Waits between attempts: a bot may be on its clock at first; later a crowd of bots must not trample the arena."""

TOLD_AFTER_S = 5.0
"""Seconds after which an author is told that the arena is looked for."""

DONE, FAILED, REFUSED, LOST = 0, 1, 2, 3
"""Exit codes: nothing more to play; the bot failed; the arena refuses this bot; the arena is gone or at fault."""

_REFUSALS = {
    grpc.StatusCode.UNAUTHENTICATED: "check ARENA_TOKEN",
    grpc.StatusCode.PERMISSION_DENIED: "check that the bot behind ARENA_TOKEN may play",
    grpc.StatusCode.FAILED_PRECONDITION: "mend what it says, then start the bot again",
    grpc.StatusCode.UNIMPLEMENTED: "check {address}: another kind of server answers there",
}
_UNSAFE = {
    "certificate has expired": "its certificate has expired - tell who runs it",
    "CERTIFICATE_VERIFY_FAILED": "no one trusted vouches for its certificate - name the file of one: ARENA_CA, --ca",
    "Hostname Verification": "its certificate is for another name - dial it by the name that is in the certificate",
    "security handshaker": "the file of who vouches for it holds no certificate - check ARENA_CA, --ca: it must be PEM",
    "WRONG_VERSION_NUMBER": "it speaks no TLS - check the port; ARENA_INSECURE=1, --insecure let others read along",
}
"""What TLS says in gRPC's words, and what it means."""
_PLAIN = "it was dialled without TLS: if it has a certificate, name the file of who vouches for it: ARENA_CA, --ca"
"""What may be the matter where a server hangs up at once: this machine is dialled so unless told otherwise."""
_GOODBYES = {
    pb.GOODBYE_CODE_VERSION: (REFUSED, "install the arena's version of patchwork-arena for the bot"),
    pb.GOODBYE_CODE_RULES: (REFUSED, "install the arena's version of patchwork-arena for the bot"),
    pb.GOODBYE_CODE_PROTOCOL_ERROR: (LOST, "please report it with the bot's log"),
    pb.GOODBYE_CODE_REPLACED: (DONE, ""),
    pb.GOODBYE_CODE_RETIRED: (DONE, ""),
    pb.GOODBYE_CODE_FAILED: (FAILED, ""),  # the arena says what to do
}


def tls_trouble(reason: str) -> str:
    """What keeps a wire from being safe, and what to do, where that is gRPC's reason for having no connection."""
    return next((meaning for words, meaning in _UNSAFE.items() if words in reason), "")


class Backoff:
    """Waits between attempts to connect: longer each time, jittered, until patience ends.

    Args:
        patience: seconds from the first failure in a row.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self.reset()

    def reset(self) -> None:
        """Begins anew after a success."""
        self._delay = FIRST_DELAY_S
        self._since: float | None = None

    @property
    def lasting(self) -> float:
        """Seconds since the first failure in a row."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    def wait(self) -> bool:
        """Sleeps before the next attempt; False at once when patience has ended."""
        self._since = self._since or time.monotonic()
        if self.lasting >= self._patience:
            return False
        time.sleep(self._delay * random.uniform(0.5, 1))  # noqa: S311 - spreads bots, no secret
        self._delay = min(2 * self._delay, LAST_DELAY_S)
        return True


class Worker:
    """A thread that does the jobs of one game in turn."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.submit = self._jobs.put
        # A daemon: a bot that thinks for ever must not keep the process alive after Goodbye.
        threading.Thread(target=self._work, daemon=True).start()

    def close(self) -> None:
        """Ends the thread after what is queued."""
        self._jobs.put(None)

    def _work(self) -> None:
        while job := self._jobs.get():
            job()


class Inline:
    """Does the jobs of a game at once, in the thread that reads the stream: the quickest way for one game at a time."""

    def submit(self, job: Callable[[], None]) -> None:
        """Does the job."""
        job()

    def close(self) -> None:
        """Nothing waits."""


class Session:
    """Serves an arena with one bot class until it says Goodbye or is lost.

    Args:
        bot_class: what plays.
        address: ``unix:/path`` or ``host:port``.
        token: who this bot is.
        name: of the bot; empty: as registered.
        bot_version: likewise.
        games_at_once: how many games it thinks about at once, each in a thread of its own if more than one.
        patience: seconds for which a lost arena is looked for.
        roots: certificates, PEM, one of which must vouch for the arena; None: the wire is plain.
        most_games: how many it plays before it leaves; None: until the arena has no more.
        options: the bot's options where the arena says none: those of a bot elsewhere are its author's.
        named_by: the variable that the address comes from.
        author: who is told how the bot does; None: the arena keeps what it says.
    """

    def __init__(  # noqa: PLR0913 - what a process is told by its environment
        self,
        bot_class: type[Bot],
        address: str,
        token: str,
        *,
        name: str = "",
        bot_version: str = "",
        games_at_once: int = 1,
        patience: float = PATIENCE_S,
        roots: bytes | None = None,
        most_games: int | None = None,
        options: Mapping[str, str | int | float | bool] = MappingProxyType({}),
        named_by: str = "ARENA_ADDRESS",
        author: Author | None = None,
    ) -> None:
        self._bot_class = bot_class
        self._address = address
        self._token = token
        self._hello = _hello(name, bot_version, games_at_once)
        self._games_at_once = games_at_once
        self._backoff = Backoff(patience)
        self._patience = patience
        self._options: Mapping[str, str | int | float | bool] | None = None
        self._broken = ""
        self._roots = roots
        self._own_options = options
        self._games_left = most_games
        self._named_by = named_by
        self._author = author
        self._connected = False
        self._leaving = False
        self._resigned: set[str] = set()
        self._absence_told = False
        self._stream: Stream | None = None
        self._tables: dict[str, tuple[Table, Worker | Inline]] = {}

    def run(self) -> int:
        """Plays until there is nothing more to play; returns the exit code, having said why on standard error."""
        try:
            while True:
                code = self._attempt()
                if code is not None:
                    return code
        finally:
            for handle in list(self._tables):
                self._leave(handle)

    def leave(self) -> None:
        """Asks for no more games; the second time it resigns those that run. Safe in a signal handler."""
        running = len(self._tables)
        games = "1 running game" if running == 1 else f"{running} running games"
        away = "" if self._connected else "the arena is away: "
        if not self._leaving:
            self._ask_to_leave()  # first: the next signal may come while this is told
            say(f"{away}leaving after {games}; once more resigns" if running else "leaving")
        else:
            places = ", ".join(table.place for table, _ in self._tables.values())
            unless = ", if it is back in seconds; else lost by disconnect" if running and away else ""
            say(f"{away}resigning {games}{unless}" + (f": {places}" if places else ""))
            for handle in list(self._tables):
                self._resigned.add(handle)
                self._send(pb.PlayRequest(resign=pb.Resign(handle=handle)))

    def _ask_to_leave(self) -> None:
        self._leaving = True
        self._send(pb.PlayRequest(leave=pb.Leave()))

    def _send(self, request: pb.PlayRequest) -> None:
        if self._stream is not None:
            self._stream.send(request)

    def _attempt(self) -> int | None:
        """One stream; the exit code, or None to connect again."""
        try:
            with Stream(self._address, self._token, self._hello, self._roots) as stream:
                self._stream = stream
                for response in stream:
                    if response.HasField("goodbye"):
                        return self._goodbye(response.goodbye)
                    self._handle(response)
            reason = "it ended the stream without a Goodbye"
        except grpc.RpcError as error:
            status, reason = error.code(), error.details() or "no reason given"
            if status in _REFUSALS:
                fix = _REFUSALS[status].format(address=self._named_by)
                say(f"the arena at {self._address} refused this bot: {reason} - {fix}")
                return REFUSED
        finally:
            self._connected = False
        unsafe = tls_trouble(reason)
        unknown = self._options is None
        if unsafe and unknown:  # once it was safe, its certificate may be mended meanwhile
            say(f"no safe connection to the arena at {self._address}: {unsafe}")
            return REFUSED
        if self._roots is None and unknown and "Socket closed" in reason:
            reason += f"; {_PLAIN}"
        if self._leaving and (not self._tables or self._gives_up()):
            return DONE
        if self._backoff.wait():
            self._tell_absence(unsafe or reason)
            return None
        say(
            f"no arena at {self._address} for {self._patience:g} s, giving up: {reason} "
            f"- check {self._named_by} and that the arena runs"
        )
        return LOST

    def _gives_up(self) -> bool:
        """Whether all games are resigned, and the arena stays away."""
        return self._tables.keys() <= self._resigned and self._backoff.lasting >= TOLD_AFTER_S

    def _tell_absence(self, reason: str) -> None:
        """Once for each, where it lasts."""
        if self._backoff.lasting >= TOLD_AFTER_S and not self._absence_told:
            self._absence_told = True
            say(
                f"no arena at {self._address}: {reason} - looking for it for {self._patience:g} s in all; "
                f"check {self._named_by} and that the arena runs"
            )

    def _handle(self, response: pb.PlayResponse) -> None:
        match response.WhichOneof("message"):
            case "welcome":
                self._welcomed(response.welcome)
                self._load(response.welcome)
                if self._leaving:
                    self._ask_to_leave()  # it holds for one stream
            case "game_started":
                self._start(response.game_started)
            case "move_request":
                self._move(response.move_request, time.monotonic())
            case "game_over":
                self._end(response.game_over)
            case "notice":
                say(f"the arena: {response.notice.text}")

    def _welcomed(self, welcome: pb.Welcome) -> None:
        self._connected = True
        self._backoff.reset()
        if self._absence_told:
            say(f"the arena at {self._address} is back")
            self._absence_told = False
        if self._author is not None and welcome.bot:
            self._author.connected(welcome)
            # Else it would come back as a version that is registered meanwhile, and lose the games of this one.
            self._hello.hello.version = welcome.version

    def _load(self, welcome: pb.Welcome) -> None:
        if self._options is not None:
            return  # a later stream of this process
        options = {name: getattr(value, value.WhichOneof("value") or "text") for name, value in welcome.options.items()}
        self._options = MappingProxyType({**self._own_options, **options})
        try:
            self._bot_class.load(self._options)
        except BaseException as error:  # noqa: BLE001 - whatever a bot's code raises is told for every game
            self._broken = trace(error)

    def _start(self, started: pb.GameStarted) -> None:
        known = started.handle in self._tables
        table, worker = self._tables.pop(started.handle) if known else self._new_table()
        self._tables[started.handle] = table, worker
        while len(self._tables) > self._games_at_once:  # the oldest ended while no stream was there to say so
            self._leave(next(iter(self._tables)))
        worker.submit(lambda: self._reply(table.start(started)))
        if started.handle in self._resigned:  # on a stream that was lost
            self._send(pb.PlayRequest(resign=pb.Resign(handle=started.handle)))
        if not known and not started.trial:
            self._count()

    def _count(self) -> None:
        """One game more has begun."""
        if self._games_left is not None:
            self._games_left -= 1
            if self._games_left <= 0 and not self._leaving:
                self._ask_to_leave()

    def _new_table(self) -> tuple[Table, Worker | Inline]:
        table = Table(self._bot_class, self._options or {}, self._broken)
        return table, Worker() if self._games_at_once > 1 else Inline()

    def _move(self, request: pb.MoveRequest, received: float) -> None:
        if request.handle in self._tables:
            table, worker = self._tables[request.handle]
            worker.submit(partial(self._answer, table, request, received))

    def _answer(self, table: Table, request: pb.MoveRequest, received: float) -> None:
        answer = table.move(request, received)
        if answer is not None:
            self._reply(answer)

    def _reply(self, answer: pb.PlayRequest) -> None:
        if self._author is not None and answer.HasField("failure"):
            self._author.failed(answer.failure.traceback)
        self._send(answer)

    def _end(self, over: pb.GameOver) -> None:
        if over.handle in self._tables:
            table, worker = self._tables[over.handle]
            if self._author is not None:
                self._author.over(table.seat, table.asked, over)
            worker.submit(lambda: table.end(over))
            self._leave(over.handle)
        if over.handle in self._resigned:
            self._resigned.remove(over.handle)
            say(f"game {over.game_id} is over: {ending_of(over)}")

    def _leave(self, handle: str) -> None:
        table, worker = self._tables.pop(handle)
        worker.submit(table.close)
        worker.close()

    def _goodbye(self, goodbye: pb.Goodbye) -> int | None:
        self._connected = False
        if goodbye.HasField("retry_after_ms") or goodbye.redirect:
            self._address = goodbye.redirect or self._address
            time.sleep(goodbye.retry_after_ms / 1000)
            return None
        if goodbye.code not in _GOODBYES:
            return DONE
        code, fix = _GOODBYES[goodbye.code]
        say(f"the arena closed the stream: {goodbye.text}" + (f" - {fix}" if fix else ""))
        return code


def _hello(name: str, bot_version: str, games_at_once: int) -> pb.PlayRequest:
    return pb.PlayRequest(
        hello=pb.Hello(
            protocol_min=PROTOCOL,
            protocol_max=PROTOCOL,
            bot=name,
            version=bot_version,
            sdk=f"python {version('patchwork-arena')}",
            rules=_rules(),
            games_at_once=games_at_once,
            observation_mode=pb.OBSERVATION_MODE_INCREMENTAL,
        )
    )


def _rules() -> dict[str, str]:
    rules = {}
    for point in entry_points(group="arena.games"):
        with suppress(Exception):  # one broken game must not keep the bot from the others; asked for it, it fails
            rules[point.name] = point.load().rules
    return rules
