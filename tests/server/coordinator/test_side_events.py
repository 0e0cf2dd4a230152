"""What a server plays beside its season, over a real store, with an executor that plays on paper."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import FrameType, ModuleType

import pytest
import tiny_game
from deaf import Deaf
from on_paper import Paper, Watcher
from sqlalchemy import text
from tournaments import entrants, tiny_spec

from arena_server.coordinator import closing, seating, served, side_events
from arena_server.coordinator.seating import Seating
from arena_server.coordinator.served import Floor
from arena_server.coordinator.side_events import SideEvents
from arena_server.model import ArenaError, Assignment, BreakdownError, Ending, Identity, Purpose
from arena_server.referee.guests import Guests, Present
from arena_server.store import Store, Tournament, queries
from arena_server.store.verify import verify

NAMES = ("one", "two", "three")


class Beside:
    """A database with challenges of three house bots, and a server with four tables."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.watcher = Watcher()
        self.executor = Paper(tiny_game.GAME, 4)
        self.seating = Seating(4)
        for name in NAMES:
            store.enter(tiny_spec(format="match", beside=Purpose.CHALLENGE), name=name)

    def held(self, name: str) -> Tournament:
        found = queries.tournament(self.store, name)
        assert verify(self.store, found).problems == ()
        return found

    def finished(self) -> list[str]:
        return [name for name in NAMES if self.held(name).status == "finished"]

    def run(self, until: Callable[[], object] | None = None, *, here: int = 3) -> None:
        """A server that is stopped once something holds, by default once nothing is open."""

        async def main() -> None:
            house = tuple(Present(entrant, 0, 2) for entrant in entrants(here))
            floor = Floor(self.executor.game, self.executor, house, Guests(self.executor.game, nobody), self.seating)
            self.events = beside = SideEvents(self.store, floor, lambda _: self.watcher, {})
            running = asyncio.create_task(beside.run())
            async with asyncio.timeout(60):
                while not running.done() and not (until() if until else not self.store.side_events()):
                    await asyncio.sleep(0.01)
                beside.stop()
                await running

        asyncio.run(main())
        assert self.seating.taken == 0


async def nobody(_sha256: bytes) -> Identity | None:
    return None


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Beside]:
    monkeypatch.setattr(side_events, "TICK", 0.01)
    with Store.open(str(tmp_path / "arena.db")) as store:
        yield Beside(store)


def test_what_is_open_is_played_on_the_same_tables(beside: Beside) -> None:
    beside.run()
    assert beside.finished() == list(NAMES)
    assert beside.executor.most <= 2  # each bot plays two games at once, whatever they belong to
    assert {queries.progress(beside.store, beside.held(name)).finished for name in NAMES} == {6}


def test_a_run_that_is_begun_unheard_goes_on(
    postgres: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_events, "TICK", 0.01)
    deaf = Deaf(postgres, tmp_path_factory.mktemp("p"), b"INSERT INTO run")
    with deaf as url, Store.open(url) as store:
        beside = Beside(store)
        beside.run()
        assert deaf.lost
        assert beside.finished() == list(NAMES)
        assert {beside.held(name).called_off for name in NAMES} == {""}


def test_what_is_made_meanwhile_is_taken_up(beside: Beside) -> None:
    spec = tiny_spec(format="match", beside=Purpose.CLOSING)

    def later() -> bool:
        return not beside.store.side_events() and not beside.store.enter(spec, name="closing").created

    beside.run(later)
    assert beside.held("closing").status == "finished"


def test_a_closing_goes_on_waiting_where_it_was(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "TICK", 0.01)
    monkeypatch.setattr(closing, "REMEMBER_EVERY", 0.05)
    held = beside.store.enter(tiny_spec(format="match", beside=Purpose.CLOSING), name="closing").tournament

    def waiting() -> int:
        """Games of which is known since when they wait."""
        return len(beside.events._playing[held.id]._away)

    beside.run(lambda: beside.store.waits(held), here=2)
    assert all(0 < waited < 60 for waited in beside.store.waits(held).values())
    beside.store.note_waits(held, dict.fromkeys(range(1, 7), 80_000.0))
    beside.run(lambda: min(beside.store.waits(held).values()) > 80_000, here=2)
    assert not beside.watcher.results
    beside.store.note_waits(held, dict.fromkeys(range(1, 4), 90_000.0))
    beside.run(lambda: queries.progress(beside.store, beside.held("closing")).abandoned == 3 and waiting() == 3, here=2)
    beside.store.note_waits(held, dict.fromkeys(range(4, 7), 80_000.0))
    beside.run(lambda: beside.held("closing").status == "finished")
    ended = {(one.assignment.game_id, one.ending) for one in beside.watcher.results}
    assert {game for game, ending in ended if ending is Ending.VOID} == {f"closing/{number}" for number in range(1, 4)}
    assert {(f"closing/{number}", Ending.NORMAL) for number in range(4, 7)} <= ended


def test_a_look_at_who_may_play_costs_no_more_where_more_games_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A closing plans all of its games at once, and looks whenever one begins or ends: clocks run meanwhile."""
    monkeypatch.setattr(side_events, "TICK", 0.01)
    monkeypatch.setattr(served, "TICK", 60.0)

    def calls_per_look(games: int) -> float:
        with Store.open(str(tmp_path / f"{games}.db")) as store:
            beside = Beside(store)
            beside.run()
            beside.watcher.results.clear()
            store.enter(tiny_spec(12, games, beside=Purpose.CLOSING), name="closing")
            with called(served, closing, seating) as seen:

                def enough() -> bool:
                    if not beside.watcher.results:
                        seen.clear()  # the first look is at all games
                    return len(beside.watcher.results) > 30

                beside.run(enough, here=11)
            assert queries.tournament(store, "closing").planned == 220 * games
            return seen.total() / seen["_next"]

    few, many = calls_per_look(3), calls_per_look(30)
    assert many < 2 * few, (few, many)


@contextmanager
def called(*modules: ModuleType) -> Iterator[Counter[str]]:
    """How often functions of these modules are called in this thread, by name."""
    files, seen = {module.__file__ for module in modules}, Counter[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename in files:
            seen[frame.f_code.co_name] += 1

    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(None)


def test_a_server_that_was_stopped_is_followed_by_one_that_goes_on(beside: Beside) -> None:
    beside.run(lambda: len(beside.watcher.results) > 3)
    assert beside.finished() != list(NAMES)
    beside.run()
    assert beside.finished() == list(NAMES)
    assert len({result.assignment.game_id for result in beside.watcher.results}) == 18


def test_a_challenge_whose_bots_do_not_come_is_called_off(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = count()
    beside.run(lambda: next(looks) > 30, here=2)
    assert (beside.finished(), beside.executor.given) == ([], [])  # it waits
    monkeypatch.setattr(side_events, "ABSENCE", 0.05)
    beside.run(here=2)
    assert {beside.held(name).called_off for name in NAMES} == {"bot2 1.0 was not there for 0.000833333 minutes"}
    assert any("called off" in line for line in beside.watcher.lines)


def test_one_that_cannot_be_played_ends_alone_and_says_why(beside: Beside) -> None:
    def fail(assignment: Assignment) -> Ending:
        if assignment.planned.tournament == "two" and assignment.planned.number > 2:
            raise ArenaError("no such deal", assignment.planned.number, "")
        return Ending.NORMAL

    beside.executor.rule = fail
    beside.run()
    assert [beside.held(name).called_off[:21] for name in NAMES] == ["", "it cannot be played: ", ""]
    assert any("it cannot be played: no such deal" in line for line in beside.watcher.lines)


@pytest.mark.parametrize("edit", ["contract = '{}'", "ratings = 'another'"])
def test_one_that_is_damaged_does_not_keep_others_from_being_played(beside: Beside, edit: str) -> None:
    with beside.store.database.write() as connection:
        connection.execute(text(f"UPDATE tournament SET {edit} WHERE name = 'two'"))
    beside.run(lambda: len(beside.store.side_events()) == 1 and beside.watcher.lines)
    assert [event.name for event in beside.store.side_events()] == ["two"]
    assert sum("it is played no more" in line for line in beside.watcher.lines) == 1


def test_one_that_a_command_plays_is_left_to_it(beside: Beside) -> None:
    with Store.open(beside.store.label) as command:
        with command.lock(queries.tournament(command, "two")):
            beside.run(lambda: len(beside.store.side_events()) == 1)
        assert beside.finished() == ["one", "three"]
        beside.run()
    assert beside.finished() == list(NAMES)


def test_what_all_rests_on_stops_all(beside: Beside) -> None:
    def fail(assignment: Assignment) -> Ending:
        raise BreakdownError("the disk is full", assignment.game_id, "free some space")

    beside.executor.rule = fail
    with pytest.raises(BreakdownError, match="the disk is full"):
        beside.run()
    assert beside.finished() == []
    assert {beside.held(name).called_off for name in NAMES} == {""}
