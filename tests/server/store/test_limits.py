"""Statements of readers are stopped after a while, on both kinds of database; those of others never."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from tournaments import patchwork_spec

from arena_server.store import Store
from arena_server.store.database import TooLongError

COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT count(*) FROM n"


def test_a_long_statement_is_stopped_and_the_next_one_is_not(url: str) -> None:
    with Store.open(url) as store:
        store.enter(patchwork_spec(3, 4), name="nightly")
        limited = store.limited(0.05)
        for _ in range(2):
            with pytest.raises(TooLongError), limited.database.read() as connection:
                connection.execute(text(COUNT.format(10**9))).all()
        with store.limited(20).database.read() as connection:
            assert connection.execute(text("SELECT 1")).scalar() == 1
        with store.database.read() as connection:
            assert connection.execute(text(COUNT.format(200_000))).scalar() == 200_000
