"""A season: the coordinator of a standing server. Whoever is there plays; stages are planned while others run."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from arena_server.coordinator.coordinator import Turn
from arena_server.coordinator.served import TICK, Floor, Served
from arena_server.coordinator.watching import Watcher
from arena_server.formats import season
from arena_server.formats.matchmaking import Past
from arena_server.formats.season import Call, Here
from arena_server.model import Entrant
from arena_server.referee.guests import Present
from arena_server.store import Parked, Phase, Store, Tournament, registry, seasons
from arena_server.store.dealing import shuffled
from arena_server.store.schedule import FrozenError, planned_games

IDLE_S = 30.0
"""Seconds without a game after which a bot hears why, once while it is here."""
_DAY = 86_400


class Season(Served):
    """Plays a season until it is told to stop.

    Args:
        tournament: as its lock gives it.
        floor: where, and with whom.
    """

    def __init__(self, store: Store, tournament: Tournament, watcher: Watcher, floor: Floor) -> None:
        super().__init__(store, tournament, watcher, floor)
        self._past = Past()
        self._stages = 0
        self._parked: dict[int, Parked] = {}
        self._retired: set[tuple[str, str]] = set()
        self._ages: dict[tuple[str, str], int] = {}  # of the registry's versions, the oldest first
        self._newest: dict[str, Entrant] = {}  # the version that plays, by the name of the bot
        self._ticked = False  # whether the registry was looked at since the last planning
        self._phase = Phase.OPEN
        self._idle: dict[Entrant, float] = {}  # since when those play nothing who could
        self._told: dict[Entrant, str] = {}  # what they have heard of it

    # Planning

    async def _fill(self) -> bool:
        """Queues what a server before this one has left."""
        self._stages, self._past = await self._recorder.call(self._store.past, self.tournament)
        standings = await self._recorder.call(self._store.standings, self.tournament)
        self._know(await self._recorder.call(registry.versions, self._store.database))
        self._choose()
        self._parked = {one.parked.entrant: one.parked for one in standings if one.parked is not None}
        opened = await self._recorder.call(self._store.open_games, self.tournament)
        self._queue.extend(Turn(planned, voids) for planned, voids in opened)
        return True

    def _goes_on(self) -> bool:
        return True

    async def _plan_on(self) -> None:
        self._party.look()
        if self._stopping:
            return
        if self._phase is not Phase.OPEN:
            self.floor.guests.see_off(self._playing(), {})
            self._tell_idle(f"{self.tournament.name} is {self._phase}: no game is planned any more")
            return
        with suppress(FrozenError):  # since the last look
            await self._grow()

    async def _grow(self) -> None:
        """New entrants, new games."""
        if self._ticked:  # those who come within a tick are one amendment
            self._ticked = False
            self._choose()
            self._turn_away()
            await self._admit()
            await self._withdraw()
        self.floor.guests.see_off(self._playing(), self._replaced())
        while (call := self._call()) is not None and await self._plan_upon(call):
            pass
        most = season.RULES[max(season.RULES)].daily
        self._tell_idle(
            f"two bots meet {most} times a day at most, those of one owner never, and half of those here play at once"
        )

    def _turn_away(self) -> None:
        """Whoever is parked hears why, and has nothing to wait for here."""
        entrants, playing = self.tournament.spec.entrants, self._playing()
        for place, parked in self._parked.items():
            if entrants[place] not in playing:
                what = f"{entrants[place].label} is parked in {self.tournament.name}: {parked.why}"
                fix = "it plays no more here; register a version in which that is mended"
                evidence = f"{self.tournament.name}/{parked.number}"
                self.floor.guests.turn_away(entrants[place], f"{what} ({evidence}) - {fix}")

    async def _admit(self) -> None:
        """Whoever is new joins as a late entrant."""
        spec = self.tournament.spec
        new = [one for one in self._paired() if one.entrant not in spec.places]
        if new:
            entrants = spec.entrants + tuple(one.entrant for one in new)
            grown = replace(spec, entrants=entrants, late=(), withdrawn=())
            self.tournament = await self._recorder.call(self._store.extend, self.tournament, grown)
            for one in new:
                self.watcher.notes(f"{one.entrant.label} joins {self.tournament.name}")

    async def _withdraw(self) -> None:
        """Whoever is retired is taken out once all of its games are on record."""
        spec, turns = self.tournament.spec, (*self._queue, *self._turns.values())
        playing = {place for turn in turns for place in turn.planned.seats}
        out = {place for place, _ in spec.withdrawn} | playing
        for place, entrant in enumerate(spec.entrants):
            if place not in out and _key(entrant) in self._retired:
                self.tournament = await self._recorder.write(self._store.withdraw, self.tournament, place)
                self.watcher.notes(f"{entrant.label} is retired")

    def _tell_idle(self, why: str) -> None:
        """Who could play, and gets nothing for a while, hears why."""
        entrants, now = self.tournament.spec.entrants, time.monotonic()
        busy = {entrants[place] for turn in self._open() for place in turn.planned.seats} | self._party.elsewhere.keys()
        here = {one.entrant for one in self._paired()}
        self._idle = {entrant: self._idle.get(entrant, now) for entrant in here - busy}
        self._told = {entrant: told for entrant, told in self._told.items() if entrant in here}
        for entrant, since in self._idle.items():
            if now - since > IDLE_S and self._told.get(entrant) != why:
                self._told[entrant] = why
                self.watcher.notes(f"{entrant.label} waits for a game: {why}")
                self.floor.guests.tell(entrant, f"no game for now: {why}")

    def _call(self) -> Call | None:
        """Who could begin a game now; None where there is no room, or nobody to meet."""
        tables = {turn.planned.pairing: turn.planned.seats for turn in self._open()}
        here, elsewhere = self._places(), self._party.elsewhere
        room = self._party.room - sum(here.keys() >= {*seats} for seats in tables.values())
        if room < 1:
            return None
        paired = {one.entrant for one in self._paired()}
        load = Counter(entrant for seats in tables.values() for entrant in seats)
        present = tuple(
            Here(place, one.owner, busy=load[place] + elsewhere[one.entrant] >= one.games_at_once)
            for place, one in sorted(here.items())
            if place not in self._parked and one.entrant in paired
        )
        if sum(not one.busy for one in present) < self.tournament.spec.seats:
            return None
        day = max(self._past.day, int(time.time() // _DAY))  # a clock that was set back is no day before
        return Call(day, 0, present, room)

    async def _plan_upon(self, call: Call) -> bool:
        """Plans a stage; False where nobody may meet."""
        known, ratings = await self._recorder.call(self._store.rated, self.tournament)
        call = replace(call, known=known)
        # Beside the loop, which has clocks to stop: among a thousand bots it takes 30 ms.
        pairings = await asyncio.to_thread(season.pairings, self.tournament.spec, call, ratings, self._past)
        if not pairings:
            return False
        number, tables, spec = self._stages + 1, self._past.planned, self.tournament.spec
        terms = self.tournament.at(number)
        given = shuffled(terms, self.game, tables + 1, [spec.deals] * len(pairings))
        await self._recorder.write(partial(self._store.add_stage, call=call), self.tournament, number, pairings, given)
        first = (tables + 1, tables * spec.seats + 1)
        planned = planned_games(self.tournament.name, number, pairings, given, first)
        self._queue.extend(Turn(one) for one in planned)
        self._stages = number
        season.note(self._past, pairings, call.day)
        return True

    def _park(self, parked: Parked) -> None:
        self._parked[parked.entrant] = parked
        super()._park(parked)

    # Who is there

    def _know(self, versions: Mapping[tuple[str, str], bool]) -> None:
        """What the registry says."""
        self._retired = {version for version, retired in versions.items() if retired}
        self._ages = {version: age for age, version in enumerate(versions)}

    def _choose(self) -> None:
        """Of each bot the newest version of those that play and those that are there; no retired one keeps it out."""
        spec, here = self.tournament.spec, [one.entrant for one in self.floor.present()]
        plays = [spec.entrants[place] for place in season.active(spec)]
        able = [one for one in (*plays, *here) if _key(one) not in self._retired]
        self._newest = {one.name.casefold(): one for one in sorted(able, key=self._age)}

    def _age(self, entrant: Entrant) -> int:
        return self._ages.get(_key(entrant), len(self._ages))  # registered since the last look

    def _later(self, entrant: Entrant) -> Entrant | None:
        """The version of its bot that plays in its place; None where it plays itself."""
        newest = self._newest.get(entrant.name.casefold(), entrant)
        return newest if self._age(newest) > self._age(entrant) else None

    def _paired(self) -> list[Present]:
        """Those that are there, without earlier versions of the same bot, and without retired ones of the house."""
        here = [one for one in self.floor.present() if _key(one.entrant) not in self._retired]
        return [one for one in here if self._later(one.entrant) is None]

    def _replaced(self) -> dict[Entrant, Entrant]:
        """Those that are there in vain and have played everything that was planned before, with who plays instead."""
        planned = {self.tournament.spec.entrants[place] for turn in self._queue for place in turn.planned.seats}
        stay = planned.union(+self.floor.awaited)
        here = [one.entrant for one in self.floor.present() if one.entrant not in stay]
        return {one: later for one in here if (later := self._later(one)) is not None}

    def _open(self) -> Iterator[Turn]:
        yield from self._queue
        yield from (turn for turn in self._turns.values() if turn.planned.number in self._on)

    def _playing(self) -> set[Entrant]:
        """Those whose games run or are not on record yet: whoever leaves shall find its rating up to date."""
        entrants = self.tournament.spec.entrants
        mine = {entrants[place] for turn in self._turns.values() for place in turn.planned.seats}
        return mine | self._party.elsewhere.keys()

    async def _watch(self) -> None:
        """Looks at the registry and at the season itself now and then: they change while it goes on."""
        database, before = self._store.database, set[Entrant]()
        while True:
            await self._look_at_phase()
            await self.floor.guests.check(partial(self._recorder.call, registry.identities, database))
            self._know(await self._recorder.call(registry.versions, database))
            now = {one.entrant for one in self.floor.guests.present()}
            for change, entrants in (("is here", now - before), ("has left", before - now)):
                for entrant in sorted(entrants, key=_key):
                    self.watcher.notes(f"{entrant.label} {change}")
            before = now
            self._ticked = True
            self._wake.set()
            await asyncio.sleep(TICK)

    async def _look_at_phase(self) -> None:
        """An organiser ends it: nobody joins any more and nothing is planned, what is planned is played."""
        name = self.tournament.name
        found = await self._recorder.call(seasons.phase, self._store.database, self.tournament)
        if found is not self._phase:
            self._phase = found
            self.watcher.notes(f"{name} is {found}: {_MEANS[found].format(name)}")


_MEANS = {
    Phase.FROZEN: "nobody joins and no game is planned any more; once those planned are over: arena season close {}",
    Phase.CLOSING: "its closing round-robin is played",
    Phase.CLOSED: "its closing round-robin is over: arena season archive {}",
    Phase.ARCHIVED: "it is finished; another --season begins the next one",
}
"""What follows from a phase that a season has come to."""


def _key(entrant: Entrant) -> tuple[str, str]:
    """As the registry knows it."""
    return entrant.name.casefold(), entrant.version
