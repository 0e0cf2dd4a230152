"""Pure planners: which entrants meet next, given a spec and the stages already played."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from arena_server.formats import elimination, gauntlet, ladder, match, round_robin, season, swiss
from arena_server.formats.place import Place
from arena_server.formats.stage import Counted, Stage
from arena_server.model import Pairing, Spec, UserError

__all__ = ["FORMATS", "SEASON", "Counted", "Format", "Place", "Stage", "active", "find", "places", "plan"]

USUAL_DEALS = 5
LADDER_ROUNDS = 2  # against the neighbour above, and the one below


@dataclass(frozen=True, slots=True)
class Format:
    """A way to hold a tournament.

    Attributes:
        plan: the next pairings; None when it is done. Raises UserError for a spec that it cannot play.
        places: its own table, best first; None where the ratings are all there is.
        usual_deals: how many deals those who meet play where the user says nothing.
        usual_rounds: the number of rounds where the user says nothing, by entrants; None where rounds are not chosen.
        grows: the fields of a spec that may grow while it goes on or afterwards.
        active: the entrants, by index, whom its leaderboard shows unless it is asked for all; None: all of them.
        open_ended: whether it is planned upon who is there, by a server, and never done by itself.
    """

    plan: Callable[[Spec, Sequence[Stage]], Sequence[Pairing] | None]
    places: Callable[[Spec, Sequence[Stage]], Sequence[Place]] | None = None
    usual_deals: int = 1
    usual_rounds: Callable[[int], int] | None = None
    grows: tuple[str, ...] = ()
    active: Callable[[Spec], frozenset[int]] | None = None
    open_ended: bool = False


FORMATS: Mapping[str, Format] = {
    "round-robin": Format(round_robin.plan, usual_deals=USUAL_DEALS, grows=("games", "entrants")),
    "gauntlet": Format(gauntlet.plan, usual_deals=USUAL_DEALS, grows=("games", "entrants")),
    "match": Format(match.plan, usual_deals=USUAL_DEALS, grows=("games",)),
    "swiss": Format(swiss.plan, swiss.places, usual_rounds=swiss.usual_rounds, grows=("rounds", "entrants")),
    "knockout": Format(elimination.plan_knockout, elimination.places_knockout),
    "double-elimination": Format(elimination.plan_double, elimination.places_double),
    "ladder": Format(ladder.plan, ladder.places, usual_rounds=lambda _: LADDER_ROUNDS, grows=("rounds", "entrants")),
}
"""Every format that a command can play, by its name."""
SEASON = "season"
_SERVED = {SEASON: Format(season.plan, grows=("entrants",), active=season.active, open_ended=True)}


def find(name: str) -> Format:
    """The format of that name; raises UserError where there is none."""
    if name in _SERVED:
        return _SERVED[name]
    if name not in FORMATS:
        near = get_close_matches(name, FORMATS, n=1)
        fix = f"did you mean {near[0]}?" if near else f"known: {', '.join(FORMATS)}"
        raise UserError("no such format", repr(name), fix, key=("format",))
    return FORMATS[name]


def plan(spec: Spec, closed: Sequence[Stage]) -> Sequence[Pairing] | None:
    """The pairings of the next stage, in schedule order; None when the tournament is done.

    Args:
        spec: what is to be played.
        closed: every stage so far, all of its games closed.

    Raises:
        UserError: no such format, or the format cannot play this spec.
    """
    form = find(spec.format)
    if spec.rounds is not None and form.usual_rounds is None:
        fix = "leave it out, or choose games"
        raise UserError(f"a {spec.format} has no rounds to choose", spec.rounds, fix, key=("rounds",))
    if spec.challengers != 1 and form is not FORMATS["gauntlet"]:
        fix = "leave it out, or choose gauntlet"
        raise UserError(f"a {spec.format} has no challengers", spec.challengers, fix, key=("challengers",))
    if spec.owners and form is not FORMATS["round-robin"]:
        raise UserError(f"a {spec.format} knows no owners", "", "choose round-robin", key=("format",))
    if spec.owners and len(spec.owners) != len(spec.entrants):
        raise UserError("owners of other entrants", len(spec.owners), f"name one for each of {len(spec.entrants)}")
    if spec.probation.then == "cancel" and form.places is not None:
        what = f"games of a {spec.format} cannot be taken off: who meets next depends on them"
        raise UserError(what, "cancel", "choose forfeit", key=("probation", "then"))
    if spec.stop is not None and form.places is not None:
        what = f"a {spec.format} cannot stop early: who meets next depends on every result"
        raise UserError(what, repr(spec.stop), "leave it out, or choose match, round-robin or gauntlet", key=("until",))
    if spec.withdrawn and len(spec.present(len(closed) + 1)) < spec.seats:
        return None
    return form.plan(spec, closed)


def active(spec: Spec) -> frozenset[int] | None:
    """The entrants, by index, whom the leaderboard shows unless it is asked for all; None: all of them."""
    form = find(spec.format)
    return None if form.active is None else form.active(spec)


def places(spec: Spec, closed: Sequence[Stage]) -> Sequence[Place] | None:
    """The format's own table after so many stages, best first; None where the ratings are all there is."""
    form = find(spec.format)
    return None if form.places is None else form.places(spec, closed)
