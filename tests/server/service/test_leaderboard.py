"""The Leaderboard service over a real socket."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from serving import GENEROUS_S
from tournaments import begin, patchwork_spec, play_on, versions_spec

from arena.v1 import leaderboard_pb2 as pb
from arena.v1 import leaderboard_pb2_grpc, referee_pb2
from arena_server.model import Purpose
from arena_server.ratings.analysis import analyse
from arena_server.service.leaderboard import Leaderboard
from arena_server.service.visibility import FairPlay
from arena_server.store import Store, journal, queries

Stub = Any
"""LeaderboardAsyncStub: a type of the stubs alone."""
Test = Callable[[Stub], Awaitable[None]]
Serve = Callable[[Test], None]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "arena.db")) as opened:
        yield opened


@pytest.fixture
def served(store: Store, tmp_path: Path) -> Serve:
    """Runs a test against a server with one tournament, `nightly`: 12 games, the last one still to play."""
    with (playing := begin(store, patchwork_spec(3, 4), name="nightly")).lock:
        store.record(playing.results()[:-1])
    return lambda test: asyncio.run(_serve(store, tmp_path / "socket", test))


def test_the_standings(served: Serve) -> None:
    async def test(stub: Stub) -> None:
        board = await stub.GetLeaderboard(pb.GetLeaderboardRequest())
        assert board == await stub.GetLeaderboard(pb.GetLeaderboardRequest(tournament="NIGHTLY"))
        assert (board.tournament, board.progress.planned, board.progress.rated) == ("nightly", 12, 11)
        assert [row.rank for row in board.standings] == [1, 2, 3]
        assert sum(row.wins for row in board.standings) == 11
        assert sum(row.failures["timeout"] for row in board.standings) == 1
        assert board.standings[0].HasField("margin")
        assert board.standings[0].bot.options["c"].number == 1.5

    served(test)


def test_who_was_taken_out(store: Store, tmp_path: Path) -> None:
    with begin(store, patchwork_spec(3, 4)).lock as lock:
        store.withdraw(lock.tournament, 1)

    async def test(stub: Stub) -> None:
        board = await stub.GetLeaderboard(pb.GetLeaderboardRequest())
        assert [row.bot.name for row in board.standings if row.withdrawn] == ["bot1"]

    asyncio.run(_serve(store, tmp_path / "socket", test))


def test_no_margin_before_the_first_game(store: Store, tmp_path: Path) -> None:
    store.enter(patchwork_spec(3, 4), name="empty")

    async def test(stub: Stub) -> None:
        board = await stub.GetLeaderboard(pb.GetLeaderboardRequest())
        assert not any(row.HasField("margin") for row in board.standings)
        assert await stub.ListGames(pb.ListGamesRequest()) == pb.ListGamesResponse(tournament="empty")

    asyncio.run(_serve(store, tmp_path / "socket", test))


def test_a_tournament_tells_its_contract(served: Serve) -> None:
    async def test(stub: Stub) -> None:
        held = (await stub.GetTournament(pb.GetTournamentRequest())).tournament
        contract = json.loads(held.terms[0].contract_json)
        assert [bot["bot"] for bot in contract["entrants"]] == ["bot0", "bot1", "bot2"]
        assert contract["entrants"][1]["digest"] == f"{1:064x}"
        assert (held.status, held.chain_length) == ("running", 11)

    served(test)


def test_a_secret_is_told_when_it_may_be_known(store: Store, tmp_path: Path) -> None:
    store.enter(patchwork_spec(3, 4, seed=None), name="dark")

    async def test(stub: Stub) -> None:
        terms = (await stub.GetTournament(pb.GetTournamentRequest())).tournament.terms[0]
        assert (terms.secret, len(terms.commitment)) == (b"", 64)
        play_on(store, "dark")
        terms = (await stub.GetTournament(pb.GetTournamentRequest())).tournament.terms[0]
        assert hashlib.sha256(terms.secret).hexdigest() == terms.commitment

    asyncio.run(_serve(store, tmp_path / "socket", test))


def test_tournaments_in_pages(store: Store, tmp_path: Path) -> None:
    for number in range(5):
        store.enter(patchwork_spec(2, 2), name=f"t{number}", new=True)

    async def test(stub: Stub) -> None:
        names, after = [], ""
        while True:
            page = await stub.ListTournaments(pb.ListTournamentsRequest(page_size=2, after=after))
            names += [one.name for one in page.tournaments]
            after = page.next_after
            if not after:
                break
        assert names == ["t4", "t3", "t2", "t1", "t0"]

    asyncio.run(_serve(store, tmp_path / "socket", test))


@pytest.mark.parametrize("rating", [pb.RATING_TRUESKILL, pb.RATING_BRADLEY_TERRY])
def test_standings_in_pages(served: Serve, rating: pb.Rating.ValueType) -> None:
    async def test(stub: Stub) -> None:
        whole = await stub.GetLeaderboard(pb.GetLeaderboardRequest(rating=rating))
        assert not whole.next_page
        rows, page = [], ""
        while True:
            part = await stub.GetLeaderboard(pb.GetLeaderboardRequest(rating=rating, page_size=1, page=page))
            assert len(part.standings) == 1
            rows += part.standings
            page = part.next_page
            if not page:
                break
        assert rows == list(whole.standings)
        assert [row.rank for row in rows] == [1, 2, 3]

    served(test)


@pytest.mark.parametrize("rating", [pb.RATING_TRUESKILL, pb.RATING_BRADLEY_TERRY])
def test_a_season_shows_active_versions_unless_asked_for_all(
    store: Store, tmp_path: Path, rating: pb.Rating.ValueType
) -> None:
    with store.lock(store.enter(versions_spec(), name="season").tournament) as lock:
        store.withdraw(lock.tournament, 4)

    async def test(stub: Stub) -> None:
        pages = [await stub.GetLeaderboard(pb.GetLeaderboardRequest(rating=rating, page_size=2))]
        pages.append(await stub.GetLeaderboard(pb.GetLeaderboardRequest(rating=rating, page=pages[0].next_page)))
        rows = [row for page in pages for row in page.standings]
        assert [row.rank for row in rows] == [1, 2, 3]
        assert {row.label for row in rows} == {"ADA 2", "bob 1", "eve 1"}
        assert [page.hidden for page in pages] == [2, 2]
        whole = await stub.GetLeaderboard(pb.GetLeaderboardRequest(rating=rating, all_versions=True))
        assert ([row.rank for row in whole.standings], whole.hidden) == ([1, 2, 3, 4, 5], 0)
        if rating == pb.RATING_TRUESKILL:
            ranks = {row.label: row.rank for row in (*whole.standings, *rows)}  # of active ones as the board shows them
            for label, rank in ranks.items():
                assert (await stub.GetBot(pb.GetBotRequest(bot=label))).standing.rank == rank

    asyncio.run(_serve(store, tmp_path / "socket", test))


def test_bradley_terry_is_that_of_the_statistics(served: Serve, store: Store) -> None:
    async def test(stub: Stub) -> None:
        board = await stub.GetLeaderboard(pb.GetLeaderboardRequest(rating=pb.RATING_BRADLEY_TERRY))
        selection = queries.selection(store, queries.tournament(store))
        strengths = analyse(selection.games, selection.board.tournament.spec, resample=False).strengths
        told = {row.bot.position: (row.elo.value, row.elo.low, row.elo.high) for row in board.standings}
        assert told == {place: (one.value, one.low, one.high) for place, one in enumerate(strengths) if one is not None}
        values = [row.elo.value for row in board.standings]
        assert values == sorted(values, reverse=True)
        assert all(row.mu for row in board.standings)

    served(test)


def test_bradley_terry_on_the_scale_of_the_tournaments_anchors(store: Store, tmp_path: Path) -> None:
    with (playing := begin(store, patchwork_spec(3, 4), name="nightly")).lock:
        store.record(playing.results())
    begun = store.enter(patchwork_spec(3, 4), name="begun").tournament
    for one in (playing.tournament, begun):
        store.anchor(one, {"BOT1": 20.0})

    async def test(stub: Stub) -> None:
        ask = pb.GetLeaderboardRequest(tournament="nightly", rating=pb.RATING_BRADLEY_TERRY)
        board = await stub.GetLeaderboard(ask)
        assert dict(board.anchors) == {"bot1 1.0": 20}
        elo = {row.bot.name: row.elo for row in board.standings}
        assert elo["bot1"] == pb.Elo(value=20, low=20, high=20)
        assert elo["bot0"].low < elo["bot0"].value < elo["bot0"].high
        assert dict((await stub.GetTournament(pb.GetTournamentRequest())).tournament.anchors) == {"BOT1": 20}
        assert not (await stub.GetLeaderboard(pb.GetLeaderboardRequest(rating=pb.RATING_BRADLEY_TERRY))).anchors  # yet

    asyncio.run(_serve(store, tmp_path / "socket", test))


def test_one_bot_and_its_games(served: Serve, store: Store) -> None:
    async def test(stub: Stub) -> None:
        found, before = [], 0
        while True:
            page = await stub.GetBot(pb.GetBotRequest(bot="BOT1", page_size=3, before=before))
            found += page.games
            before = page.next_before
            if not before:
                break
        numbers = [one.game.number for one in found]
        assert numbers == sorted(numbers, reverse=True)
        assert len(numbers) == page.standing.games
        assert (found[0].mu, found[0].sigma) == (page.standing.mu, page.standing.sigma)
        assert all(one.game.seats[one.seat] == "bot1 1.0" for one in found)
        failed = [one for one in found if one.failure]
        assert sum(page.standing.failures.values()) == len(failed)
        one = found[-1]
        played = queries.result(store, queries.find_game(store, one.game.id)).moves
        times = [move.charged_us for move in played if move.seat == "ab"[one.seat]]
        assert (one.moves, one.longest_us) == (len(times), max(times))

    served(test)


def test_the_crosstable_in_pages(served: Serve, store: Store) -> None:
    async def test(stub: Stub) -> None:
        cells, first = [], 0
        while True:
            page = await stub.GetCrosstable(pb.GetCrosstableRequest(page_size=2, first=first))
            cells += page.cells
            first = page.next_first
            if not first:
                break
        table = queries.crosstable(store, queries.tournament(store))
        assert sum(cell.wins for cell in cells) == sum(cell.total.wins for cell in table.cells.values()) == 11
        assert {(cell.row, cell.column) for cell in cells} == set(table.cells)

    served(test)


def test_the_chain(served: Serve, store: Store) -> None:
    async def test(stub: Stub) -> None:
        chain, held = await stub.GetChain(pb.GetChainRequest()), queries.tournament(store)
        assert (chain.head, chain.length) == (held.chain_head, held.chain_length)
        assert list(chain.commitments) == [held.commitment]

    served(test)


def test_an_entry_is_what_the_chain_is_made_of(store: Store, tmp_path: Path) -> None:
    with (playing := begin(store, patchwork_spec(3, 4), name="nightly")).lock:
        store.record([playing.void(playing.assignments()[0])])
        store.record(playing.results())

    async def test(stub: Stub) -> None:
        held, games = queries.tournament(store), ["1.1", *map(str, range(1, 13))]
        answers = [await stub.GetGame(pb.GetGameRequest(id=f"nightly/{game}")) for game in games]
        entries = [answer.entry for answer in answers]
        head = journal.first_link(journal.contract_sha256(held.spec), held.commitment)
        for entry in sorted(entries, key=lambda entry: json.loads(entry)["sequence"]):
            head = journal.next_link(head, entry)
        assert head == (await stub.GetChain(pb.GetChainRequest())).head

    asyncio.run(_serve(store, tmp_path / "socket", test))


def test_what_is_not_for_everybody(store: Store, tmp_path: Path) -> None:
    with (playing := begin(store, patchwork_spec(3, 4, beside=Purpose.CLOSING), name="nightly")).lock:
        *played, last = playing.results()
        loud = replace(played[0], moves=tuple(move._replace(log=("a trick",)) for move in played[0].moves))
        failed = playing.forfeit(played[1].assignment)
        failed = replace(failed, failures=tuple(replace(one, evidence="a secret") for one in failed.failures))
        store.begin_run(playing.tournament, {"command": ["arena"]})
        store.record([loud, failed, *played[2:]])
        store.record([playing.void(last.assignment)])

    void = pb.GetGameRequest(id="nightly/12.1")
    evidence = {"nightly/1": b"a trick", "nightly/2": b"a secret"}

    async def everybody(stub: Stub) -> None:
        games = (await stub.ListGames(pb.ListGamesRequest(tournament="nightly"))).games
        assert [game.number for game in games] == list(range(1, 11))  # 11 has the deal and the bots of 12
        for hidden in (void, pb.GetGameRequest(id="nightly/11"), pb.GetGameRequest(id="nightly/12")):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stub.GetGame(hidden)
            assert refused.value.code() is NOT_FOUND
            assert "no record of this game" in (refused.value.details() or "")
        rated = (await stub.ListRatedGames(pb.ListRatedGamesRequest(tournament="nightly"))).games
        assert [game.number for game in rated] == list(range(1, 11))
        table = await stub.GetCrosstable(pb.GetCrosstableRequest(tournament="nightly"))
        assert sum(cell.wins + cell.losses + cell.draws for cell in table.cells) == 2 * 10
        board = await stub.GetLeaderboard(pb.GetLeaderboardRequest(tournament="nightly"))
        assert sum(standing.games for standing in board.standings) == 2 * 10
        assert not (await stub.GetDetails(pb.GetDetailsRequest(tournament="nightly"))).runs
        for number, told in evidence.items():
            answer = await stub.GetGame(pb.GetGameRequest(id=number))
            assert told not in answer.entry + answer.record_json.encode()
            assert journal.decode(answer.entry, playing.spec).result.moves

    async def organiser(stub: Stub) -> None:
        assert (await stub.ListGames(pb.ListGamesRequest(tournament="nightly"))).games[-1].number == 12
        assert (await stub.GetGame(void)).record_json
        assert (await stub.GetGame(pb.GetGameRequest(id="nightly/11"))).record_json
        rated = (await stub.ListRatedGames(pb.ListRatedGamesRequest(tournament="nightly"))).games
        assert [game.number for game in rated] == list(range(1, 11))  # they count pairing by pairing
        assert (await stub.GetDetails(pb.GetDetailsRequest(tournament="nightly"))).runs
        for number, told in evidence.items():
            assert told in (await stub.GetGame(pb.GetGameRequest(id=number))).entry

    asyncio.run(_serve(store, tmp_path / "socket", everybody, visibility=FairPlay({"nightly"})))
    asyncio.run(_serve(store, tmp_path / "office", organiser))


def test_no_page_tells_that_there_is_a_hidden_game(store: Store, tmp_path: Path) -> None:
    """Neither itself nor as the place where the next page begins, whatever is asked for."""
    with (playing := begin(store, patchwork_spec(3, 4), name="nightly")).lock:
        results = playing.results()
        store.record([*results[:4], *results[6:8], results[8]])  # of 5 and 6 nothing, of 9 and 10 the half
    hidden = {5, 6, 9, 10, 11, 12}

    async def numbers(stub: Stub, **choice: Any) -> tuple[list[int], list[int]]:
        """The games of all pages, and where the pages begin."""
        games, begins, after = list[int](), list[int](), 0
        while True:
            page = await stub.ListGames(pb.ListGamesRequest(after=after, **choice))
            games += [game.number for game in page.games]
            after = page.next_after
            if not after:
                return games, begins
            begins.append(after)

    async def test(stub: Stub) -> None:
        bots = [f"bot{place}" for place in range(3)]
        pairs = [{"bot": one, "opponent": other} for one in bots for other in bots if one != other]
        choices: list[dict[str, Any]] = [{}, {"stage": 1}, *({"bot": bot} for bot in bots), *pairs]
        for choice in choices:
            for size in (1, 2, 3, 100):
                games, begins = await numbers(stub, page_size=size, **choice)
                assert not hidden.intersection(games + begins), choice
                assert games == sorted(set(games))
        assert (await numbers(stub, page_size=2))[0] == [1, 2, 3, 4, 7, 8]
        for bot in bots:
            page = await stub.GetBot(pb.GetBotRequest(bot=bot, page_size=1))
            assert not hidden.intersection({game.game.number for game in page.games} | {page.next_before})

    asyncio.run(_serve(store, tmp_path / "socket", test, visibility=FairPlay({"nightly"})))


def test_games_in_pages(served: Serve) -> None:
    async def test(stub: Stub) -> None:
        numbers, after = [], 0
        while True:
            page = await stub.ListGames(pb.ListGamesRequest(page_size=5, after=after))
            numbers += [int(game.id.removeprefix("nightly/")) for game in page.games]
            after = page.next_after
            if not after:
                break
        assert numbers == list(range(1, 13))

    served(test)


def test_a_full_last_page_has_no_next(served: Serve) -> None:
    async def test(stub: Stub) -> None:
        assert (await stub.ListGames(pb.ListGamesRequest(page_size=12))).next_after == 0
        assert (await stub.ListGames(pb.ListGamesRequest(page_size=11))).next_after == 11
        assert len((await stub.ListGames(pb.ListGamesRequest(page_size=4_000_000_000))).games) == 12
        assert not (await stub.ListGames(pb.ListGamesRequest(after=4_000_000_000))).games

    served(test)


def test_what_a_list_tells(served: Serve) -> None:
    async def test(stub: Stub) -> None:
        page = await stub.ListGames(pb.ListGamesRequest(bot="bot1 1.0"))
        assert len(page.games) == 8
        assert all("bot1 1.0" in game.seats for game in page.games)
        games = {game.id: game for game in (await stub.ListGames(pb.ListGamesRequest())).games}
        assert games["nightly/8"].ending == referee_pb2.ENDING_TIMEOUT
        assert list(games["nightly/8"].ranks) == [2, 1]
        assert games["nightly/12"].ending == referee_pb2.ENDING_UNSPECIFIED

    served(test)


def test_a_record(served: Serve) -> None:
    async def test(stub: Stub) -> None:
        record = json.loads((await stub.GetGame(pb.GetGameRequest(id="nightly/3"))).record_json)
        assert (record["id"], record["termination"]) == ("nightly/3", "normal")
        assert len(record["moves"]) == len(record["times"])

    served(test)


NOT_FOUND, INVALID = grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT
UNKNOWN: Any = 77  # enums of the wire are open


@pytest.mark.parametrize(
    ("method", "request_", "code", "told"),
    [
        ("GetLeaderboard", pb.GetLeaderboardRequest(tournament="nigthly"), NOT_FOUND, "did you mean nightly?"),
        ("GetTournament", pb.GetTournamentRequest(tournament="x"), NOT_FOUND, "no such tournament: 'x'"),
        ("GetBot", pb.GetBotRequest(bot="bot9"), NOT_FOUND, "no such bot in nightly: 'bot9'"),
        ("GetBot", pb.GetBotRequest(), NOT_FOUND, "no such bot in nightly: ''"),
        ("ListGames", pb.ListGamesRequest(bot="bot9"), NOT_FOUND, "no such bot in nightly: 'bot9'"),
        ("GetGame", pb.GetGameRequest(id="nightly/13"), NOT_FOUND, "nightly has games 1 to 12"),
        ("GetGame", pb.GetGameRequest(id="nightly/12"), NOT_FOUND, "no record of this game"),
        ("GetGame", pb.GetGameRequest(id="nonsense"), INVALID, "not a game: 'nonsense'"),
        ("GetGame", pb.GetGameRequest(), INVALID, "not a game: ''"),
        ("GetLeaderboard", pb.GetLeaderboardRequest(rating=UNKNOWN), INVALID, "no such rating in the protocol: 77"),
        ("ListGames", pb.ListGamesRequest(ending=UNKNOWN), INVALID, "no such ending in the protocol: 77"),
        ("GetTournament", pb.GetTournamentRequest(tournament="x" * 60_000), NOT_FOUND, "no such tournament: 'xxx"),
    ],
)
def test_errors_have_a_status_and_say_what_to_do(
    served: Serve, method: str, request_: object, code: grpc.StatusCode, told: str
) -> None:
    async def test(stub: Stub) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await getattr(stub, method)(request_)
        assert refused.value.code() is code
        assert told in (refused.value.details() or "")

    served(test)


async def _serve(store: Store, socket: Path, test: Test, **options: Any) -> None:
    server = grpc.aio.server()
    service = Leaderboard(store, **{"statement_s": GENEROUS_S, **options})
    leaderboard_pb2_grpc.add_LeaderboardServicer_to_server(service, server)
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    try:
        async with asyncio.timeout(60), grpc.aio.insecure_channel(f"unix:{socket}") as channel:
            await test(leaderboard_pb2_grpc.LeaderboardStub(channel))
    finally:
        await server.stop(None)
        service.close()
