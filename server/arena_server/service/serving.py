"""`arena serve`: a season that is played until somebody stops it.

Nothing here imports grpc before the keeper has started (design, decision 10).
"""

from __future__ import annotations

import asyncio
import resource
import signal
import sys
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arena_engine.game import Game, find
from arena_server.coordinator.coordinator import Interrupted
from arena_server.coordinator.event import bots_of, prepare_grpc, run_loop, settle_memory, spec_of
from arena_server.coordinator.facts import command_line, facts
from arena_server.coordinator.settings import Settings
from arena_server.formats import SEASON
from arena_server.formats.tables import check_distinct
from arena_server.launching.bots import Bot, resolve
from arena_server.launching.processes import Keeper
from arena_server.model import Entrant, Identity, Spec, UserError
from arena_server.ratings import check_draw_probability
from arena_server.service.log import Log
from arena_server.service.scribe import Scribe
from arena_server.service.settings import ServeSettings
from arena_server.service.visibility import FairPlay
from arena_server.store import Store, Tournament, anchors, contracts, queries, registry
from arena_server.store.lists import MissingError
from arena_server.store.tournaments import check_name

if TYPE_CHECKING:
    from arena_server.coordinator.season import Season  # imports grpc

TESTER = "random"
"""The example bot that newcomers are tested against where there is no house bot."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What is to be served, and how.

    Attributes:
        bots: of the house.
        tester: the bot that newcomers are tested against.
    """

    settings: ServeSettings
    spec: Spec
    game: Game
    bots: Mapping[Entrant, Bot]
    tester: Bot

    @classmethod
    def of(cls, settings: ServeSettings) -> Serving:
        """Checks everything that can be checked before anything is stored or started.

        Raises:
            UserError: a setting that cannot be served.
        """
        game = find("patchwork")
        check_name(settings.season)
        asked = Settings.said(
            {"format": SEASON, "bots": settings.bots, "time": settings.time, "edition": settings.edition}
        )
        house = bots_of(asked)
        check_distinct([bot.entrant for bot in house])
        bots = {bot.entrant: bot for bot in house}
        spec = spec_of(asked, game, list(bots))
        check_draw_probability(spec.draw_probability, may_draw=game.may_draw)
        if spec.time_control.cpu:
            fix = "let the wall clock count"
            raise UserError("CPU time of bots elsewhere cannot be read", repr(settings.time), fix)
        tester = next(iter(bots.values())) if bots else resolve(TESTER)
        return cls(settings, spec, game, bots, tester)

    def run(self) -> None:
        """Serves until SIGTERM or Ctrl-C; everything that was played is recorded then.

        Raises:
            UserError: another server has the database, an address or the socket.
            ArenaError: games cannot be played or recorded.
        """
        with Store.open(self.settings.db) as store:
            store.hold_site()
            keeper = Keeper.start()  # before the next line: house bots keep the limit that we were given
            _allow_descriptors()
            prepare_grpc()
            log = Log(sys.stdout.fileno())
            try:
                run_loop(self._serve(store, keeper, Scribe(log)))
            finally:
                log.close()

    def _begin(self, store: Store) -> Tournament:
        """The season, held until the store is closed, with all that is known of this run."""
        asked = self._anchors(store)
        registry.add_house(store.database, tuple(self.bots))
        season = store.lock(self._season(store)).tournament
        if asked:  # otherwise what was asked for earlier stays
            store.anchor(season, asked)
        store.begin_run(season, self._facts())
        return season

    def _anchors(self, store: Store) -> Mapping[str, float]:
        """The Elo of bots that are to be fixed."""
        asked, known = anchors.read(self.settings.anchor), registry.bots(store.database)
        entrants = (*self.bots, *(one.entrant for one in known))
        names = {name.casefold() for entrant in entrants for name in (entrant.name, entrant.label)}
        for name in asked:
            if name.casefold() not in names:
                fix = "name a house bot, or one that `arena bots list` shows"
                raise UserError("an anchor that is no registered bot", repr(name), fix)
        return asked

    def _facts(self) -> dict[str, object]:
        chosen = {"concurrency": self.settings.concurrency, "restart": "never", "transport": "unix"}
        run = {**chosen, "house": [entrant.as_dict() for entrant in self.bots]}
        return facts(self.game, command_line(), run)

    def _season(self, store: Store) -> Tournament:
        """The season of that name, made where it is not there."""
        try:
            found = queries.tournament(store, self.settings.season)
        except MissingError:
            return store.enter(self.spec, name=self.settings.season).tournament
        held = replace(found.spec, entrants=(), late=(), withdrawn=(), frozen=None)
        differences = contracts.differences(held, replace(self.spec, entrants=()))
        if differences:
            fix = "give the same settings again, or begin another season with its own name"
            raise UserError(f"{found.name} is played by another contract", "; ".join(differences), fix)
        return found

    async def _serve(self, store: Store, keeper: Keeper, scribe: Scribe) -> None:
        """Binds before anything is stored: a server that never served shall fix no contract."""
        from arena_server.coordinator.admission import Admission  # noqa: PLC0415 - imports grpc: after the keeper
        from arena_server.coordinator.season import Season  # noqa: PLC0415 - likewise
        from arena_server.coordinator.seating import Seating  # noqa: PLC0415 - likewise
        from arena_server.coordinator.served import Floor  # noqa: PLC0415 - likewise
        from arena_server.coordinator.side_events import SideEvents  # noqa: PLC0415 - likewise
        from arena_server.executors.local import LocalExecutor  # noqa: PLC0415 - likewise
        from arena_server.referee.guests import Guests, Present  # noqa: PLC0415 - likewise
        from arena_server.service.administration.controls import ServerControls  # noqa: PLC0415 - likewise
        from arena_server.service.hall import Hall  # noqa: PLC0415 - likewise

        async def identify(sha256: bytes) -> Identity | None:
            return await asyncio.to_thread(registry.bearer, store.database, sha256)

        guests = Guests(self.game, identify, admission=self.settings.admission)
        guests.notes = scribe.notes
        hall = Hall(self.settings, guests)
        capacity = self.settings.concurrency
        bots = {**self.bots, self.tester.entrant: self.tester}
        async with LocalExecutor(self.game, bots, keeper, capacity=capacity, guests=guests) as executor:
            try:
                addresses = hall.bind()
                metrics = None if self.settings.metrics is None else scribe.publish(self.settings.metrics)
                tournament = self._begin(store)
                house = tuple(Present(entrant, 0, capacity) for entrant in self.bots)
                floor = Floor(self.game, executor, house, guests, Seating(capacity))
                guests.season = tournament.name
                season = Season(store, tournament, scribe, floor)
                beside = SideEvents(store, floor, scribe.of, self._facts())
                season.grace = beside.grace = self.settings.grace
                beside.patience = 3600 * self.settings.closing_wait
                admission = Admission(store, tournament.spec, floor, self.tester.entrant, scribe)
                scribe.gauge("connections", "Bots that are connected.", lambda: guests.connections)
                scribe.gauge("queue_games", "Games that are planned and not begun.", lambda: season.waiting)
                scribe.gauge("running_games", "Games that are played now.", lambda: len(executor.running()))
                scribe.gauge("side_events", "Challenges and closings that are open.", lambda: beside.open)
                scribe.gauge("admission_tests", "Admission tests that go on.", lambda: admission.open)
                controls = ServerControls(season, (season, beside, admission), floor, scribe)
                controls.drain = hall.drain
                controls.addresses = tuple(addresses)
                for number in (signal.SIGINT, signal.SIGTERM):
                    asyncio.get_running_loop().add_signal_handler(number, controls.stop)
                settle_memory()
                await hall.open(store, executor, controls, FairPlay(beside.served))
                scribe.tell(
                    "serving", database=store.label, season=tournament.name, addresses=addresses, metrics=metrics
                )
                await _together(_until_stopped(season), beside.run(), admission.run())
            finally:
                guests.close(self.settings.retry_after)
                await hall.close()
        scribe.tell("stopped")


def _allow_descriptors() -> None:
    """As many as this process may have: every connection takes one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _until_stopped(season: Season) -> None:
    with suppress(Interrupted):
        await season.run()


async def _together(*runs: Coroutine[None, None, None]) -> None:
    """All to their ends; where one fails, the others are cancelled, and its error is raised."""
    tasks = [asyncio.ensure_future(run) for run in runs]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
