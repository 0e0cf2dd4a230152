"""Who may play on a standing server."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Barrier

import pytest
from sqlalchemy import select

from arena_server.model import Entrant, UserError
from arena_server.store import Store, registry
from arena_server.store.tables import TOKEN


def test_a_token_opens_the_door_until_it_is_revoked(store: Store) -> None:
    registry.add(store.database, "Ada", "1", "team")
    token = registry.new_token(store.database, "ada")
    assert re.fullmatch(r"arena_[A-Za-z0-9_-]{43}", token)
    bearer = registry.bearer(store.database, registry.digest(token))
    assert bearer is not None
    assert (bearer.bot, bearer.versions) == ("Ada", ("1",))
    assert registry.bearer(store.database, registry.digest(token + "x")) is None
    assert registry.revoke(store.database, "ADA", token) == 1
    assert registry.bearer(store.database, registry.digest(token)) is None
    with pytest.raises(UserError, match="no such token"):
        registry.revoke(store.database, "ada")


def test_the_token_itself_is_nowhere(store: Store) -> None:
    registry.add(store.database, "ada", "1", "team")
    token = registry.new_token(store.database, "ada")
    with store.database.read() as connection:
        row = connection.execute(select(TOKEN)).one()
    assert token not in str(row)
    assert row.sha256 == registry.digest(token)


def test_rotating_takes_the_others_away(store: Store) -> None:
    registry.add(store.database, "ada", "1", "team")
    before = [registry.new_token(store.database, "ada") for _ in range(2)]
    after = registry.new_token(store.database, "ada", instead=True)
    good = [registry.bearer(store.database, registry.digest(one)) is not None for one in (*before, after)]
    assert good == [False, False, True]


def test_names_count_without_regard_to_case(store: Store) -> None:
    registry.add(store.database, "Ada", "1", "Team")
    with pytest.raises(UserError, match="somebody else's"):
        registry.add(store.database, "aDA", "2", "others")
    registry.add(store.database, "ADA", "2", "TEAM")
    assert [(one.bot, one.version, one.owner) for one in registry.bots(store.database)] == [
        ("Ada", "1", "Team"),
        ("Ada", "2", "Team"),
    ]
    with pytest.raises(UserError, match="that version already"):
        registry.add(store.database, "ada", "2", "team")


@pytest.mark.parametrize("name", ["", "a b", "a/b", "x" * 65, "\u202egnp", "<b>", "a\n", "../x"])
def test_hostile_names_are_refused(store: Store, name: str) -> None:
    for arguments in ((name, "1", "team"), ("bot", name, "team"), ("bot", "1", name)):
        with pytest.raises(UserError, match="not a name"):
            registry.add(store.database, *arguments)


def test_versions_are_retired_one_by_one_or_all(store: Store) -> None:
    for version in "123":
        registry.add(store.database, "ada", version, "team")
    token = registry.digest(registry.new_token(store.database, "ada"))
    assert registry.retire(store.database, "ada", "1") == ("1",)
    bearer = registry.bearer(store.database, token)
    assert bearer is not None
    assert bearer.versions == ("2", "3")
    assert registry.retire(store.database, "ada", None) == ("2", "3")
    with pytest.raises(UserError, match="no version that plays"):
        registry.retire(store.database, "ada", None)
    with pytest.raises(UserError, match="no such bot"):
        registry.retire(store.database, "nobody", None)


def test_quotas(store: Store) -> None:
    for number in range(registry.MAX_VERSIONS_A_DAY):
        registry.add(store.database, "ada", str(number), "team")
    with pytest.raises(UserError, match="within a day"):
        registry.add(store.database, "ada", "more", "team")
    registry.add(store.database, "bob", "1", "others")
    for _ in range(registry.MAX_TOKENS):
        registry.new_token(store.database, "ada")
    with pytest.raises(UserError, match="tokens"):
        registry.new_token(store.database, "ada")


def test_quotas_hold_for_many_at_once(url: str) -> None:
    with Store.open(url) as store, ThreadPoolExecutor(8) as threads:
        registry.add(store.database, "ada", "0", "team")
        begin = Barrier(8)

        def at_once(ask: Callable[[int], object], number: int) -> int:
            begin.wait()
            with suppress(UserError):
                ask(number)
                return 1
            return 0

        def add(number: int) -> None:
            registry.add(store.database, "ada", f"1.{number}", "team")

        def new_token(_number: int) -> None:
            registry.new_token(store.database, "ada")

        added = [sum(threads.map(partial(at_once, add), range(first, first + 8))) for first in (0, 8)]
        assert sum(added) == registry.MAX_VERSIONS_A_DAY - 1
        assert sum(threads.map(partial(at_once, new_token), range(8))) == registry.MAX_TOKENS


def test_the_house_keeps_its_names(store: Store) -> None:
    house = (Entrant("greedy", "1.0", "d" * 64), Entrant("greedy", "1.0", "d" * 64, (("c", 1.5),)))
    for _ in range(2):  # as every start of the server does
        registry.add_house(store.database, house)
    for bot, owner in (("Greedy", "team"), ("other", "House")):
        with pytest.raises(UserError):
            registry.add(store.database, bot, "2", owner)
    with pytest.raises(UserError, match="launches this bot"):
        registry.new_token(store.database, "greedy")
    registry.add(store.database, "mine", "1", "team")
    with pytest.raises(UserError, match="somebody else's"):
        registry.add_house(store.database, (Entrant("Mine", "1.0", ""),))


def test_two_who_want_one_name_at_once(store: Store) -> None:
    def take(owner: str) -> bool:
        try:
            registry.add(store.database, "ada", "1", owner)
        except UserError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(take, [f"team{number}" for number in range(8)])) == 1


def test_the_newest_version_is_the_one_that_came_last_whatever_the_clock_says(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for clock, versions in (("2026-11-30T12:00:00+00:00", ("0.9", "0.10")), ("2026-01-01T00:00:00+00:00", ("0.2",))):
        monkeypatch.setattr(registry, "now", lambda clock=clock: clock)
        for version in versions:
            registry.add(store.database, "ada", version, "team")
            assert [one.version for one in registry.bots(store.database)][-1] == version
    with store.database.read() as connection:
        assert registry.playing(connection, "ada", None).version == "0.2"
