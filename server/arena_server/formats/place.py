"""A row of a format's own table: who is where by its rules, whatever the ratings say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """One row.

    Attributes:
        rank: 1 is best; equal numbers are not told apart.
        entrant: index in the spec.
        marks: what the rank rests on, name to text.
    """

    rank: int
    entrant: int
    marks: Mapping[str, str]
