"""Some of a tournament's rated games, and the standings by them alone. Pure: games come from wherever they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from arena_server.model import About
from arena_server.ratings.pairs import Meeting
from arena_server.store import standings
from arena_server.store.lists import MissingError, find_bots, nearest
from arena_server.store.meetings import tallies
from arena_server.store.views import Leaderboard
from arena_server.text import clean


@dataclass(frozen=True, slots=True)
class Sample:
    """Which games: those that everything given here lets through.

    Attributes:
        since: only from this number on.
        opponents: only those of the bots of these names or labels, without regard to case.
        tags: only those among bots with one of these tags.
        groups: only those among bots of these groups.
    """

    since: int | None = None
    opponents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [] if self.since is None else [f"games from number {self.since} on"]
        words = {"games of": self.opponents, "bots with the tag": self.tags, "bots of the group": self.groups}
        parts += [f"{what} {' or '.join(given)}" for what, given in words.items() if given]
        return clean(", ".join(parts))


@dataclass(frozen=True, slots=True)
class Selection:
    """Some of the rated games at one moment, and the standings by them alone.

    Attributes:
        games: in schedule order.
    """

    board: Leaderboard
    games: Sequence[Meeting]


def select(board: Leaderboard, games: Iterable[Meeting], about: Sequence[About], sample: Sample) -> Selection:
    """The games of a sample and the standings by them; a choice of games is rated on its own.

    Args:
        board: by all games, with every entrant.
        games: all rated ones, in schedule order.
        about: what is said of every entrant, in the order of entry.
        sample: which of the games; entrants that it leaves out are not in the standings.

    Raises:
        UserError: no such game, or no bot of that name plays there, or none has that tag or group.
    """
    if sample == Sample():
        return Selection(board, list(games))
    tournament, since = board.tournament, sample.since
    if since is not None and not 1 <= since <= max(tournament.planned, 1):
        raise MissingError("no such game", since, f"{tournament.name} has {tournament.planned} games")
    places = {place for bot in sample.opponents for place in find_bots(tournament, bot)}
    kept = among(about, tags=sample.tags, groups=sample.groups)
    chosen = [
        game
        for game in games
        if game.number >= (since or 1)
        and (not places or not places.isdisjoint(game.entrants))
        and (kept is None or kept.issuperset(game.entrants))
    ]
    rows = board.standings
    if since is not None or places or kept is not None:
        spec = tournament.spec
        rows = standings.ranked(list(zip(spec.entrants, tallies(chosen, tournament), strict=True)), spec)
    if kept is not None:
        left = [row for row in rows if row.position in kept]
        rows = [replace(row, rank=rank) for rank, row in enumerate(left, 1)]
    return Selection(replace(board, standings=rows), chosen)


def among(about: Sequence[About], *, tags: Sequence[str], groups: Sequence[str]) -> set[int] | None:
    """The entrants, by index, that bear one of the tags and belong to one of the groups; None where none is asked for.

    Raises:
        UserError: a tag or a group that no entrant has.
    """
    tagged = _having("tag", tags, [one.tags or () for one in about])
    grouped = _having("group", groups, [() if one.group is None else (one.group,) for one in about])
    found = [places for places in (tagged, grouped) if places is not None]
    return set.intersection(*found) if found else None


def _having(kind: str, wanted: Sequence[str], words: Sequence[Sequence[str]]) -> set[int] | None:
    """The places whose words hold one of those wanted, without regard to case; None where nothing is wanted."""
    if not wanted:
        return None
    keys = [{word.casefold() for word in has} for has in words]
    known = list({word.casefold(): word for has in words for word in has}.values())
    for word in wanted:
        if not any(word.casefold() in has for has in keys):
            raise MissingError(f"no bot has this {kind}", repr(word), nearest(word, known) if known else "none has any")
    return {place for place, has in enumerate(keys) if any(word.casefold() in has for word in wanted)}
