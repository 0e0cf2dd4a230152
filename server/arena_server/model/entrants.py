"""Who plays, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

Option = str | int | float | bool
"""The value of one option of a bot."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """Who plays: the identity that a rating belongs to.

    Attributes:
        digest: SHA-256 of the bot's files, in hex.
        options: every option with its value, sorted by name.
    """

    name: str
    version: str
    digest: str
    options: tuple[tuple[str, Option], ...] = ()

    @property
    def label(self) -> str:
        """Name and version: ``mcts 0.3``; ``labels`` tell entrants of one version apart."""
        return f"{self.name} {self.version}"

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two entrants the same one: the name counts without regard to case."""
        return (self.name.casefold(), self.version, self.digest, self.options)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"bot": self.name, "version": self.version, "digest": self.digest, "options": dict(self.options)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Reads ``as_dict`` back."""
        return cls(data["bot"], data["version"], data["digest"], tuple(sorted(data["options"].items())))


def labels(entrants: Sequence[Entrant]) -> tuple[str, ...]:
    """What people read, different for all: ``mcts 0.3``; of one version also the options that differ, or the digest."""
    alike: dict[str, list[Entrant]] = {}
    for entrant in entrants:
        alike.setdefault(entrant.label.casefold(), []).append(entrant)
    return tuple(_label(entrant, alike[entrant.label.casefold()]) for entrant in entrants)


def _label(entrant: Entrant, namesakes: Sequence[Entrant]) -> str:
    """Of one among those of its name and version, itself included."""
    if len(namesakes) == 1:
        return entrant.label
    others = [dict(other.options) for other in namesakes]
    told = [
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in entrant.options
        if any(other.get(name) != value for other in others)
    ]
    if others.count(dict(entrant.options)) > 1:
        told.append(f"digest={entrant.digest[:8]}")
    return " ".join([entrant.label, *told])


@dataclass(frozen=True, slots=True)
class Identity:
    """Who has a token of the registry.

    Attributes:
        owner: number of the bot's owner.
        versions: those that may play, the newest last.
        admitted: those that have passed the admission test.
    """

    bot: str
    owner: int
    versions: tuple[str, ...]
    admitted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class About:
    """What is said of an entrant and shapes nothing; None is what was not said.

    Attributes:
        owner: whose it is.
        group: what it belongs to: a class, a team.
        tags: words to choose it by.
    """

    owner: str | None = None
    group: str | None = None
    tags: tuple[str, ...] | None = None
