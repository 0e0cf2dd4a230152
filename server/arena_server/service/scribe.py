"""What a server tells of itself while it runs: lines of its log, and figures for Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from arena_server.coordinator.watching import Snapshot, Watcher
from arena_server.model import Result, UserError
from arena_server.service.log import Log

BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10)


class Scribe:
    """Watches a season.

    Args:
        log: where it writes.

    Attributes:
        registry: of the figures.
        tell: adds a line to the log.
    """

    def __init__(self, log: Log) -> None:
        self.tell = log.tell
        self.registry = CollectorRegistry()
        self._games = Counter("arena_games", "Games played, by ending.", ["ending"], registry=self.registry)
        self._moves = Counter("arena_moves", "Moves played.", registry=self.registry)
        self._latency = Histogram(
            "arena_move_seconds", "From a request to its answer.", buckets=BUCKETS, registry=self.registry
        )
        self._tests = Counter(
            "arena_admissions", "Admission tests of bots, by what became of them.", ["outcome"], registry=self.registry
        )
        self._stalled = Counter("arena_stalled_seconds", "Stalls of the server itself.", registry=self.registry)

    def gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        """A figure that is looked at when it is asked for."""
        Gauge(f"arena_{name}", about, registry=self.registry).set_function(value)

    def publish(self, port: int) -> int:
        """Serves the figures on 127.0.0.1; the port.

        Raises:
            UserError: somebody else has that port.
        """
        try:
            server, _ = start_http_server(port, "127.0.0.1", self.registry)
        except OSError as error:
            raise UserError(f"no metrics: {error.strerror}", f"127.0.0.1:{port}", "choose another port") from None
        return int(server.server_port)

    def of(self, tournament: str) -> Watcher:
        """A watcher of a side event, whose lines bear its name."""
        return _SideScribe(self, tournament)

    # As the watcher of a season

    def stands(self, snapshot: Snapshot) -> None:
        """How many games there are."""
        self.tell("standings", planned=snapshot.progress.planned, rated=snapshot.progress.folded)

    def ended(self, result: Result) -> None:
        """A game is on record."""
        self._games.labels(result.ending).inc()
        self._moves.inc(len(result.moves))
        self._stalled.inc(result.stalled_us / 1e6)
        for move in result.moves:
            self._latency.observe(move.used_us / 1e6)
        self.tell(
            "game",
            game=result.assignment.game_id,
            attempt=result.assignment.token.attempt,
            bots=list(result.assignment.labels),
            ending=str(result.ending),
            blamed=list(result.blamed),
            plies=len(result.moves),
            **({"reason": result.reason} if result.reason else {}),
        )

    def notes(self, line: str) -> None:
        """Something that the organiser should read."""
        self.tell("note", text=line)

    # As the witness of admission tests

    def tested(self, bot: str, outcome: str, why: str) -> None:
        """A test has begun, or is over."""
        self._tests.labels(outcome).inc()
        self.tell("admission", bot=bot, outcome=outcome, **({"why": why} if why else {}))


@dataclass(frozen=True, slots=True)
class _SideScribe:
    """Watches a side event."""

    scribe: Scribe
    tournament: str

    def stands(self, snapshot: Snapshot) -> None:
        """How many games there are."""
        progress = snapshot.progress
        self.scribe.tell("standings", tournament=self.tournament, planned=progress.planned, rated=progress.folded)

    def ended(self, result: Result) -> None:
        """A game is on record."""
        self.scribe.ended(result)

    def notes(self, line: str) -> None:
        """Something that the organiser should read."""
        self.scribe.tell("note", tournament=self.tournament, text=line)
