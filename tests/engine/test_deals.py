"""Deals and seeds: frozen vectors, and the design's words restated."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter

from arena_engine.deals import bot_seed, commitment, public_secret, shuffler
from arena_engine.patchwork import GAME

SECRET = public_secret("42")


def test_vectors() -> None:
    assert SECRET.hex() == "945ed00b18f27d287b9cdba1255e050b2802807d64fff2a84998e8d86e5bfe20"
    assert commitment(SECRET) == "eac5fb978b83a20cfaf3a7a6434a9be7161f71b56479288abb208a423485c087"
    assert bot_seed(SECRET, 1, "a") == 16265185930172257150
    assert bot_seed(SECRET, 17, "b") == 14146130773913383165
    circles = [GAME.deal({"edition": "revised"}, 2, shuffler(SECRET, "patchwork", pairing)) for pairing in (1, 2)]
    assert circles == [
        {"edition": "revised", "circle": "SKVdPYFfIWNZgJEeRGcbDHOTUCXBaMQLA"},
        {"edition": "revised", "circle": "NXSaOUVPMKcZITYdBfHCbREJFQWeGgLDA"},
    ]
    assert "".join(shuffler(bytes(32), "tiny", 3)("abcdefgh")) == "bgeafdhc"


def test_a_shuffle_is_what_the_design_says() -> None:
    stream = b"".join(hmac.new(SECRET, f"deal/1|g|7|{n}".encode(), hashlib.sha256).digest() for n in range(100))
    blocks = [int.from_bytes(stream[start : start + 8], "big") for start in range(0, len(stream), 8)]
    items = [str(number) for number in range(50)]
    shuffled = list(items)
    for last in range(49, 0, -1):
        while blocks[0] >= 2**64 // (last + 1) * (last + 1):
            blocks.pop(0)
        pick = blocks.pop(0) % (last + 1)
        shuffled[last], shuffled[pick] = shuffled[pick], shuffled[last]
    assert shuffler(SECRET, "g", 7)(items) == shuffled
    assert items == [str(number) for number in range(50)]


def test_one_deal_may_shuffle_twice() -> None:
    shuffle = shuffler(SECRET, "g", 1)
    assert shuffle("abcdefghij") != shuffle("abcdefghij")
    assert shuffle("") == []
    assert shuffle("a") == ["a"]


def test_orders_are_even() -> None:
    orders = Counter("".join(shuffler(SECRET, "g", pairing)("abc")) for pairing in range(1200))
    assert len(orders) == 6
    assert all(140 < count < 260 for count in orders.values())


def test_seeds_and_deals_depend_on_all_they_should() -> None:
    other = public_secret("43")
    seeds = {bot_seed(secret, number, seat) for secret in (SECRET, other) for number in (1, 2) for seat in "ab"}
    assert len(seeds) == 8
    assert max(seeds) < 2**64
    decks = {
        "".join(shuffler(secret, game, pairing)("abcdefghijklmnop"))
        for secret in (SECRET, other)
        for game in ("g", "h")
        for pairing in (1, 11)
    }
    assert len(decks) == 8
