"""When the question of a tournament is decided: stop rules, asked pairing after pairing in schedule order.

A rule keeps sums (JSON), so that a pairing more costs the same however many were played. What it says depends on the
schedule order alone: not on which game ended first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from arena_server.model import Spec, UserError
from arena_server.ratings.leaders import Leaders
from arena_server.ratings.pairs import Pair
from arena_server.ratings.sprt import SCORES, Sprt, Verdict, counts, elo

Sums = Mapping[str, Any]
"""What a rule keeps: how many ``pairings`` it has seen, the number of the last of their ``games``, and sums."""
History = Callable[[], Sequence[Pair]]
"""All pairings up to the one that is judged; asked for seldom."""

_NOTHING: Sums = {"pairings": 0, "games": 0}
_SPRT = re.compile(r"sprt(?P<settings>( +(\w+=\S+|normalised))*)")
_TOP = re.compile(r"top +(?P<count>\d{1,6}) +at +(?P<percent>\d{1,2}(\.\d{1,9})?) *%")
_HALF = 50
_TWO = 2
_WORDS = "write 'sprt elo0=0 elo1=10 alpha=0.05 beta=0.05' or 'top 3 at 95%'"


class Rule(Protocol):
    """A question; its text is what a contract holds."""

    def begin(self) -> Sums:
        """The sums before the first pairing."""

    def after(self, sums: Sums, pair: Pair, history: History) -> Sums:
        """The sums with one pairing more, which is counted already."""

    def decided(self, sums: Sums) -> bool:
        """Whether that decides it."""

    def told(self, sums: Sums, labels: Sequence[str]) -> str:
        """How it stands, or what was decided, for people; labels of the entrants as ``model.labels`` gives them."""

    def as_dict(self, sums: Sums, labels: Sequence[str]) -> dict[str, Any]:
        """The same for programs."""


@dataclass(frozen=True, slots=True)
class Better:
    """Is the first entrant better than the second?"""

    test: Sprt

    def __str__(self) -> str:
        settings = [f"{name}={getattr(self.test, name):.12g}" for name in _NUMBERS]
        return " ".join(["sprt", *settings, *(["normalised"] if self.test.normalised else [])])

    def begin(self) -> Sums:
        """No pairs."""
        return {**_NOTHING, "counts": [0] * len(SCORES)}

    def after(self, sums: Sums, pair: Pair, history: History) -> Sums:  # noqa: ARG002 - the counts say all
        """One pair more, if both of its games compare the two."""
        seen = [before + more for before, more in zip(sums["counts"], counts([pair], 0), strict=True)]
        return {**sums, "counts": seen}

    def decided(self, sums: Sums) -> bool:
        """Whether a bound was reached."""
        return self.test.verdict(sums["counts"]) is not None

    def told(self, sums: Sums, labels: Sequence[str]) -> str:
        """Verdict, ratio, bounds, pairs by their score, Elo."""
        seen, (lower, upper) = sums["counts"], self.test.bounds
        found = elo(seen)
        kind = "normalised Elo" if self.test.normalised else "Elo"
        verdict = {
            Verdict.BETTER: f"{labels[0]} is better than {labels[1]}: {kind} {self.test.elo1:g} is accepted, "
            f"not {self.test.elo0:g}; ",
            Verdict.NOT_BETTER: f"{labels[0]} is not better than {labels[1]}: {kind} {self.test.elo0:g} is accepted, "
            f"not {self.test.elo1:g}; ",
            None: "",
        }[self.test.verdict(seen)]
        return (
            f"{verdict}LLR {self.test.llr(seen):.2f} ({lower:.2f}..{upper:.2f}), "
            f"pairs 0-1/2-1-3/2-2: {'-'.join(map(str, seen))}, "
            f"Elo {found.value:+.0f} ({found.low:+.0f}..{found.high:+.0f})"
        )

    def as_dict(self, sums: Sums, labels: Sequence[str]) -> dict[str, Any]:
        """The same for programs."""
        seen, found = sums["counts"], elo(sums["counts"])
        return {
            "new": labels[0],
            "old": labels[1],
            "verdict": self.test.verdict(seen),
            "llr": self.test.llr(seen),
            "bounds": list(self.test.bounds),
            "pairs": list(seen),
            "elo": {"value": found.value, "low": found.low, "high": found.high},
        }


@dataclass(frozen=True, slots=True)
class Best:
    """Who are the best?"""

    leaders: Leaders

    def __str__(self) -> str:
        return f"top {self.leaders.count} at {self.leaders.percent:.12g}%"

    def begin(self) -> Sums:
        """No look yet."""
        return {**_NOTHING, "looks": 0, "best": [], "sure": 0.0, "needed": 1.0}

    def after(self, sums: Sums, pair: Pair, history: History) -> Sums:  # noqa: ARG002 - a look takes all pairings
        """The same as before, unless it is time for a look."""
        if not self.leaders.looks_after(sums["pairings"]):
            return sums
        look = self.leaders.look(sums["looks"] + 1, history())
        return {
            **sums,
            "looks": sums["looks"] + 1,
            "best": list(look.best),
            "sure": look.sure,
            "needed": look.needed,
        }

    def decided(self, sums: Sums) -> bool:
        """Whether the last look was sure enough."""
        return bool(sums["sure"] >= sums["needed"])

    def told(self, sums: Sums, labels: Sequence[str]) -> str:
        """Who they are, and how sure that is."""
        if not sums["looks"]:
            return f"top {self.leaders.count}: not looked yet"
        names = ", ".join(labels[place] for place in sums["best"])
        known = f"known at {self.leaders.percent:g} %" if self.decided(sums) else "not known yet"
        return (
            f"top {self.leaders.count} {known}: {names}; {sums['sure']:.2%} sure at look {sums['looks']}, "
            f"{sums['needed']:.2%} needed there"
        )

    def as_dict(self, sums: Sums, labels: Sequence[str]) -> dict[str, Any]:
        """The same for programs."""
        return {
            "best": [labels[place] for place in sums["best"]],
            "looks": sums["looks"],
            "sure": sums["sure"],
            "needed": sums["needed"],
        }


@dataclass(frozen=True, slots=True)
class Judged:
    """What a rule says after a pairing.

    Attributes:
        number: of the pairing's last game.
    """

    number: int
    sums: Sums
    decided: bool


def judge(
    rule: Rule, sums: Sums, pairings: Iterable[tuple[int, Pair]], history: Callable[[int], Sequence[Pair]]
) -> Iterator[Judged]:
    """What the rule says after each pairing, up to the one that decides.

    Args:
        rule: the question.
        sums: from the pairings before these.
        pairings: those that are closed, in schedule order: number of the last game, and the comparisons.
        history: all pairings up to the one that ends with the game of this number.
    """
    for number, pair in pairings:
        counted = {**sums, "pairings": sums["pairings"] + 1, "games": number}
        sums = rule.after(counted, pair, lambda number=number: history(number))  # type: ignore[misc]
        yield (judged := Judged(number, sums, rule.decided(sums)))
        if judged.decided:
            return


def canonical(text: str) -> str:
    """A rule as a contract holds it; raises UserError where it is none."""
    found = _TOP.fullmatch(text.strip())
    if found:
        return f"top {int(found['count'])} at {float(found['percent']):.12g}%"
    return str(Better(_sprt(text)))


def rule(spec: Spec, each: int) -> Rule | None:
    """The rule of a spec; None where it has none.

    Args:
        spec: of the tournament.
        each: pairings in which everybody has met everybody he is to meet, once.

    Raises:
        UserError: no rule, or not one for these entrants.
    """
    if spec.stop is None:
        return None
    found = _TOP.fullmatch(spec.stop.strip())
    if found:
        return Best(_leaders(spec, int(found["count"]), float(found["percent"]), each))
    test = _sprt(spec.stop)
    if not len(spec.entrants) == spec.seats == _TWO:
        what = "a sequential test is between two bots, in a game of two seats"
        raise UserError(what, f"{len(spec.entrants)} bots, {spec.seats} seats", "choose 'top 1 at 95%', or two bots")
    return Better(test)


_NUMBERS = tuple(part.name for part in fields(Sprt) if part.name != "normalised")


def _sprt(text: str) -> Sprt:
    found = _SPRT.fullmatch(text.strip())
    if found is None:
        raise UserError("no stop rule", repr(text), _WORDS)
    settings: dict[str, float] = {}
    for word in found["settings"].split():
        name, equals, value = word.partition("=")
        try:
            settings[name] = float(value) if equals else True
        except ValueError:
            raise UserError("no number in an SPRT", repr(word), _WORDS) from None
        if equals and name not in _NUMBERS:
            raise UserError("no such setting of an SPRT", repr(word), _WORDS)
    return Sprt(**settings)  # type: ignore[arg-type]


def _leaders(spec: Spec, count: int, percent: float, each: int) -> Leaders:
    if not 1 <= count < len(spec.entrants):
        fix = f"of {len(spec.entrants)} bots ask for the best 1 to {len(spec.entrants) - 1}"
        raise UserError("no such number of best bots", count, fix)
    if percent < _HALF:
        raise UserError("not sure enough to stop", f"{percent:g}%", "ask for 50% or more: 95%")
    return Leaders(count, percent, len(spec.entrants), spec.seats, each)
