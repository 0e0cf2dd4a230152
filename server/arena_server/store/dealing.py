"""The deal of every pairing: shuffled from the secret, or the next one of a suite. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from arena_engine import deals
from arena_engine.game import Game
from arena_server.formats import Stage
from arena_server.model import Pairing
from arena_server.store.views import Terms


def dealt(terms: Terms, game: Game, closed: Sequence[Stage], pairings: Sequence[Pairing]) -> list[dict[str, str]]:
    """One deal a pairing of the next stage.

    Args:
        terms: under which it is played.
        game: what is played.
        closed: the stages before it.
        pairings: as the format plans them.
    """
    spec, planned = terms.spec, sum(len(stage.pairings) for stage in closed)
    variants = spec.variants or (spec.deals,)
    places = [0] * len(pairings)
    if spec.suite or len(variants) > 1:  # else it does not matter
        before = [pairing for stage in closed for pairing in stage.pairings]
        places = list(_places([*before, *pairings]))[planned:]
    if spec.suite:
        return [dict(spec.suite[place % len(spec.suite)]) for place in places]
    return shuffled(terms, game, 1 + planned, [variants[place % len(variants)] for place in places])


def shuffled(
    terms: Terms, game: Game, first: int, options: Iterable[tuple[tuple[str, str], ...]]
) -> list[dict[str, str]]:
    """One deal a pairing, from that number on, each with its deal options."""
    spec = terms.spec
    return [
        game.deal(dict(one), spec.seats, deals.shuffler(terms.secret, spec.game, number))
        for number, one in enumerate(options, first)
    ]


def _places(pairings: Sequence[Pairing]) -> Iterator[int]:
    """The place of each pairing's deal in an endless list of them.

    Entrants who meet again go on to the next deal. Those who meet for the first time begin as far on as one of them
    has met others, so that in a round everybody plays the same deal, and nobody plays one in every round.
    """
    met: defaultdict[int, set[frozenset[int]]] = defaultdict(set)
    began: dict[frozenset[int], int] = {}
    times = Counter[frozenset[int]]()
    for pairing in pairings:
        table = frozenset(pairing.entrants)
        began.setdefault(table, max(len(met[entrant]) for entrant in table))
        yield began[table] + times[table]
        times[table] += 1
        for entrant in table:
            met[entrant].add(table)
