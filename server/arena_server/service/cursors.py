"""Where a page of standings begins: behind a row, told by what sorts it, so that no page is found by counting."""

from __future__ import annotations

import re

from arena_server.model import Spec, UserError
from arena_server.store.standings import Key

_HEX = r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}"
_CURSOR = re.compile(rf"(?P<mu>{_HEX}),(?P<sigma>{_HEX}),(?P<position>[0-9]{{1,9}})")
_LONGEST = 100  # characters of it in an error


def cursor_text(key: Key) -> str:
    """As it travels; exact."""
    return f"{key.mu.hex()},{key.sigma.hex()},{key.position}"


def cursor(text: str, spec: Spec) -> Key | None:
    """Reads ``cursor_text`` back; None for no text.

    Raises:
        UserError: no page of this tournament ends so.
    """
    if not text:
        return None
    key = _key(text)
    if key is None or key.position >= len(spec.entrants):
        raise UserError("no such page", repr(text[:_LONGEST]), "give `next_page` of the page before, or nothing")
    return key


def _key(text: str) -> Key | None:
    match = _CURSOR.fullmatch(text)
    if match is None:
        return None
    try:
        return Key(float.fromhex(match["mu"]), float.fromhex(match["sigma"]), int(match["position"]))
    except OverflowError:
        return None
