"""Lines of keys, for any layout of a valid text."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.coordinator.lines import Key, line_of

TEXT = '''\
# games = 1
name = """
games = 2"""  # not the key
games = 3

tags = [
  "a", # ]
  'b',
  [
    "games",
    {owner = "x", options = {c = [
      1,
      2]}},
  ],
]
"quoted key" = 1
a.b.c = 5

[[bots]]
bot = "one"

[[bots]] # the second
bot = "two"
options = {d = 1}
[bots.options2]
games = 9
[probation]
share = 0.5
'''


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (("name",), 2),
        (("games",), 4),
        (("tags",), 6),
        (("tags", 0), 7),
        (("tags", 1), 8),
        (("tags", 2), 9),
        (("tags", 2, 0), 10),
        (("tags", 2, 1, "owner"), 11),
        (("tags", 2, 1, "options", "c", 1), 13),
        (("quoted key",), 16),
        (("a", "b", "c"), 17),
        (("bots", 0), 19),
        (("bots", 0, "bot"), 20),
        (("bots", 1), 22),
        (("bots", 1, "bot"), 23),
        (("bots", 1, "options", "d"), 24),
        (("bots", 1, "options2", "games"), 26),
        (("probation",), 27),
        (("probation", "share"), 28),
        (("share",), None),
        (("bots", 2), None),
        (("games", "x"), None),
    ],
)
def test_a_key_is_found_where_it_begins(key: Key, line: int | None) -> None:
    tomllib.loads(TEXT)
    assert line_of(TEXT, key) == line


def layouts(key: str) -> st.SearchStrategy[list[str]]:
    """Lines that give a key a value; its name stands only in the first of them as a key."""
    noise = st.sampled_from([f"# {key} = 1", "", "  ", f'# "{key}"'])
    values = st.sampled_from(
        [
            ["1"],
            [f'"{key} = 2"'],
            ["[", "1,", "]"],
            ["[", f'  "{key}", # [', "  ]"],
            ['"""', f"{key} = 3", '"""'],
            ["'''", "\\", "'''"],
            ["[", '"""', '] "" ', '""",', "]"],
            ["{x = [", "  1,", "]}"],
        ]
    )
    return st.tuples(values, st.lists(noise, max_size=2)).map(
        lambda parts: [f"{key} = {parts[0][0]}", *parts[0][1:], *parts[1]]
    )


@given(st.permutations(["a", "b", "c", "games"]).flatmap(lambda keys: st.tuples(*map(layouts, keys))))
def test_other_keys_do_not_matter(blocks: tuple[list[str], ...]) -> None:
    text = "\n".join(line for block in blocks for line in block)
    first = 1
    for block in blocks:
        assert line_of(text, (block[0].partition(" ")[0],)) == first
        first += len(block)


def leaves(value: Any, key: Key = ()) -> Iterator[Key]:
    yield key
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        yield from leaves(child, (*key, name))


def test_whatever_is_there_is_found() -> None:
    keys = [key for key in leaves(tomllib.loads(TEXT)) if key]
    assert all(line_of(TEXT, key) for key in keys)
