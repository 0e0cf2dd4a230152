"""What an organiser does with bots, challenges and seasons, on a database or its server: the same values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from arena_server.store import Season, Store, Tournament, admissions, challenges, queries, registry, seasons
from arena_server.store.admissions import Tested
from arena_server.store.registry import Added, Registered


class Administrator(Protocol):
    """Keeps the registry, makes challenges and ends seasons.

    Every method raises UserError for what is not there or not allowed, ArenaError where the other side cannot answer.
    """

    def add(self, bot: str, version: str, owner: str, *, retire_old: bool) -> Added:
        """Registers a bot, or a further version of one."""

    def bots(self) -> Sequence[Registered]:
        """Every version of every bot, by name, the newest version last."""

    def admission(self, bot: str, version: str | None) -> Sequence[Tested]:
        """The admission tests of a version, or of the newest, in order."""

    def retire(self, bot: str, version: str | None) -> Sequence[str]:
        """Takes a version out of the field, or all; those that were in it."""

    def set_open(self, bot: str, *, is_open: bool) -> None:
        """Says whether games of a bot may be watched while they are played, where the other bots are open, too."""

    def new_token(self, bot: str, *, instead: bool) -> str:
        """A new token, in place of all that the bot has or beside them."""

    def revoke(self, bot: str, beginning: str) -> int:
        """Takes the token that begins so away, or all; how many."""

    def challenge(self, bots: Sequence[str], games: int) -> Tournament:
        """Makes an unrated match of registered bots, by name or by name and version, in seat order."""

    def seasons(self) -> Sequence[Season]:
        """All of them, the newest first, and how far they are."""

    def season(self, name: str) -> Season:
        """One of them."""

    def freeze(self, name: str) -> Season:
        """Lets nobody join a season and no game of it be planned any more."""

    def close_season(self, name: str, *, top: int | None, games: int | None) -> Season:
        """Has a frozen season decided by a round-robin, of the best so many or of all, of so many games between two."""

    def archive(self, name: str, *, without_closing: bool) -> Season:
        """Finishes a season that is decided, or that its own table shall decide."""


class StoreAdministrator:
    """Works on a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._database = store.database

    def add(self, bot: str, version: str, owner: str, *, retire_old: bool) -> Added:
        """Registers a bot, or a further version of one."""
        return registry.add(self._database, bot, version, owner, retire_old=retire_old, first_token=True)

    def bots(self) -> Sequence[Registered]:
        """Every version of every bot, by name, the newest version last."""
        return registry.bots(self._database)

    def admission(self, bot: str, version: str | None) -> Sequence[Tested]:
        """The admission tests of a version, or of the newest, in order."""
        return admissions.history(self._database, bot, version)

    def retire(self, bot: str, version: str | None) -> Sequence[str]:
        """Takes a version out of the field, or all; those that were in it."""
        return registry.retire(self._database, bot, version)

    def set_open(self, bot: str, *, is_open: bool) -> None:
        """Says whether games of a bot may be watched while they are played, where the other bots are open, too."""
        registry.set_open(self._database, bot, is_open=is_open)

    def new_token(self, bot: str, *, instead: bool) -> str:
        """A new token, in place of all that the bot has or beside them."""
        return registry.new_token(self._database, bot, instead=instead)

    def revoke(self, bot: str, beginning: str) -> int:
        """Takes the token that begins so away, or all; how many."""
        return registry.revoke(self._database, bot, beginning)

    def challenge(self, bots: Sequence[str], games: int) -> Tournament:
        """Makes an unrated match of registered bots, by name or by name and version, in seat order."""
        return challenges.challenge(self._database, bots, games)

    def seasons(self) -> Sequence[Season]:
        """All of them, the newest first, and how far they are."""
        return queries.seasons(self._store)

    def season(self, name: str) -> Season:
        """One of them."""
        return queries.season(self._store, name)

    def freeze(self, name: str) -> Season:
        """Lets nobody join a season and no game of it be planned any more."""
        return seasons.freeze(self._database, name)

    def close_season(self, name: str, *, top: int | None, games: int | None) -> Season:
        """Has a frozen season decided by a round-robin, of the best so many or of all, of so many games between two."""
        return seasons.close(self._database, name, top=top, games=games)

    def archive(self, name: str, *, without_closing: bool) -> Season:
        """Finishes a season that is decided, or that its own table shall decide."""
        return seasons.archive(self._database, name, without_closing=without_closing)


@dataclass(frozen=True, slots=True)
class Connected:
    """A bot that is connected.

    Attributes:
        label: name and version.
    """

    label: str
    games_at_once: int


@dataclass(frozen=True, slots=True)
class Playing:
    """A game that is played now.

    Attributes:
        id: ``season/17``.
        seats: labels in seat order.
        ply: that is being played, from 0.
        seconds: since it was given out.
    """

    id: str
    seats: tuple[str, ...]
    ply: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A standing server at one moment.

    Attributes:
        version: of the arena.
        since: when it began to serve, UTC, ISO 8601.
        addresses: where it can be dialled.
        stopping: whether no game begins any more.
        capacity: games that it plays at the same time.
        waiting: games that are planned and not begun.
    """

    version: str
    season: str
    since: str
    addresses: tuple[str, ...]
    stopping: bool
    capacity: int
    waiting: int
    connections: tuple[Connected, ...]
    games: tuple[Playing, ...]
