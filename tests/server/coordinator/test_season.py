"""A season whose bots come, go, get new versions and are retired, over a real store, with games played on paper."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
import seasons
import tiny_game
from deaf import Deaf
from on_paper import Paper, Watcher

from arena_server.coordinator import season, served
from arena_server.coordinator.coordinator import Interrupted
from arena_server.coordinator.season import Season
from arena_server.coordinator.seating import Seating
from arena_server.coordinator.served import Floor
from arena_server.model import ArenaError, Assignment, Ending, Entrant, Identity, Result
from arena_server.referee.guests import Guests, Present
from arena_server.store import Store, queries, registry
from arena_server.store import seasons as lifecycle
from arena_server.store.database import Database
from arena_server.store.verify import verify

TABLES = 4
ENOUGH = 100
"""Games that are played in any case, however slow the machine is."""


async def nobody(_sha256: bytes) -> Identity | None:
    return None


class Comers(Guests):
    """Guests that are here because a test says so."""

    def __init__(self) -> None:
        super().__init__(tiny_game.GAME, nobody)
        self.here: dict[Entrant, Present] = {}

    def present(self) -> list[Present]:
        return list(self.here.values())


class Remembering(Paper):
    """Keeps what was played."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(tiny_game.GAME, TABLES, self._end)
        self.dice = dice
        self.played: list[Result] = []

    def _end(self, _assignment: Assignment) -> Ending:
        return Ending.VOID if self.dice.random() < 0.1 else Ending.NORMAL

    async def play(self, assignment: Assignment) -> Result:
        self.played.append(await super().play(assignment))
        return self.played[-1]


class Site:
    """A registry and a season, and a server now and then."""

    def __init__(self, store: Store, dice: random.Random) -> None:
        self.store = store
        self.dice = dice
        self.executor = Remembering(dice)
        self.watcher = Watcher()
        self.numbers = count(2)
        self.versions = {f"bot{number}": [1] for number in range(6)}
        for bot in self.versions:
            registry.add(store.database, bot, "1", f"owner-of-{bot}")
        store.enter(seasons.spec(0), name="season")

    async def serve(self, changes: int) -> None:
        """Until so many things have happened to it."""
        guests = Comers()
        floor = Floor(tiny_game.GAME, self.executor, (), guests, Seating(TABLES))
        with self.store.lock(queries.tournament(self.store, "season")) as lock:
            coordinator = Season(self.store, lock.tournament, self.watcher, floor)
            running = asyncio.create_task(coordinator.run())
            for _ in range(changes):
                await asyncio.to_thread(self._change, guests.here)
                floor.seating.wake()
                await asyncio.sleep(self.dice.random() / 20)
                assert not running.done(), running.exception()
            coordinator.stop()
            with suppress(Interrupted):
                await running

    async def serve_house(self, house: Sequence[Entrant], owner: int = 0) -> None:
        """With these bots, until it ends by itself."""
        present = tuple(Present(one, owner, TABLES) for one in house)
        floor = Floor(tiny_game.GAME, self.executor, present, Comers(), Seating(TABLES))
        with self.store.lock(queries.tournament(self.store, "season")) as lock:
            await Season(self.store, lock.tournament, self.watcher, floor).run()

    def _change(self, here: dict[Entrant, Present]) -> None:
        bot = self.dice.choice(list(self.versions))
        versions = self.versions[bot]
        entrant = Entrant(bot, str(self.dice.choice(versions or [1])), "")
        what = self.dice.choice(("come", "come", "come", "go", "new version", "new version", "retire", "retire"))
        if what == "come" and versions:
            here[entrant] = Present(entrant, int(bot[3:]), self.dice.randint(1, 2))
        elif what == "go":
            here.pop(entrant, None)
        elif what == "new version":
            versions.append(next(self.numbers))
            registry.add(self.store.database, bot, str(versions[-1]), f"owner-of-{bot}")
        elif what == "retire" and here:
            entrant = self.dice.choice(list(here))  # one that plays
            del here[entrant]  # the server says Goodbye to it
            self.versions[entrant.name].remove(int(entrant.version))
            registry.retire(self.store.database, entrant.name, entrant.version)


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(season, "TICK", 0.02)
    monkeypatch.setattr(served, "TICK", 0.02)
    monkeypatch.setattr(served, "AWAY", 0.2)
    monkeypatch.setattr(registry, "MAX_VERSIONS_A_DAY", 1000)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "arena.db")) as opened:
        yield opened


@pytest.mark.parametrize("seed", range(2))
def test_no_game_that_was_played_is_lost_whoever_comes_and_goes(store: Store, seed: int) -> None:
    site = Site(store, random.Random(seed))
    while len(site.executor.played) <= ENOUGH:
        asyncio.run(site.serve(60))
    held = queries.tournament(store, "season")
    assert verify(store, held).problems == ()
    recorded = {result.assignment.game_id for result in site.watcher.results}
    played = {result.assignment.game_id for result in site.executor.played}
    assert played <= recorded, f"{len(played - recorded)} of {len(played)} games are lost"


def test_a_bot_of_the_house_can_be_retired_too(store: Store) -> None:
    site = Site(store, random.Random(0))
    house, guests = [Entrant(f"bot{number}", "1", "") for number in range(3)], Comers()
    floor = Floor(tiny_game.GAME, site.executor, tuple(Present(one, 0, 4) for one in house), guests, Seating(TABLES))
    guests.here = {
        one: Present(one, int(one.name[3:]), 1) for one in (Entrant("bot3", "1", ""), Entrant("bot4", "1", ""))
    }

    async def test() -> None:
        with store.lock(queries.tournament(store, "season")) as lock:
            coordinator = Season(store, lock.tournament, site.watcher, floor)
            running = asyncio.create_task(coordinator.run())
            while len(site.executor.played) < 10:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(registry.retire, store.database, "bot0", "1")
            while not (withdrawn := dict(coordinator.tournament.spec.withdrawn)):
                assert not running.done(), running.exception()
                await asyncio.sleep(0.01)
            gone, before = withdrawn.popitem()[0], len(site.executor.played)
            while len(site.executor.played) < before + 10:
                await asyncio.sleep(0.01)
            assert all(gone not in one.assignment.planned.seats for one in site.executor.played[before:])
            assert coordinator.tournament.spec.entrants[gone] == house[0]
            coordinator.stop()
            with suppress(Interrupted):
                await running

    asyncio.run(asyncio.wait_for(test(), 60))
    assert verify(store, queries.tournament(store, "season")).problems == ()


def test_who_waits_for_a_game_hears_why(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(season, "IDLE_S", 0.1)
    site = Site(store, random.Random(0))

    async def told(why: str) -> None:
        while sum("waits for a game" in line and why in line for line in site.watcher.lines) < 2:
            await asyncio.sleep(0.01)

    async def test() -> None:
        running = asyncio.create_task(site.serve_house([Entrant(f"bot{number}", "1", "") for number in range(2)], 7))
        await told("those of one owner never")
        lifecycle.freeze(store.database, "season")
        await told("season is frozen: no game is planned any more")
        running.cancel()

    asyncio.run(asyncio.wait_for(test(), 60))
    assert len(site.watcher.lines) < 10  # not again and again
    assert not site.executor.played


def test_a_registry_that_cannot_be_read_any_more_ends_the_season(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would not see who comes, who is retired and whether it is frozen."""
    site, read = Site(store, random.Random(0)), count()

    def identities(_: Database) -> dict[bytes, Identity]:
        if next(read) > 2:
            raise ArenaError("the registry is away", "", "")
        return {}

    monkeypatch.setattr(registry, "identities", identities)
    with pytest.raises(ArenaError, match="the registry is away"):
        asyncio.run(asyncio.wait_for(site.serve_house(()), 30))


def test_a_bot_that_is_taken_out_unheard_ends_no_season(
    postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    deaf = Deaf(postgres, tmp_path_factory.mktemp("p"))

    async def serve(site: Site, coordinator: Season, here: dict[Entrant, Present]) -> None:
        for number, bot in enumerate(site.versions):
            here[Entrant(bot, "1", "")] = Present(Entrant(bot, "1", ""), number, 1)
        running = asyncio.create_task(coordinator.run())
        async with asyncio.timeout(60):
            while not (running.done() or {f"bot{number} 1 is retired" for number in range(3)} <= {*site.watcher.lines}):
                await asyncio.sleep(0.02)
                if len(site.watcher.results) > 10 and not deaf.statement:
                    deaf.statement = b"INSERT INTO amendment"
                    for number in range(3):
                        del here[Entrant(f"bot{number}", "1", "")]
                        await asyncio.to_thread(registry.retire, site.store.database, f"bot{number}", None)
        coordinator.stop()
        with suppress(Interrupted):
            await running

    with deaf as url, Store.open(url) as store:
        site, guests = Site(store, random.Random(1)), Comers()
        floor = Floor(tiny_game.GAME, site.executor, (), guests, Seating(TABLES))
        with store.lock(queries.tournament(store, "season")) as lock:
            asyncio.run(serve(site, Season(store, lock.tournament, site.watcher, floor), guests.here))
        assert deaf.lost
        held = queries.tournament(store, "season")
        assert len(held.spec.withdrawn) == 3
        assert verify(store, held).problems == ()
