"""The Leaderboard service: the store's queries over gRPC. It changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import grpc

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc
from arena.v1.referee_pb2 import ENDING_UNSPECIFIED
from arena_server.model import ArenaError, Entrant, UserError
from arena_server.referee.messages import ENDINGS
from arena_server.store import Standing, Store, queries
from arena_server.wire.lobby import option_message

PAGE = 100
"""Games of a page where the request names no number."""
MAX_MESSAGE = 500
"""Characters of an error's text: it travels as metadata, which clients bound."""

Context = grpc.aio.ServicerContext[Any, Any]
_Response = TypeVar("_Response")


class Leaderboard(leaderboard_pb2_grpc.LeaderboardServicer):
    """Answers from a store, which it leaves open.

    What is not there is NOT_FOUND, what makes no sense INVALID_ARGUMENT, trouble with the database UNAVAILABLE.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def GetLeaderboard(  # noqa: N802 - named by the protocol
        self, request: pb.GetLeaderboardRequest, context: Context
    ) -> pb.GetLeaderboardResponse:
        """The standings of one tournament."""
        return await _answer(context, lambda: self._leaderboard(request))

    async def ListBots(self, request: pb.ListBotsRequest, context: Context) -> pb.ListBotsResponse:  # noqa: N802 - named by the protocol
        """The entrants of one tournament."""
        return await _answer(context, lambda: self._bots(request))

    async def ListGames(self, request: pb.ListGamesRequest, context: Context) -> pb.ListGamesResponse:  # noqa: N802 - named by the protocol
        """A page of games."""
        return await _answer(context, lambda: self._games(request))

    async def GetGame(self, request: pb.GetGameRequest, context: Context) -> pb.GetGameResponse:  # noqa: N802 - named by the protocol
        """The record of one game."""
        return await _answer(context, lambda: self._game(request))

    def _leaderboard(self, request: pb.GetLeaderboardRequest) -> pb.GetLeaderboardResponse:
        board = queries.leaderboard(self._store, queries.tournament(self._store, request.tournament or None))
        return pb.GetLeaderboardResponse(
            tournament=board.tournament.name,
            games_planned=board.progress.planned,
            games_rated=board.progress.folded,
            standings=[_standing(standing) for standing in board.standings],
        )

    def _bots(self, request: pb.ListBotsRequest) -> pb.ListBotsResponse:
        held = queries.tournament(self._store, request.tournament or None)
        return pb.ListBotsResponse(bots=[_bot(entrant) for entrant in held.spec.entrants])

    def _games(self, request: pb.ListGamesRequest) -> pb.ListGamesResponse:
        held = queries.tournament(self._store, request.tournament or None)
        bot, limit = request.bot or None, min(request.page_size or PAGE, queries.MAX_PAGE)
        page = queries.games(self._store, held, bot=bot, after=request.after, limit=limit)
        following = page[-1].number if len(page) == limit else 0
        if following and not queries.games(self._store, held, bot=bot, after=following, limit=1):
            following = 0
        return pb.ListGamesResponse(games=[_summary(game) for game in page], next_after=following)

    def _game(self, request: pb.GetGameRequest) -> pb.GetGameResponse:
        found = queries.find_game(self._store, request.id)
        return pb.GetGameResponse(record_json=queries.record(self._store, found).to_json())


async def _answer(context: Context, ask: Callable[[], _Response]) -> _Response:
    """Asks in a thread, since databases block; errors become the call's status."""
    try:
        return await asyncio.to_thread(ask)
    except ArenaError as error:
        await context.abort(_status(error), str(error)[:MAX_MESSAGE])
        raise AssertionError from error  # abort raises


def _status(error: ArenaError) -> grpc.StatusCode:
    if isinstance(error, queries.MissingError):
        return grpc.StatusCode.NOT_FOUND
    return grpc.StatusCode.INVALID_ARGUMENT if isinstance(error, UserError) else grpc.StatusCode.UNAVAILABLE


def _standing(standing: Standing) -> pb.Standing:
    return pb.Standing(
        rank=standing.rank,
        bot=_bot(standing.entrant),
        mu=standing.mu,
        sigma=standing.sigma,
        games=standing.games,
        wins=standing.wins,
        losses=standing.losses,
        draws=standing.draws,
        margin=standing.margin,
        failures={str(kind): number for kind, number in standing.failures.items()},
        withdrawn=standing.withdrawn,
    )


def _bot(entrant: Entrant) -> pb.Bot:
    options = {name: option_message(value) for name, value in entrant.options}
    return pb.Bot(name=entrant.name, version=entrant.version, digest=entrant.digest, options=options)


def _summary(game: queries.GameSummary) -> pb.GameSummary:
    return pb.GameSummary(
        id=game.id,
        seats=game.seats,
        ending=ENDINGS[game.ending] if game.ending else ENDING_UNSPECIFIED,
        ranks=game.ranks,
        scores=game.scores,
        plies=game.plies or 0,
    )
