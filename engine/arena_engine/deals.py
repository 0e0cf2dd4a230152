"""Deals and bot seeds from a secret that is published after play (its commitment before).

All of it follows from the secret's 32 bytes, so anyone can check it: a stream of big-endian 64-bit blocks is read off
``HMAC-SHA256(secret, "deal/1|game|pairing|counter")``, four blocks a digest, the counter rising from 0.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Sequence

from arena_engine.game import Shuffle

_BLOCK = 8
_RANGE = 1 << 8 * _BLOCK


def public_secret(seed: str) -> bytes:
    """The secret that a public seed stands for: 32 bytes."""
    return hashlib.sha256(f"arena seed|{seed}".encode()).digest()


def commitment(secret: bytes) -> str:
    """What is published before play: the secret's SHA-256, in hex."""
    return hashlib.sha256(secret).hexdigest()


def bot_seed(secret: bytes, number: int, seat: str) -> int:
    """The seed of one seat of game ``number``, the same for every attempt: 64 bits."""
    return int.from_bytes(_digest(secret, f"bot/1|{number}|{seat}")[:_BLOCK], "big")


def shuffler(secret: bytes, game: str, pairing: int) -> Shuffle:
    """The shuffle for a pairing's deal. One deal may shuffle several times: the stream goes on."""
    blocks = _blocks(secret, f"deal/1|{game}|{pairing}")

    def shuffle(items: Sequence[str]) -> list[str]:
        """Fisher-Yates from the last place down; each place swaps with one of those up to and including itself."""
        shuffled = list(items)
        for last in range(len(shuffled) - 1, 0, -1):
            pick = _below(last + 1, blocks)
            shuffled[last], shuffled[pick] = shuffled[pick], shuffled[last]
        return shuffled

    return shuffle


def _digest(secret: bytes, message: str) -> bytes:
    return hmac.digest(secret, message.encode(), "sha256")


def _blocks(secret: bytes, label: str) -> Iterator[int]:
    counter = 0
    while True:
        digest = _digest(secret, f"{label}|{counter}")
        for start in range(0, len(digest), _BLOCK):
            yield int.from_bytes(digest[start : start + _BLOCK], "big")
        counter += 1


def _below(bound: int, blocks: Iterator[int]) -> int:
    """A uniform number below the bound: blocks in the incomplete last cycle are rejected."""
    limit = _RANGE - _RANGE % bound
    return next(block for block in blocks if block < limit) % bound
