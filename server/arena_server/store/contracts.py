"""Contracts side by side: whether they are the same, what they differ in, and how one may grow into another. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from arena_server import formats
from arena_server.model import ArenaError, Entrant, Spec, UserError, canonical_json
from arena_server.store.views import Extent

_NUMBERS = ("games", "rounds", "frozen")
_GROWS = "grows"
"""The one key of a contract that is told as what it adds to the one before it."""


def same(held: Spec, given: Spec) -> bool:
    """Whether a command asks for what is held: nobody says who came late, and who was withdrawn may be left out."""
    return _asked(held, given) == given


def grown(name: str, held: Spec, given: Spec, stage: int) -> Spec:
    """What is held with the growth that a command asks for; as it is where it asks for none.

    Args:
        name: of the tournament.
        held: its contract.
        given: what the command says, complete.
        stage: the first that the growth can hold for.

    Raises:
        UserError: something differs that cannot grow, or shrinks, or the format cannot play so much.
    """
    asked = _asked(held, given)
    most = _most(asked, given)
    if most != given:
        what = f"tournament {name} cannot be extended so"
        raise UserError(what, "; ".join(differences(most, given)), _growth(held))
    new = given.entrants[len(asked.entrants) :]
    if not formats.find(given.format).open_ended:
        formats.plan(replace(given, entrants=held.entrants + new), ())  # told now rather than after some rounds
    return replace(
        held,
        games=given.games,
        rounds=given.rounds,
        entrants=held.entrants + new,
        late=held.late + _late(len(held.entrants), len(new), stage),
    )


def follows(before: Spec, after: Spec, stage: int) -> bool:
    """Whether an amendment that holds from that stage on can have made the one into the other."""
    open_ended = formats.find(before.format).open_ended
    if before.frozen is not None:
        return False
    if after.frozen is not None:
        return after == replace(before, frozen=after.frozen) and open_ended
    old = len(before.entrants)
    out = after.withdrawn[len(before.withdrawn) :]
    expected = replace(
        _most(before, replace(after, late=before.late, withdrawn=before.withdrawn)),
        late=before.late + _late(old, len(after.entrants) - old, stage),
        withdrawn=before.withdrawn + out,
    )
    first_open = 1 if open_ended else stage - 1  # others have one stage at a time
    return after == expected and all(first_open <= since <= stage for _, since in out)


@lru_cache(maxsize=64)
def spec_of(contract: str) -> Spec:
    """What a stored contract says; raises ArenaError where it says nothing."""
    try:
        return Spec.from_contract(json.loads(contract))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _damaged(contract) from None


def amended(before: Spec, after: Spec) -> str:
    """How an amendment tells its contract: what it adds to the one before it, or whole where it is no growth.

    A season has an amendment for each bot that joins: with all bots in each, a thousand would be tens of megabytes.
    """
    added = _added(before, after)
    return added if _next(before, added) == after else whole(after)


def is_told(told: str, before: Spec, after: Spec) -> bool:
    """Whether that is how an amendment tells its contract; earlier arenas told every one whole."""
    return told in (_added(before, after), whole(after))


def whole(spec: Spec) -> str:
    """A contract as it is stored: canonical JSON."""
    return canonical_json(spec.contract()).decode()


def _added(before: Spec, after: Spec) -> str:
    """What is behind the lists of the one before, and the numbers that changed, as canonical JSON."""
    had = Extent.of(before)
    added = {
        "entrants": [one.as_dict() for one in after.entrants[had.entrants :]],
        "late": after.late[had.late :],
        "withdrawn": after.withdrawn[had.withdrawn :],
    }
    numbers = {key: getattr(after, key) for key in _NUMBERS if getattr(after, key) != getattr(before, key)}
    return canonical_json({_GROWS: {**{key: items for key, items in added.items() if items}, **numbers}}).decode()


def history(first: str, amendments: Iterable[str]) -> list[tuple[Spec, Extent]]:
    """A contract and what it became with each amendment: each as a contract, perhaps of later, and how much of it held.

    Raises:
        ArenaError: one of them says nothing.
    """
    spec = spec_of(first)
    found = [(spec, Extent.of(spec))]
    run: list[Extent] = []  # those of the same contract, which grows
    for told in amendments:
        if _grows(told) is None:
            found += [(spec, extent) for extent in run]
            run = []
        spec = _next(spec, told)
        run.append(Extent.of(spec))
    return found + [(spec, extent) for extent in run]


def _next(before: Spec, told: str) -> Spec:
    """The contract behind one, as an amendment tells it."""
    grows = _grows(told)
    if grows is None:
        return spec_of(told)
    try:
        return replace(
            before,
            entrants=before.entrants + tuple(map(Entrant.from_dict, grows.get("entrants", ()))),
            late=before.late + tuple((entrant, stage) for entrant, stage in grows.get("late", ())),
            withdrawn=before.withdrawn + tuple((entrant, stage) for entrant, stage in grows.get("withdrawn", ())),
            **{key: grows[key] for key in _NUMBERS if key in grows},
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _damaged(told) from None


def _grows(told: str) -> Mapping[str, Any] | None:
    """What it adds; None where it is told whole."""
    try:
        grows: Mapping[str, Any] | None = json.loads(told).get(_GROWS)
    except (ValueError, AttributeError):
        raise _damaged(told) from None
    return grows


def _damaged(contract: str) -> ArenaError:
    return ArenaError("a tournament's contract is damaged", contract[:200], "restore the database from a copy")


def differences(stored: Spec, given: Spec) -> list[str]:
    """What the contracts differ in, as ``key: stored -> now``."""
    before, after = stored.contract(), given.contract()
    changes = [
        f"{key}: {_shown(key, before.get(key))} -> {_shown(key, after.get(key))}"
        for key in {**before, **after}
        if key != "entrants" and before.get(key) != after.get(key)
    ]
    if before["entrants"] != after["entrants"]:
        changes += _changed_files(stored, given) or [f"bots: {_names(stored)} -> {_names(given)}"]
    return changes


def changed_bots(earlier: Spec, spec: Spec) -> list[str]:
    """The bots whose files changed; empty where anything else did, or nothing."""
    if earlier == spec or _without_digests(earlier) != _without_digests(spec):
        return []
    return [new.label for old, new in zip(earlier.entrants, spec.entrants, strict=True) if old != new]


def _asked(held: Spec, given: Spec) -> Spec:
    """What a command has to say to mean what is held."""
    out = dict(held.withdrawn)
    wanted = set(given.entrants) if out else set()
    named = [one for place, one in enumerate(held.entrants) if place not in out or one in wanted]
    return replace(held, entrants=tuple(named), late=(), withdrawn=(), frozen=None)


def _most(before: Spec, after: Spec) -> Spec:
    """The first, grown towards the second as far as its format allows."""
    grows = formats.find(before.format).grows
    most = before
    if "games" in grows and after.games > before.games:
        most = replace(most, games=after.games)
    if "rounds" in grows and (after.rounds or 0) > (before.rounds or 0):
        most = replace(most, rounds=after.rounds)
    if (
        "entrants" in grows
        and before.stop is None
        and not before.owners
        and after.entrants[: len(before.entrants)] == before.entrants
    ):
        most = replace(most, entrants=after.entrants)
    return most


def _late(old: int, new: int, stage: int) -> tuple[tuple[int, int], ...]:
    """Whoever is there from the first stage is not late."""
    return tuple((entrant, stage) for entrant in range(old, old + new)) if stage > 1 else ()


def _growth(held: Spec) -> str:
    form = held.format
    words = {"games": "more games", "rounds": "more rounds", "entrants": "further bots behind the others"}
    if held.stop is not None or held.owners:
        del words["entrants"]  # a question is asked of those who were there; nobody says whose a new one is
    grows = [words[key] for key in formats.find(form).grows if key in words]
    if not grows:
        return f"a {form} is drawn once and cannot grow: give the same again, or --new to start afresh"
    return f"a {form} can get {' and '.join(grows)}, and nothing else may differ; --new starts afresh"


def _changed_files(stored: Spec, given: Spec) -> list[str]:
    """The bots whose files alone changed; empty where the entrants differ in anything else."""
    if _without_digests(stored)["entrants"] != _without_digests(given)["entrants"]:
        return []
    pairs = zip(stored.entrants, given.entrants, strict=True)
    return [f"files of {new.label}: {old.digest[:8]} -> {new.digest[:8]}" for old, new in pairs if old != new]


def _without_digests(spec: Spec) -> dict[str, Any]:
    contract = spec.contract()
    return {**contract, "entrants": [{**entrant, "digest": ""} for entrant in contract["entrants"]]}


def _names(spec: Spec) -> str:
    labels = []
    for entrant in spec.entrants:
        options = ",".join(f"{name}={value}" for name, value in entrant.options)
        labels.append(f"{entrant.label}:{options}" if options else entrant.label)
    return ", ".join(labels)


def _shown(key: str, value: object) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{key}={item}" for key, item in value.items()) or "none"
    if key == "variants" and isinstance(value, list):
        return "; ".join(_shown("", options) for options in value)
    if isinstance(value, list) and isinstance(value[0], Mapping):  # a suite
        return f"{len(value)} deals with SHA-256 {hashlib.sha256(canonical_json(value)).hexdigest()[:8]}"
    return "none" if value is None else str(value)
