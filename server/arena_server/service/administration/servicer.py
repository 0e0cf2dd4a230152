"""The Administration service: the registry over gRPC, and the server itself. Whoever reaches it may do everything."""

from __future__ import annotations

from typing import Protocol

from arena.v1 import administration_pb2 as pb
from arena.v1 import administration_pb2_grpc
from arena_server.service.administration import messages
from arena_server.service.administration.administrator import ServerStatus, StoreAdministrator
from arena_server.service.answering import Context, Desk
from arena_server.service.messages import tournament_message
from arena_server.store import Store, queries


class Controls(Protocol):
    """A server that runs; asked in its event loop."""

    def status(self) -> ServerStatus:
        """What it does now."""

    def stop(self, *, at_once: bool = False) -> float:
        """Begins no more games; seconds that those which run have to finish. A second time it ends at once."""


class Administration(administration_pb2_grpc.AdministrationServicer):
    """Works on a store, which it leaves open.

    Args:
        store: the database.
        controls: of the server.
    """

    def __init__(self, store: Store, controls: Controls) -> None:
        self._store = store
        self._administrator = StoreAdministrator(store)
        self._controls = controls
        self._desk = Desk()

    def close(self) -> None:
        """Answers no more."""
        self._desk.close()

    async def AddBot(self, request: pb.AddBotRequest, context: Context) -> pb.AddBotResponse:  # noqa: N802 - named by the protocol, like the others
        """Registers a bot."""

        def answer() -> pb.AddBotResponse:
            added = self._administrator.add(request.bot, request.version, request.owner, retire_old=request.retire_old)
            return pb.AddBotResponse(retired=added.retired, token=added.token or "")

        return await self._desk.answer(context, answer)

    async def ListBots(self, request: pb.ListBotsRequest, context: Context) -> pb.ListBotsResponse:  # noqa: ARG002, N802 - it has no fields
        """The registry."""

        def answer() -> pb.ListBotsResponse:
            return pb.ListBotsResponse(bots=[messages.registered_message(one) for one in self._administrator.bots()])

        return await self._desk.answer(context, answer)

    async def ListAdmissionTests(  # noqa: N802
        self, request: pb.ListAdmissionTestsRequest, context: Context
    ) -> pb.ListAdmissionTestsResponse:
        """What became of the tests of a version."""
        version = request.version if request.HasField("version") else None

        def answer() -> pb.ListAdmissionTestsResponse:
            tests = self._administrator.admission(request.bot, version)
            return pb.ListAdmissionTestsResponse(tests=[messages.tested_message(one) for one in tests])

        return await self._desk.answer(context, answer)

    async def RetireBot(self, request: pb.RetireBotRequest, context: Context) -> pb.RetireBotResponse:  # noqa: N802
        """Takes versions out of the field."""
        version = request.version if request.HasField("version") else None

        def answer() -> pb.RetireBotResponse:
            return pb.RetireBotResponse(retired=self._administrator.retire(request.bot, version))

        return await self._desk.answer(context, answer)

    async def SetOpen(self, request: pb.SetOpenRequest, context: Context) -> pb.SetOpenResponse:  # noqa: N802
        """Whether games of a bot may be watched."""

        def answer() -> pb.SetOpenResponse:
            self._administrator.set_open(request.bot, is_open=request.is_open)
            return pb.SetOpenResponse()

        return await self._desk.answer(context, answer)

    async def NewToken(self, request: pb.NewTokenRequest, context: Context) -> pb.NewTokenResponse:  # noqa: N802
        """A token."""

        def answer() -> pb.NewTokenResponse:
            return pb.NewTokenResponse(token=self._administrator.new_token(request.bot, instead=request.instead))

        return await self._desk.answer(context, answer)

    async def RevokeTokens(  # noqa: N802
        self, request: pb.RevokeTokensRequest, context: Context
    ) -> pb.RevokeTokensResponse:
        """Takes tokens away."""

        def answer() -> pb.RevokeTokensResponse:
            return pb.RevokeTokensResponse(revoked=self._administrator.revoke(request.bot, request.beginning))

        return await self._desk.answer(context, answer)

    async def Challenge(self, request: pb.ChallengeRequest, context: Context) -> pb.ChallengeResponse:  # noqa: N802
        """An unrated match."""

        def answer() -> pb.ChallengeResponse:
            made = self._administrator.challenge(request.bots, request.games)
            return pb.ChallengeResponse(tournament=tournament_message(made, queries.progress(self._store, made)))

        return await self._desk.answer(context, answer)

    async def ListSeasons(self, request: pb.ListSeasonsRequest, context: Context) -> pb.ListSeasonsResponse:  # noqa: ARG002, N802
        """All seasons."""

        def answer() -> pb.ListSeasonsResponse:
            return pb.ListSeasonsResponse(
                seasons=[messages.season_message(one) for one in self._administrator.seasons()]
            )

        return await self._desk.answer(context, answer)

    async def GetSeason(self, request: pb.GetSeasonRequest, context: Context) -> pb.GetSeasonResponse:  # noqa: N802
        """One season."""

        def answer() -> pb.GetSeasonResponse:
            return pb.GetSeasonResponse(season=messages.season_message(self._administrator.season(request.season)))

        return await self._desk.answer(context, answer)

    async def FreezeSeason(self, request: pb.FreezeSeasonRequest, context: Context) -> pb.FreezeSeasonResponse:  # noqa: N802
        """No game of it is planned any more."""

        def answer() -> pb.FreezeSeasonResponse:
            return pb.FreezeSeasonResponse(season=messages.season_message(self._administrator.freeze(request.season)))

        return await self._desk.answer(context, answer)

    async def CloseSeason(self, request: pb.CloseSeasonRequest, context: Context) -> pb.CloseSeasonResponse:  # noqa: N802
        """It is decided by a round-robin."""
        top = request.top if request.HasField("top") else None
        games = request.games if request.HasField("games") else None

        def answer() -> pb.CloseSeasonResponse:
            closed = self._administrator.close_season(request.season, top=top, games=games)
            return pb.CloseSeasonResponse(season=messages.season_message(closed))

        return await self._desk.answer(context, answer)

    async def ArchiveSeason(  # noqa: N802
        self, request: pb.ArchiveSeasonRequest, context: Context
    ) -> pb.ArchiveSeasonResponse:
        """It is finished."""

        def answer() -> pb.ArchiveSeasonResponse:
            archived = self._administrator.archive(request.season, without_closing=request.without_closing)
            return pb.ArchiveSeasonResponse(season=messages.season_message(archived))

        return await self._desk.answer(context, answer)

    async def GetStatus(self, request: pb.GetStatusRequest, context: Context) -> pb.GetStatusResponse:  # noqa: ARG002, N802
        """What the server does."""
        return messages.status_message(self._controls.status())

    async def StopServer(self, request: pb.StopServerRequest, context: Context) -> pb.StopServerResponse:  # noqa: ARG002, N802
        """Ends the server."""
        return pb.StopServerResponse(grace_s=self._controls.stop(at_once=request.at_once))
