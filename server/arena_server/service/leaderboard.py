"""The Leaderboard service: the store's queries over gRPC. It changes nothing."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from contextlib import aclosing
from dataclasses import replace

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc
from arena.v1.referee_pb2 import Ending as EndingNumber
from arena_engine.record import GameRecord
from arena_server.formats import active
from arena_server.model import Purpose, Result, UserError
from arena_server.service import estimates, messages
from arena_server.service.answering import Context, Desk, refuse
from arena_server.service.cursors import cursor, cursor_text
from arena_server.service.kept import KeptAnswers
from arena_server.service.reading import MAX_BOT_GAMES, StoreReader, bot_page
from arena_server.service.visibility import Everything, Visibility
from arena_server.service.watching import Live, Spectators
from arena_server.store import Store, Tournament, journal, queries
from arena_server.store.lists import Choice, MissingError
from arena_server.store.standings import Key

STATEMENT_S = 0.05
"""Seconds after which a statement is stopped."""
PAGE_S = 0.25
"""Seconds after which a page of many statements ends early."""
PAGE_BYTES = 1_000_000
"""Bytes after which a page of large rows ends early."""
SEND_S = 5.0
"""Seconds that a reader of a stream has to take an event once its window is full."""
SIZES = {
    "tournaments": (20, 100),
    "leaderboard": (100, 1000),
    "bot": (20, MAX_BOT_GAMES),
    "games": (100, 1000),
    "cells": (20, 50),
    "rated": (2000, 2000),
}
"""Rows of a page: usually, and at most."""
MAX_NUMBER = 10**9
"""No game has a greater number; databases refuse much greater ones."""


class Leaderboard(leaderboard_pb2_grpc.LeaderboardServicer):
    """Answers from a store, which it leaves open.

    What is not there is NOT_FOUND, what makes no sense INVALID_ARGUMENT, a question that takes too long
    DEADLINE_EXCEEDED, one too many at once RESOURCE_EXHAUSTED, trouble with the database UNAVAILABLE.

    Args:
        store: the database.
        visibility: who may see games that are not over, and what bots say of themselves.
        live: where games are played; None: here are none to watch.
        statement_s: seconds after which a statement is stopped.
    """

    def __init__(
        self,
        store: Store,
        *,
        visibility: Visibility | None = None,
        live: Live | None = None,
        statement_s: float = STATEMENT_S,
    ) -> None:
        self._store = store.limited(statement_s)
        self._reader = StoreReader(self._store)
        self._visibility = visibility or Everything()
        self._estimates = estimates.Estimates(store)
        self._desk = Desk()
        self._boards = KeptAnswers[pb.GetLeaderboardResponse](self._desk)
        self._spectators = Spectators(live, self._desk, self._store, self._visibility)

    def close(self) -> None:
        """Answers no more."""
        self._desk.close()

    async def ListTournaments(  # noqa: N802 - named by the protocol, like the others
        self, request: pb.ListTournamentsRequest, context: Context
    ) -> pb.ListTournamentsResponse:
        """A page of tournaments."""
        return await self._desk.answer(context, lambda: self._tournaments(request))

    async def GetTournament(  # noqa: N802
        self, request: pb.GetTournamentRequest, context: Context
    ) -> pb.GetTournamentResponse:
        """One tournament."""
        return await self._desk.answer(context, lambda: self._tournament(request))

    async def GetLeaderboard(  # noqa: N802
        self, request: pb.GetLeaderboardRequest, context: Context
    ) -> pb.GetLeaderboardResponse:
        """A page of the standings."""
        fresh, request.fresh = request.fresh, False
        key = request.SerializeToString(deterministic=True)
        answer = self._boards.ask(key, lambda: self._leaderboard(request), fresh=fresh)
        return await self._desk.tell(context, answer)

    async def GetPlaces(self, request: pb.GetPlacesRequest, context: Context) -> pb.GetPlacesResponse:  # noqa: N802
        """A format's own table."""
        return await self._desk.answer(context, lambda: self._places(request))

    async def GetBot(self, request: pb.GetBotRequest, context: Context) -> pb.GetBotResponse:  # noqa: N802
        """One bot and its games."""
        return await self._desk.answer(context, lambda: self._bot(request))

    async def GetDetails(self, request: pb.GetDetailsRequest, context: Context) -> pb.GetDetailsResponse:  # noqa: N802
        """All about one tournament."""
        return await self._desk.answer(context, lambda: self._details(request))

    async def ListRatedGames(  # noqa: N802
        self, request: pb.ListRatedGamesRequest, context: Context
    ) -> pb.ListRatedGamesResponse:
        """A page of what the ratings follow from."""
        return await self._desk.answer(context, lambda: self._rated_games(request))

    async def ListGames(self, request: pb.ListGamesRequest, context: Context) -> pb.ListGamesResponse:  # noqa: N802
        """A page of games."""
        return await self._desk.answer(context, lambda: self._games(request))

    async def GetGame(self, request: pb.GetGameRequest, context: Context) -> pb.GetGameResponse:  # noqa: N802
        """One game."""
        return await self._desk.answer(context, lambda: self._game(request))

    async def GetCrosstable(  # noqa: N802
        self, request: pb.GetCrosstableRequest, context: Context
    ) -> pb.GetCrosstableResponse:
        """A page of the crosstable."""
        return await self._desk.answer(context, lambda: self._crosstable(request))

    async def GetChain(self, request: pb.GetChainRequest, context: Context) -> pb.GetChainResponse:  # noqa: N802
        """The head of a chain."""
        return await self._desk.answer(context, lambda: self._chain(request))

    async def WatchGames(  # type: ignore[override]  # noqa: N802 - grpc.aio's other form, which the stubs do not know
        self, request: pb.WatchGamesRequest, context: Context
    ) -> None:
        """Games while they are played."""
        name = request.tournament
        if name:
            name = (await self._desk.answer(context, lambda: self._held(name))).name
        await context.send_initial_metadata(())  # by itself: a first event may never be taken
        try:
            async with aclosing(self._spectators.watch(name)) as events:
                async for event in events:
                    await _send(context, event)
        except UserError as error:
            await refuse(context, error)

    def _held(self, name: str) -> Tournament:
        return queries.tournament(self._store, name or None)

    def _tournaments(self, request: pb.ListTournamentsRequest) -> pb.ListTournamentsResponse:
        limit = _size("tournaments", request.page_size)
        before = queries.tournament(self._store, request.after) if request.after else None
        purpose = _purpose(request.purpose)
        page = pb.ListTournamentsResponse()
        found = queries.tournaments(self._store, purpose=purpose, before=before, limit=limit + 1)
        for held in found[:limit]:
            if page.ByteSize() > PAGE_BYTES:
                break
            page.tournaments.append(messages.tournament_message(held, queries.progress(self._store, held)))
        page.next_after = found[len(page.tournaments) - 1].name if len(page.tournaments) < len(found) else ""
        return page

    def _tournament(self, request: pb.GetTournamentRequest) -> pb.GetTournamentResponse:
        with self._store.frozen() as store:
            held = queries.tournament(store, request.tournament or None)
            return pb.GetTournamentResponse(tournament=messages.tournament_message(held, queries.progress(store, held)))

    def _leaderboard(self, request: pb.GetLeaderboardRequest) -> pb.GetLeaderboardResponse:
        if messages.known(pb.Rating, request.rating) == pb.RATING_BRADLEY_TERRY:
            return self._estimated(request)
        limit = _size("leaderboard", request.page_size)
        with self._store.frozen() as store:
            held = queries.tournament(store, request.tournament or None)
            after = cursor(request.page, held.spec)
            board = queries.leaderboard(store, held, after=after, limit=limit + 1, all_versions=request.all_versions)
        rows = board.standings[:limit]
        last = Key(rows[-1].mu, rows[-1].sigma, rows[-1].position) if len(board.standings) > limit else None
        return pb.GetLeaderboardResponse(
            tournament=held.name,
            progress=messages.progress_message(board.progress),
            standings=[messages.standing_message(row) for row in rows],
            next_page="" if last is None else cursor_text(last),
            chain_length=held.chain_length,
            abandoned=board.remarks.abandoned,
            approximated=board.remarks.approximated,
            hidden=board.hidden,
            state=messages.tournament_message(held, board.progress) if request.with_state else None,
        )

    def _estimated(self, request: pb.GetLeaderboardRequest) -> pb.GetLeaderboardResponse:
        limit = _size("leaderboard", request.page_size)
        held = self._held(request.tournament)
        after = cursor(request.page, held.spec)
        whole = self._estimates.of(held)
        found = whole.among(None if request.all_versions else active(whole.tournament.spec))
        first = 0 if after is None else bisect_right(found.keys, estimates.order(after), key=estimates.order)
        page = pb.GetLeaderboardResponse(
            tournament=held.name,
            progress=messages.progress_message(found.progress),
            next_page=cursor_text(found.keys[first + limit - 1]) if first + limit < len(found.keys) else "",
            chain_length=found.tournament.chain_length,
            anchors=found.anchors,
            hidden=len(whole.keys) - len(found.keys),
            state=messages.tournament_message(found.tournament, found.progress) if request.with_state else None,
        )
        for place in range(first, min(first + limit, len(found.keys))):
            row, estimate = replace(found.standings[place], rank=place + 1), found.estimates[place]
            message = messages.standing_message(row)
            if estimate is not None:
                message.elo.CopyFrom(pb.Elo(value=estimate.value, low=estimate.low, high=estimate.high))
            page.standings.append(message)
        return page

    def _places(self, request: pb.GetPlacesRequest) -> pb.GetPlacesResponse:
        return messages.table_message(self._reader.table(self._held(request.tournament)))

    def _bot(self, request: pb.GetBotRequest) -> pb.GetBotResponse:
        before, limit = min(request.before, MAX_NUMBER) or None, _size("bot", request.page_size)
        with self._store.frozen() as store:
            held = queries.tournament(store, request.tournament or None)
            page = bot_page(store, held, request.bot, before=before, limit=limit)
            progress = queries.progress(store, held) if request.with_state else None
        return pb.GetBotResponse(
            standing=messages.standing_message(page.standing),
            games=[messages.bot_game_message(game) for game in page.games],
            next_before=page.following or 0,
            chain_length=held.chain_length,
            opponents=messages.cell_messages(page.opponents),
            state=None if progress is None else messages.tournament_message(held, progress),
        )

    def _details(self, request: pb.GetDetailsRequest) -> pb.GetDetailsResponse:
        details = self._reader.details(request.tournament or None)
        if not self._visibility.shows_evidence(details.tournament.name):
            details = replace(details, runs=())
        return messages.details_message(details)

    def _rated_games(self, request: pb.ListRatedGamesRequest) -> pb.ListRatedGamesResponse:
        limit = _size("rated", request.page_size)
        with self._store.frozen() as store:
            held = queries.tournament(store, request.tournament or None)
            found = queries.rated(store, held, after=min(request.after, MAX_NUMBER), limit=limit + 1)
        return pb.ListRatedGamesResponse(
            tournament=held.name,
            games=[messages.rated_message(game) for game in found[:limit]],
            next_after=found[limit - 1].number if len(found) > limit else 0,
        )

    def _games(self, request: pb.ListGamesRequest) -> pb.ListGamesResponse:
        limit = _size("games", request.page_size)
        choice = Choice(
            bot=request.bot or None,
            opponent=request.opponent or None,
            ending=messages.ending_of(messages.known(EndingNumber, request.ending)),
            stage=min(request.stage, MAX_NUMBER) or None,
        )
        after = min(request.after, MAX_NUMBER)
        with self._store.frozen() as store:
            held = queries.tournament(store, request.tournament or None)
            watchable = self._watchable(held)
            page = queries.page(store, held, choice, after=after, limit=limit, watchable=watchable)
        return pb.ListGamesResponse(
            tournament=held.name,
            games=[messages.summary_message(game) for game in page.games],
            next_after=page.following or 0,
        )

    def _game(self, request: pb.GetGameRequest) -> pb.GetGameResponse:
        found = queries.find_game(self._store, request.id)
        watchable = self._watchable(found.tournament)
        if watchable is not None and not queries.shows(self._store, found.tournament, found.number, watchable):
            raise MissingError("no record of this game", found.id, "it was not played to its end, or not yet")
        record, entry = queries.record(self._store, found), queries.entry(self._store, found)
        if not self._visibility.shows_evidence(found.tournament.name):
            record, entry = _reduced(record), replace(entry, result=_without_evidence(entry.result))
        return pb.GetGameResponse(record_json=record.to_json(), entry=journal.encode(entry))

    def _watchable(self, held: Tournament) -> list[int] | None:
        """Entrants whose games are for readers before they are over; None: all are."""
        if not self._visibility.hides(held.name):
            return None
        shows = self._visibility.shows_running
        return [place for place, label in enumerate(held.spec.labels) if shows(held.name, (label,))]

    def _crosstable(self, request: pb.GetCrosstableRequest) -> pb.GetCrosstableResponse:
        limit, ends = _size("cells", request.page_size), time.monotonic() + PAGE_S
        last = min(request.watermark, MAX_NUMBER) if request.HasField("watermark") else None
        with self._store.frozen() as store:
            held = queries.tournament(store, request.tournament or None)
            page = pb.GetCrosstableResponse(tournament=held.name, chain_length=held.chain_length)
            rows = range(min(request.first, len(held.spec.entrants)), len(held.spec.entrants))
            for row in rows:
                if row - rows.start >= limit or time.monotonic() > ends or page.ByteSize() > PAGE_BYTES:
                    page.next_first = row
                    break
                page.cells.extend(messages.cell_messages(queries.crosstable(store, held, [row], last)))
        return page

    def _chain(self, request: pb.GetChainRequest) -> pb.GetChainResponse:
        held = self._held(request.tournament)
        return pb.GetChainResponse(
            tournament=held.name,
            head=held.chain_head,
            length=held.chain_length,
            commitments=[terms.commitment for terms in held.terms],
        )


async def _send(context: Context, event: pb.WatchGamesResponse) -> None:
    """Raises UserError for a reader who takes nothing; it learns why once it reads on."""
    try:
        async with asyncio.timeout(SEND_S):
            await context.write(event)
    except TimeoutError:
        raise UserError("this reader is too slow", f"nothing taken for {SEND_S:g} s", "watch again") from None


def _purpose(text: str) -> Purpose | None:
    """That of the name; None where none is asked for; raises UserError for an unknown one."""
    try:
        return Purpose(text) if text else None
    except ValueError:
        raise UserError("tournaments have no such purpose", repr(text), f"known: {', '.join(Purpose)}") from None


def _size(what: str, asked: int) -> int:
    usual, most = SIZES[what]
    return min(asked or usual, most)


def _reduced(record: GameRecord) -> GameRecord:
    """Without what its bot said when it failed."""
    if record.failed is None:
        return record
    return replace(record, failed=replace(record.failed, evidence="", box=None))


def _without_evidence(result: Result) -> Result:
    """Likewise, and without what bots logged."""
    return replace(
        result,
        moves=tuple(move._replace(log=()) for move in result.moves),
        failures=tuple(replace(failure, evidence="", box=None) for failure in result.failures),
    )
