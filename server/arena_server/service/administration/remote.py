"""The registry of a server, as that of the database at hand, and the server itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.v1 import administration_pb2 as pb
from arena.v1 import administration_pb2_grpc
from arena_server.model import UserError
from arena_server.service.administration import messages
from arena_server.service.administration.administrator import ServerStatus
from arena_server.service.dialling import LOCAL, Dialled
from arena_server.service.messages import tournament_of
from arena_server.store import Season, Tournament
from arena_server.store.admissions import Tested
from arena_server.store.registry import Added, Registered


class RemoteAdministrator(Dialled):
    """Asks a server on its Unix socket; what only a server can do is beside the registry.

    Raises:
        UserError: the address is none of a Unix socket.
    """

    patience_s = 40.0  # a registry waits for other writers of its file

    def __init__(self, server: str) -> None:
        if not server.startswith(LOCAL):
            fix = "give unix:PATH, the path that `arena serve --socket` has"
            raise UserError("a server is administered on its Unix socket alone", server, fix)
        super().__init__(server)
        self._stub: Any = administration_pb2_grpc.AdministrationStub(self.channel)

    def add(self, bot: str, version: str, owner: str, *, retire_old: bool) -> Added:
        """Registers a bot, or a further version of one."""
        request = pb.AddBotRequest(bot=bot, version=version, owner=owner, retire_old=retire_old)
        answer = self.ask(self._stub.AddBot, request)
        return Added(tuple(answer.retired), answer.token or None)

    def bots(self) -> Sequence[Registered]:
        """Every version of every bot, by name, the newest version last."""
        answer = self.ask(self._stub.ListBots, pb.ListBotsRequest())
        return [messages.registered_of(one) for one in answer.bots]

    def admission(self, bot: str, version: str | None) -> Sequence[Tested]:
        """The admission tests of a version, or of the newest, in order."""
        request = pb.ListAdmissionTestsRequest(bot=bot, version=version)
        return [messages.tested_of(one) for one in self.ask(self._stub.ListAdmissionTests, request).tests]

    def retire(self, bot: str, version: str | None) -> Sequence[str]:
        """Takes a version out of the field, or all; those that were in it."""
        request = pb.RetireBotRequest(bot=bot, version=version)
        return tuple(self.ask(self._stub.RetireBot, request).retired)

    def set_open(self, bot: str, *, is_open: bool) -> None:
        """Says whether games of a bot may be watched while they are played, where the other bots are open, too."""
        self.ask(self._stub.SetOpen, pb.SetOpenRequest(bot=bot, is_open=is_open))

    def new_token(self, bot: str, *, instead: bool) -> str:
        """A new token, in place of all that the bot has or beside them."""
        token: str = self.ask(self._stub.NewToken, pb.NewTokenRequest(bot=bot, instead=instead)).token
        return token

    def revoke(self, bot: str, beginning: str) -> int:
        """Takes the token that begins so away, or all; how many."""
        request = pb.RevokeTokensRequest(bot=bot, beginning=beginning)
        revoked: int = self.ask(self._stub.RevokeTokens, request).revoked
        return revoked

    def challenge(self, bots: Sequence[str], games: int) -> Tournament:
        """Makes an unrated match of registered bots, by name or by name and version, in seat order."""
        answer = self.ask(self._stub.Challenge, pb.ChallengeRequest(bots=bots, games=games))
        return tournament_of(answer.tournament)[0]

    def seasons(self) -> Sequence[Season]:
        """All of them, the newest first, and how far they are."""
        answer = self.ask(self._stub.ListSeasons, pb.ListSeasonsRequest())
        return [messages.season_of(one) for one in answer.seasons]

    def season(self, name: str) -> Season:
        """One of them."""
        return messages.season_of(self.ask(self._stub.GetSeason, pb.GetSeasonRequest(season=name)).season)

    def freeze(self, name: str) -> Season:
        """Lets nobody join a season and no game of it be planned any more."""
        return messages.season_of(self.ask(self._stub.FreezeSeason, pb.FreezeSeasonRequest(season=name)).season)

    def close_season(self, name: str, *, top: int | None, games: int | None) -> Season:
        """Has a frozen season decided by a round-robin, of the best so many or of all, of so many games between two."""
        request = pb.CloseSeasonRequest(season=name, top=top, games=games)
        return messages.season_of(self.ask(self._stub.CloseSeason, request).season)

    def archive(self, name: str, *, without_closing: bool) -> Season:
        """Finishes a season that is decided, or that its own table shall decide."""
        request = pb.ArchiveSeasonRequest(season=name, without_closing=without_closing)
        return messages.season_of(self.ask(self._stub.ArchiveSeason, request).season)

    def status(self) -> ServerStatus:
        """What the server does now."""
        return messages.status_of(self.ask(self._stub.GetStatus, pb.GetStatusRequest()))

    def stop(self, *, at_once: bool) -> float:
        """Ends the server; seconds that games which run have to finish."""
        grace: float = self.ask(self._stub.StopServer, pb.StopServerRequest(at_once=at_once)).grace_s
        return grace
