"""The admission tests on record."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import update
from tournaments import begin, tiny_spec

from arena_server.model import Ending, Entrant, Result, UserError
from arena_server.store import Store, admissions, registry
from arena_server.store.admissions import MAX_FAILED, WINDOW, Failing
from arena_server.store.tables import ADMISSION

ADA = Entrant("Ada", "1", "")


@pytest.fixture
def opened(url: str) -> Iterator[Store]:
    """With two versions of a bot."""
    with Store.open(url) as store:
        for version in "12":
            registry.add(store.database, "Ada", version, "team")
        yield store


def lost(store: Store) -> Result:
    """A game that somebody lost by a crash."""
    playing = begin(store, tiny_spec())
    return playing.forfeit(playing.assignments()[0], "a", Ending.CRASH)


def states(store: Store) -> list[str]:
    return [one.admission for one in registry.bots(store.database)]


def test_a_version_is_new_then_failed_then_admitted_for_good(opened: Store) -> None:
    token = registry.digest(registry.new_token(opened.database, "ada"))
    assert states(opened) == ["new", "new"]
    admissions.record(opened.database, ADA, "game 1 of 2: crash")
    assert states(opened) == ["failed: game 1 of 2: crash", "new"]
    admissions.record(opened.database, ADA)
    assert states(opened) == ["admitted", "new"]
    for found in (registry.bearer(opened.database, token), registry.identities(opened.database)[token]):
        assert found is not None
        assert found.admitted == {"1"}


def test_the_game_that_a_bot_failed_in_is_kept_whole(opened: Store) -> None:
    game = lost(opened)
    admissions.record(opened.database, ADA, "crash", game)
    [failed] = admissions.history(opened.database, "ADA", "1")
    assert (failed.passed, failed.why) == (False, "crash")
    assert failed.game is not None
    assert failed.game.failures == game.failures
    assert failed.game.moves == game.moves
    assert failed.game.assignment.labels == game.assignment.labels
    assert admissions.history(opened.database, "ada") == []  # of the newest version
    for bot, version in (("nobody", None), ("ada", "3")):
        with pytest.raises(UserError, match="no such"):
            admissions.history(opened.database, bot, version)


def test_the_last_game_alone_is_kept(opened: Store) -> None:
    game = lost(opened)
    for _ in range(2):
        admissions.record(opened.database, ADA, "crash", game)
    assert [one.game is None for one in admissions.history(opened.database, "ada", "1")] == [True, False]


def age(store: Store) -> None:
    """Lets all tests so far be older than the window."""
    old = (datetime.now(UTC) - WINDOW).isoformat(timespec="seconds")
    with store.database.write() as connection:
        connection.execute(update(ADMISSION).values(at=old))


def test_a_test_that_was_recorded_unheard_counts_once(opened: Store) -> None:
    game = lost(opened)
    for again in (True, True, False):  # the first time it is not there yet; the last is another test
        admissions.record(opened.database, ADA, "crash", game, again=again)
    assert admissions.failing(opened.database, ADA).times == 2


def test_failures_are_counted_for_a_while_and_by_version(opened: Store) -> None:
    assert admissions.failing(opened.database, ADA) == Failing()
    for number in range(MAX_FAILED):
        admissions.record(opened.database, ADA, f"reason {number}")
    failing = admissions.failing(opened.database, ADA)
    assert (failing.times, failing.last) == (MAX_FAILED, f"reason {MAX_FAILED - 1}")
    assert datetime.fromisoformat(failing.until) > datetime.now(UTC)
    assert admissions.failing(opened.database, Entrant("Ada", "2", "")) == Failing()
    age(opened)
    assert admissions.failing(opened.database, ADA) == Failing()
    assert states(opened)[0] == f"failed: reason {MAX_FAILED - 1}"


def test_a_bot_that_fails_for_ever_fills_no_disk(opened: Store) -> None:
    for _ in range(3):
        for number in range(MAX_FAILED):
            admissions.record(opened.database, ADA, f"reason {number}")
        age(opened)
    assert len(admissions.history(opened.database, "ada", "1")) == MAX_FAILED
    admissions.record(opened.database, ADA)
    assert [one.passed for one in admissions.history(opened.database, "ada", "1")] == [True]
