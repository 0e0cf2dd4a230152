"""Results from a server, as from the database at hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc
from arena_engine.record import GameRecord
from arena_server.model import ArenaError, Result, UserError
from arena_server.service import messages
from arena_server.service.answering import ERROR_KEY
from arena_server.service.reading import Table, filled
from arena_server.store import Progress, Tournament, journal
from arena_server.store.crosstable import Crosstable
from arena_server.store.lists import MAX_PAGE, Choice, MissingError, Page
from arena_server.store.queries import Leaderboard
from arena_server.store.views import Remarks

ANSWER_S = 10.0
"""Seconds that one answer may take."""
TRIES = 10
"""How often standings that moved while they were read are read again."""
MAX_ANSWER = 64 * 1024 * 1024
"""Bytes of one answer: a contract names every bot."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_Answer = TypeVar("_Answer")


class RemoteReader:
    """Reads from a server; a context manager.

    Args:
        server: ``HOST:PORT``, or ``unix:PATH``.
        ca: a PEM file with the certificate authority to trust; None: those that the machine trusts. On this machine
            alone (a Unix socket, 127.0.0.1) nothing is encrypted unless it is given.

    Raises:
        UserError: the address or the file makes no sense.
    """

    def __init__(self, server: str, ca: Path | None = None) -> None:
        self.label = server
        options = [("grpc.max_receive_message_length", MAX_ANSWER)]
        if ca is None and _is_here(server):
            self._channel = grpc.insecure_channel(server, options)
        else:
            self._channel = grpc.secure_channel(server, grpc.ssl_channel_credentials(_roots(ca)), options)
        self._stub: Any = leaderboard_pb2_grpc.LeaderboardStub(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._channel.close()

    def tournaments(self) -> Sequence[tuple[Tournament, Progress]]:
        """All of them, the newest first."""
        found: list[tuple[Tournament, Progress]] = []
        after = None
        while after != "":
            page = self._ask(self._stub.ListTournaments, pb.ListTournamentsRequest(page_size=100, after=after or ""))
            found += [messages.tournament_of(one) for one in page.tournaments]
            after = page.next_after
        return found

    def leaderboard(self, name: str | None) -> Leaderboard:
        """The standings, all of one moment."""
        return self._settled(lambda: self._leaderboard(name))

    def table(self, tournament: Tournament) -> Table | None:
        """The format's own table; None where the ratings are all there is."""
        request = pb.GetPlacesRequest(tournament=tournament.name)
        return messages.table_of(self._ask(self._stub.GetPlaces, request))

    def crosstable(self, name: str | None) -> tuple[Leaderboard, Crosstable]:
        """Who did how well against whom, and the standings of the same moment."""
        return self._settled(lambda: self._crosstable(name))

    def games(self, name: str | None, choice: Choice, *, after: int, limit: int) -> tuple[str, Page]:
        """The tournament's name, and as many games behind a number as there are, up to a limit."""
        name = self._tournament(name)[0].name

        def page(after: int, limit: int) -> Page:
            request = pb.ListGamesRequest(
                tournament=name,
                bot=choice.bot or "",
                opponent=choice.opponent or "",
                ending=messages.ending_number(choice.ending),
                stage=choice.stage or 0,
                page_size=limit,
                after=after,
            )
            answer = self._ask(self._stub.ListGames, request)
            return Page([messages.summary_of(game) for game in answer.games], answer.next_after or None)

        return name, filled(page, after=after, limit=limit)

    def game(self, text: str) -> tuple[GameRecord, Result]:
        """The game that a text names, and what its record leaves out."""
        answer = self._ask(self._stub.GetGame, pb.GetGameRequest(id=text))
        record = GameRecord.from_json(answer.record_json)
        held, _ = self._tournament(record.tournament)
        return record, journal.decode(answer.entry, held.spec).result

    def _tournament(self, name: str | None) -> tuple[Tournament, Progress]:
        answer = self._ask(self._stub.GetTournament, pb.GetTournamentRequest(tournament=name or ""))
        return messages.tournament_of(answer.tournament)

    def _leaderboard(self, name: str | None) -> Leaderboard | None:
        held, progress = self._tournament(name)
        rows: list[pb.Standing] = []
        remarks, token = Remarks(), None
        while token != "":
            request = pb.GetLeaderboardRequest(tournament=held.name, page_size=MAX_PAGE, page=token or "")
            page = self._ask(self._stub.GetLeaderboard, request)
            if page.chain_length != held.chain_length:
                return None
            rows += page.standings
            remarks = Remarks(tuple(page.abandoned), tuple(page.approximated))
            token = page.next_page
        return Leaderboard(held, [messages.standing_of(row) for row in rows], progress, remarks)

    def _crosstable(self, name: str | None) -> tuple[Leaderboard, Crosstable] | None:
        board = self._leaderboard(name)
        if board is None:
            return None
        cells: list[pb.Cell] = []
        first = None
        while first != 0:
            request = pb.GetCrosstableRequest(tournament=board.tournament.name, page_size=MAX_PAGE, first=first or 0)
            page = self._ask(self._stub.GetCrosstable, request)
            if page.chain_length != board.tournament.chain_length:
                return None
            cells += page.cells
            first = page.next_first
        return board, messages.crosstable_of(board.tournament.spec.entrants, cells)

    def _settled(self, read: Callable[[], _Answer | None]) -> _Answer:
        """What is read while no game ended meanwhile."""
        for _ in range(TRIES):
            found = read()
            if found is not None:
                return found
        raise ArenaError("the standings move faster than they can be read", self.label, "try again")

    def _ask(self, method: Callable[..., _Answer], request: object) -> _Answer:
        try:
            return method(request, timeout=ANSWER_S)
        except grpc.RpcError as error:
            raise self._told(error) from None

    def _told(self, error: Any) -> ArenaError:
        """An error of the server as it told it, or that there is no server."""
        parts = dict(error.trailing_metadata() or ()).get(ERROR_KEY)
        kinds: dict[grpc.StatusCode, type[ArenaError]] = {
            grpc.StatusCode.NOT_FOUND: MissingError,
            grpc.StatusCode.INVALID_ARGUMENT: UserError,
        }
        kind = kinds.get(error.code(), ArenaError)
        if parts is not None:
            return kind(**json.loads(parts))
        what = f"no answer from the server ({error.code().name.lower().replace('_', ' ')}: {error.details()})"
        return ArenaError(what, self.label, "check the address, and --ca where it has a certificate of its own")


def _is_here(server: str) -> bool:
    return server.startswith("unix:") or server.rpartition(":")[0] in _LOOPBACK


def _roots(ca: Path | None) -> bytes | None:
    if ca is None:
        return None
    try:
        return ca.read_bytes()
    except OSError as error:
        raise UserError("cannot read the certificate authority", f"{ca}: {error.strerror}", "check --ca") from None
