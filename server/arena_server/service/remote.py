"""Results from a server, as from the database at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import grpc

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc
from arena_engine.record import GameRecord
from arena_server.model import ArenaError, Purpose, Result
from arena_server.service import messages
from arena_server.service.dialling import Dialled
from arena_server.service.reading import BotPage, Details, LiveEvent, Table, filled
from arena_server.store import Progress, Tournament, journal
from arena_server.store.crosstable import Crosstable
from arena_server.store.lists import MAX_PAGE, Choice, Page
from arena_server.store.meetings import RatedGame, meetings
from arena_server.store.samples import Sample, Selection, select
from arena_server.store.views import Leaderboard, Remarks

TRIES = 10
"""How often standings that moved while they were read are read again."""


class RemoteReader(Dialled):
    """Reads from a server."""

    def __init__(self, server: str, ca: Path | None = None, *, insecure: bool = False) -> None:
        super().__init__(server, ca, insecure=insecure)
        self._stub: Any = leaderboard_pb2_grpc.LeaderboardStub(self.channel)

    def tournaments(self, purpose: Purpose | None = None) -> Sequence[tuple[Tournament, Progress]]:
        """Those that are played for something, by default all but challenges, the newest first."""
        found: list[tuple[Tournament, Progress]] = []
        after = None
        while after != "":
            request = pb.ListTournamentsRequest(page_size=100, after=after or "", purpose=purpose or "")
            page = self.ask(self._stub.ListTournaments, request)
            found += [messages.tournament_of(one) for one in page.tournaments]
            after = page.next_after
        return found

    def leaderboard(self, name: str | None, *, all_versions: bool = False) -> Leaderboard:
        """The standings, all of one moment; of a season those of its active versions, or of all."""
        for _ in range(TRIES):
            found = self._leaderboard(name, all_versions=all_versions)
            if found is not None:
                return found
        raise ArenaError("the standings move faster than they can be read", self.label, "try again")

    def table(self, tournament: Tournament) -> Table | None:
        """The format's own table; None where the ratings are all there is."""
        request = pb.GetPlacesRequest(tournament=tournament.name)
        return messages.table_of(self.ask(self._stub.GetPlaces, request))

    def details(self, name: str | None) -> Details:
        """All about a tournament."""
        return messages.details_of(self.ask(self._stub.GetDetails, pb.GetDetailsRequest(tournament=name or "")))

    def selection(self, name: str | None, sample: Sample) -> Selection:
        """The rated games of a sample, and the standings by them, with every entrant."""
        board = self.leaderboard(name, all_versions=True)
        games = self._rated_games(board.tournament.name, board.progress.folded)
        about = [] if sample == Sample() else self.details(board.tournament.name).about
        return select(board, meetings(games, len(board.tournament.spec.entrants)), about, sample)

    def bot(self, name: str | None, bot: str, *, before: int | None, limit: int) -> BotPage:
        """What is known of an entrant, and so many of its games before a number; a page may hold fewer."""
        request = pb.GetBotRequest(tournament=name or "", bot=bot, page_size=limit, before=before or 0, with_state=True)
        page = self.ask(self._stub.GetBot, request)
        held, _ = messages.tournament_of(page.state)
        return BotPage(
            held,
            messages.standing_of(page.standing),
            messages.crosstable_of(held.spec.entrants, page.opponents),
            [messages.bot_game_of(game) for game in page.games],
            page.next_before or None,
        )

    def watch(self, name: str | None) -> Iterator[LiveEvent]:
        """What happens to games from now on, of one tournament or of all; until it is told to stop."""
        call = self._stub.WatchGames(pb.WatchGamesRequest(tournament=name or ""))
        try:
            for event in call:
                yield messages.live_of(event)
        except grpc.RpcError as error:
            raise self.told(error) from None
        finally:
            call.cancel()

    def crosstable(self, name: str | None) -> tuple[Leaderboard, Crosstable]:
        """Who did how well against whom, and the standings of the same moment."""
        board = self.leaderboard(name, all_versions=True)
        held = board.tournament
        cells: list[pb.Cell] = []
        first = None
        while first != 0:
            request = pb.GetCrosstableRequest(
                tournament=held.name, page_size=MAX_PAGE, first=first or 0, watermark=held.watermark
            )
            page = self.ask(self._stub.GetCrosstable, request)
            cells += page.cells
            first = page.next_first
        return board, messages.crosstable_of(held.spec.entrants, cells)

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
            answer = self.ask(self._stub.ListGames, request)
            return Page([messages.summary_of(game) for game in answer.games], answer.next_after or None)

        return name, filled(page, after=after, limit=limit)

    def game(self, text: str) -> tuple[GameRecord, Result]:
        """The game that a text names, and what its record leaves out."""
        answer = self.ask(self._stub.GetGame, pb.GetGameRequest(id=text))
        record = GameRecord.from_json(answer.record_json)
        held, _ = self._tournament(record.tournament)
        return record, journal.decode(answer.entry, held.spec).result

    def _tournament(self, name: str | None) -> tuple[Tournament, Progress]:
        answer = self.ask(self._stub.GetTournament, pb.GetTournamentRequest(tournament=name or ""))
        return messages.tournament_of(answer.tournament)

    def _leaderboard(self, name: str | None, *, all_versions: bool) -> Leaderboard | None:
        """None where a game ended between two of its pages."""
        request = pb.GetLeaderboardRequest(
            tournament=name or "", page_size=MAX_PAGE, all_versions=all_versions, fresh=True, with_state=True
        )
        first = page = self.ask(self._stub.GetLeaderboard, request)
        held, progress = messages.tournament_of(first.state)
        rows: list[pb.Standing] = [*first.standings]
        request.tournament, request.with_state = held.name, False
        while page.next_page:
            request.page = page.next_page
            page = self.ask(self._stub.GetLeaderboard, request)
            if page.chain_length != held.chain_length:
                return None
            rows += page.standings
        remarks = Remarks(tuple(first.abandoned), tuple(first.approximated))
        return Leaderboard(held, [messages.standing_of(row) for row in rows], progress, remarks, first.hidden)

    def _rated_games(self, name: str, count: int) -> list[RatedGame]:
        """The first of them: what is rated later comes behind."""
        games: list[RatedGame] = []
        after = None
        while after != 0 and len(games) < count:
            page = self.ask(self._stub.ListRatedGames, pb.ListRatedGamesRequest(tournament=name, after=after or 0))
            games += [messages.rated_of(game) for game in page.games]
            after = page.next_after
        return games[:count]
