"""Bradley-Terry for readers: a fit over all games, so only of tournaments of moderate size, and kept for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from arena_server.model import ArenaError, UserError
from arena_server.ratings.analysis import analyse
from arena_server.ratings.estimates import Estimate
from arena_server.store import Progress, Standing, Store, Tournament, anchors, queries
from arena_server.store.anchors import Anchors
from arena_server.store.samples import Selection
from arena_server.store.standings import Key

MAX_GAMES = 5_000
"""Rated games of a tournament that is fitted for readers: a fraction of a second."""
MAX_BOTS = 100
"""Entrants likewise: the time of a fit grows with their cube."""
KEPT_S = 10.0
"""Seconds before games that came meanwhile are looked at."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """The standings by Bradley-Terry at one moment.

    Attributes:
        tournament: as of that moment.
        standings: best first; those without an estimate last.
        estimates: in Elo, in the order of the standings.
        keys: what sorts them likewise: the estimate, 0 and the place in the contract.
        anchors: what is fixed, in Elo, by label.
    """

    tournament: Tournament
    progress: Progress
    standings: Sequence[Standing]
    estimates: Sequence[Estimate | None]
    keys: Sequence[Key]
    anchors: Anchors

    def among(self, entrants: Collection[int] | None) -> Estimated:
        """The same of these entrants alone, by index; None: of all."""
        if entrants is None:
            return self
        rows = [row for row, key in enumerate(self.keys) if key.position in entrants]
        return replace(
            self,
            standings=[self.standings[row] for row in rows],
            estimates=[self.estimates[row] for row in rows],
            keys=[self.keys[row] for row in rows],
        )


class Estimates:
    """Fits one tournament at a time.

    Args:
        store: without a limit on statements: what is read is bounded here.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._busy = threading.Lock()
        self._known: dict[str, tuple[float, Estimated]] = {}

    def of(self, tournament: Tournament) -> Estimated:
        """The standings, at most ``KEPT_S`` behind.

        Raises:
            UserError: the tournament is too large.
            ArenaError: another fit is being made.
        """
        when, known = self._known.get(tournament.name, (0.0, None))
        if known is not None:
            same = known.tournament.chain_length == tournament.chain_length
            if same or time.monotonic() < when + KEPT_S:
                return known
        if not self._busy.acquire(blocking=False):
            raise ArenaError("Bradley-Terry ratings are being computed", tournament.name, "ask again in a moment")
        try:
            found = self._fitted(tournament.name)
            self._known = {tournament.name: (time.monotonic(), found)}
        finally:
            self._busy.release()
        return found

    def _fitted(self, name: str) -> Estimated:
        selection = self._selection(name)
        tournament = selection.board.tournament
        fixed = anchors.holding(tournament, selection.games, {})
        strengths = analyse(selection.games, tournament.spec, resample=False, anchors=fixed).strengths
        by_place = {row.position: row for row in selection.board.standings}
        keys = sorted((_key(strengths[place], place) for place in by_place), key=order)
        return Estimated(
            tournament,
            selection.board.progress,
            [by_place[key.position] for key in keys],
            [strengths[key.position] for key in keys],
            keys,
            anchors.told(tournament, fixed),
        )

    def _selection(self, name: str) -> Selection:
        """All rated games, of the moment at which there are few enough."""
        with self._store.frozen() as store:
            tournament = queries.tournament(store, name)
            progress, bots = queries.progress(store, tournament), len(tournament.spec.entrants)
            if progress.folded > MAX_GAMES or bots > MAX_BOTS:
                what = f"Bradley-Terry ratings are served up to {MAX_GAMES} games of {MAX_BOTS} bots"
                fix = "`arena leaderboard --full` computes them where the database is"
                raise UserError(what, f"{tournament.name} has {progress.folded} of {bots}", fix)
            return queries.selection(store, tournament)


def order(key: Key) -> tuple[float, int]:
    """What rows are sorted by."""
    return -key.mu, key.position


def _key(estimate: Estimate | None, place: int) -> Key:
    return Key(_LAST if estimate is None else estimate.value, 0.0, place)


_LAST = -1e300
