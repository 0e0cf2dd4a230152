"""The one byte form of what is stored, hashed and compared."""

from __future__ import annotations

import json


def canonical_json(value: object) -> bytes:
    """The one byte form of a JSON value: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
