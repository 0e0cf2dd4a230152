"""Games while they are played, for readers: looked at a few times a second, so that a move costs nothing for them.

A reader has a bounded buffer. One that does not keep up is cut off; nothing waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from arena.v1 import leaderboard_pb2 as pb
from arena_server.executors import Running
from arena_server.model import ArenaError, UserError
from arena_server.service import messages
from arena_server.service.answering import BusyError, Desk
from arena_server.service.visibility import Visibility
from arena_server.store import GameStatus, Store, queries
from arena_server.store.lists import Choice, GameSummary

PERIOD_S = 0.25
"""Between two looks."""
BUFFER = 256
"""Events that wait for a reader; the games that are played when it comes are beside them."""
MAX_READERS = 100
PATIENCE = 40
"""Looks for a game that has vanished to be on record; then its attempt has come to nothing."""


class Live(Protocol):
    """Where games are played, as an executor is."""

    def running(self) -> Sequence[Running]:
        """The games that are played now, at this moment."""


@dataclass(eq=False)
class _Reader:
    """One who watches.

    Attributes:
        tournament: only its games; empty: all.
    """

    tournament: str
    events: asyncio.Queue[pb.WatchGamesResponse | None] = field(default_factory=lambda: asyncio.Queue(BUFFER))
    is_cut: bool = False

    def tell(self, tournament: str, event: pb.WatchGamesResponse) -> None:
        """Puts it into the buffer; where that is full, the reader is cut."""
        if self.is_cut or self.tournament not in ("", tournament):
            return
        try:
            self.events.put_nowait(event)
        except asyncio.QueueFull:
            self.is_cut = True


@dataclass
class _Gone:
    """A game that vanished, and is not on record yet, or not for readers."""

    game: Running
    looks: int = 0


@dataclass(frozen=True, slots=True)
class _End:
    """How a game is on record.

    Attributes:
        is_over: whether the other games of its pairing are over, too.
    """

    summary: GameSummary
    is_over: bool


class Spectators:
    """Tells readers of games. It looks at games only while there is a reader.

    Args:
        live: where games are played; None: nowhere.
        desk: answers questions to the store.
        store: where games are recorded.
        visibility: who may see games that are not over.
    """

    def __init__(self, live: Live | None, desk: Desk, store: Store, visibility: Visibility) -> None:
        self._live = live
        self._desk = desk
        self._store = store
        self._visibility = visibility
        self._readers: set[_Reader] = set()
        self._seen: dict[str, Running] = {}
        self._gone: dict[str, _Gone] = {}
        self._looking: asyncio.Task[None] | None = None

    async def watch(self, tournament: str) -> AsyncGenerator[pb.WatchGamesResponse, None]:
        """What happens from now on.

        Args:
            tournament: only its games; empty: all.

        Raises:
            UserError: there is nothing to watch, there are too many readers, or this one is too slow.
        """
        if self._live is None:
            raise UserError("no games are played here", "", "ask the server that plays them")
        if len(self._readers) >= MAX_READERS:
            raise UserError("too many readers", len(self._readers), "come back later")
        reader = _Reader(tournament)
        shown = [game for game in self._seen.values() if self._shows(game) and tournament in ("", _tournament(game))]
        self._readers.add(reader)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_on())
        try:
            for game in shown:
                yield _began(game)
            while not reader.is_cut and (told := await reader.events.get()) is not None:
                yield told
            if reader.is_cut:
                raise UserError("this reader is too slow", f"{BUFFER} events behind", "watch one tournament, or faster")
        finally:
            self._readers.discard(reader)

    async def _look_on(self) -> None:
        """Looks until nobody is left."""
        try:
            while self._readers:
                await self._look()
                await asyncio.sleep(PERIOD_S)
        finally:
            self._looking = None
            self._seen, self._gone = {}, {}
            for reader in self._readers:  # only where a look failed
                with contextlib.suppress(asyncio.QueueFull):
                    reader.events.put_nowait(None)

    async def _look(self) -> None:
        assert self._live is not None
        now = {_id(game): game for game in self._live.running() if not game.assignment.trial}
        before, self._seen = self._seen, now
        for key, game in now.items():
            old = before.get(key)
            if old is None or _attempt(old) != _attempt(game):
                if old is not None or key in self._gone:
                    self._gone.pop(key, None)
                    self._tell_open(game, _void(game))
                self._tell_open(game, _began(game))
            elif len(game.plies) > len(old.plies):
                self._tell_open(game, _played(game, len(old.plies)))
        self._gone.update({key: _Gone(game) for key, game in before.items() if key not in now})
        if self._gone:
            await self._settle()

    async def _settle(self) -> None:
        """Tells what became of games that are played no more."""
        try:
            found = await self._desk.ask(lambda: self._ends({key: gone.game for key, gone in self._gone.items()}))
        except BusyError:  # the next look asks again
            return
        for key, gone in list(self._gone.items()):
            end = found.get(key)
            if end is not None and end.summary.status is not GameStatus.PLANNED:
                if not (end.is_over or self._shows(gone.game)):
                    continue
                self._tell(gone.game, pb.WatchGamesResponse(ended=messages.summary_message(end.summary)))
            elif gone.looks >= PATIENCE:
                self._tell_open(gone.game, _void(gone.game))
            else:
                gone.looks += 1
                continue
            del self._gone[key]

    def _ends(self, games: Mapping[str, Running]) -> dict[str, _End]:
        """What the store has of them; nothing where it cannot answer now."""
        found = {}
        for key, game in games.items():
            planned = game.assignment.planned
            with contextlib.suppress(ArenaError), self._store.frozen() as store:
                held = queries.tournament(store, planned.tournament)
                summary = queries.page(store, held, Choice(), after=planned.number - 1, limit=1).games[0]
                is_over = not self._visibility.hides(held.name) or queries.shows(store, held, planned.number)
                found[key] = _End(summary, is_over)
        return found

    def _tell_open(self, game: Running, event: pb.WatchGamesResponse) -> None:
        """Of a game that is not over, where readers may know of it."""
        if self._shows(game):
            self._tell(game, event)

    def _tell(self, game: Running, event: pb.WatchGamesResponse) -> None:
        for reader in self._readers:
            reader.tell(_tournament(game), event)

    def _shows(self, game: Running) -> bool:
        return self._visibility.shows_running(_tournament(game), game.assignment.labels)


def _tournament(game: Running) -> str:
    return game.assignment.planned.tournament


def _id(game: Running) -> str:
    return game.assignment.game_id


def _attempt(game: Running) -> int:
    return game.assignment.token.attempt


def _began(game: Running) -> pb.WatchGamesResponse:
    assignment = game.assignment
    told = pb.LiveGame(id=assignment.game_id, seats=assignment.labels, deal=assignment.planned.deal, plies=game.plies)
    return pb.WatchGamesResponse(began=told)


def _void(game: Running) -> pb.WatchGamesResponse:
    return pb.WatchGamesResponse(void=pb.LiveVoid(id=_id(game)))


def _played(game: Running, known: int) -> pb.WatchGamesResponse:
    return pb.WatchGamesResponse(played=pb.LivePlies(id=_id(game), ply=known, plies=game.plies[known:]))
