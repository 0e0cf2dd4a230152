"""Who sits where on a server that plays several tournaments at once."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_server.coordinator.seating import Party, Seating
from arena_server.model import Entrant
from arena_server.referee.guests import Present

LONGEST = 60
"""Games that end while somebody waits for a table, at most: in 2,000 such servers it was 31."""
ADA, BOB, EVE, DAN = (Present(Entrant(name, "1", ""), 0, 1) for name in ("ada", "bob", "eve", "dan"))


class Host:
    """A season and what is beside it, each of which always wants all of its games; it looks when it is told to."""

    def __init__(self, tables: int, season: list[list[Present]], *beside: list[list[Present]]) -> None:
        self.seating = Seating(tables)
        self.parties: list[tuple[Party, dict[int, list[Present]]]] = []
        self.woken = set(range(1 + len(beside)))
        for place, games in enumerate((season, *beside)):
            party = self.seating.join(partial(self.woken.add, place), beside=place > 0)
            self.parties.append((party, dict(enumerate(games))))
        self.seated = Counter[int]()

    def look(self, place: int) -> int | None:
        """One of them seats a game."""
        party, games = self.parties[place]
        found = party.seat((number, bots) for number, bots in games.items() if number not in party.sitting)
        self.seated[place] += found is not None
        self.check()
        return found

    def look_on(self, order: list[int]) -> None:
        """Whoever was woken seats all it can, in that order, until nobody is awake; the season plans first."""
        while self.woken:
            place = next(place for place in order if place in self.woken)
            self.woken.remove(place)
            if not place:
                self.parties[place][0].look()
            while self.look(place) is not None:
                pass

    def rise(self, place: int) -> None:
        party, _ = self.parties[place]
        party.rise(next(iter(party.sitting)))
        self.check()

    def check(self) -> None:
        """No table too many, and no bot at one; the two ways to count agree."""
        sits = Counter(bot for party, _ in self.parties for game in party.sitting.values() for bot in game)
        bots = {bot.entrant: bot for _, games in self.parties for game in games.values() for bot in game}
        assert self.seating.sits == sits
        assert self.seating.taken == sum(len(party.sitting) for party, _ in self.parties) <= self.seating.tables
        assert all(count <= bots[entrant].games_at_once for entrant, count in sits.items())


BOTS = st.builds(
    lambda number, at_once: Present(Entrant(f"bot{number}", "1", ""), 0, at_once), st.integers(0, 5), st.integers(1, 2)
)


@st.composite
def hosts(draw: st.DrawFn) -> Host:
    field = draw(st.lists(BOTS, min_size=2, max_size=6, unique_by=lambda bot: bot.entrant))
    tables = st.lists(st.sampled_from(field), min_size=2, max_size=2, unique_by=lambda bot: bot.entrant)
    games = st.lists(tables, min_size=1, max_size=5)
    return Host(draw(st.integers(1, 5)), draw(games), *draw(st.lists(games, min_size=1, max_size=4)))


@settings(max_examples=40, deadline=None)
@given(host=hosts(), dice=st.integers(0, 10**6).map(random.Random))
def test_whoever_waits_sits_down_sooner_or_later(host: Host, dice: random.Random) -> None:
    """Games end in any order and coordinators look in any order: no table stands empty for nothing, nobody starves."""
    order = list(range(len(host.parties)))
    waited, age = Counter[int](), Counter[int]()
    for _ in range(100):
        dice.shuffle(order)
        before = host.seated.copy()
        host.look_on(order)
        sitting = [place for place in order if host.parties[place][0].sitting]
        assert sitting, "nobody plays although everybody wants to"
        age.update(sitting)
        for place in order:
            idle = host.seated[place] == before[place] and place not in sitting
            waited[place] = waited[place] + 1 if idle else 0
            assert waited[place] <= LONGEST, f"party {place} waits for ever"
        place = max(sitting, key=lambda place: (age[place] >= len(order), dice.random()))  # no game lasts for ever
        del age[place]
        host.rise(place)


@settings(max_examples=20, deadline=None)
@given(tables=st.integers(1, 6), dice=st.integers(0, 10**6).map(random.Random))
def test_the_tables_are_shared_while_both_have_games(tables: int, dice: random.Random) -> None:
    """Of bots that never run short: half of the tables are beside the season, at least one; one alone goes in turn."""
    pairs = [[Present(Entrant(f"{side}{seat}", "1", ""), 0, 99) for seat in "ab"] for side in range(3)]
    host = Host(tables, [pairs[0]] * 10, [pairs[1]] * 10, [pairs[2]] * 10)
    host.look_on([0, 1, 2])
    most = tables
    for _ in range(40):
        host.rise(dice.choice([place for place in range(3) if host.parties[place][0].sitting]))
        order = [0, 1, 2]
        dice.shuffle(order)
        host.look_on(order)
        taken = len(host.parties[0][0].sitting)  # all at first, as nobody else had said that he wants one
        assert taken <= most
        most = max(taken, tables - tables // 2) if tables > 1 else 1
    assert tables == 1 or taken == tables - tables // 2
    share = host.seated[0] / sum(host.seated.values())
    assert tables > 1 or share == pytest.approx(0.5, abs=0.05)
    assert min(host.seated.values()) > 0


@pytest.mark.parametrize("alone", [0, 1])
def test_all_tables_are_for_whoever_plays_alone(alone: int) -> None:
    pair = [Present(Entrant(name, "1", ""), 0, 9) for name in "ab"]
    games: list[list[list[Present]]] = [[], []]
    games[alone] = [pair] * 9
    host = Host(4, *games)
    host.look_on([0, 1])
    assert host.seating.taken == 4
    assert host.parties[alone][0].room == 4


def test_a_bot_goes_from_one_tournament_to_the_other_in_turn() -> None:
    """Ada plays one game at once: every second one for the season, the others for her challenges in turn."""
    host = Host(4, [[ADA, BOB]] * 2, [[ADA, EVE]] * 2, [[ADA, DAN]] * 2)
    played = []
    for _ in range(10):
        host.look_on([2, 1, 0])
        played.append(next(place for place in range(3) if host.parties[place][0].sitting))
        host.rise(played[-1])
    assert all(Counter(played[begin : begin + 4]) == {0: 2, 1: 1, 2: 1} for begin in range(2, 7)), played


def test_a_bot_that_rises_from_a_challenge_is_offered_to_the_season_first() -> None:
    """The season plans with those who are free: it must see her free now and then."""
    host = Host(2, [], [[ADA, EVE]] * 9)
    season, challenge = (party for party, _ in host.parties)
    host.look_on([0, 1])
    assert season.elsewhere == {ADA.entrant: 1, EVE.entrant: 1}
    assert season.room == 1
    host.rise(1)
    assert (host.look(1), season.elsewhere) == (None, Counter())
    season.look()
    assert season.seat([(0, [ADA, BOB])]) == 0  # planned just now
    season.seat(())
    assert challenge.elsewhere[ADA.entrant] == 1
    again = [(number, [ADA, EVE]) for number in range(1, 9)]
    assert challenge.seat(again) is None
    season.rise(0)
    assert challenge.seat(again) == 1


def test_everybody_is_told_that_a_game_may_begin() -> None:
    told = Counter[str]()
    seating = Seating(1)
    parties = {
        name: seating.join(lambda name=name: told.update([name]), beside=name != "season")  # type: ignore[misc]
        for name in ("season", "one", "two")
    }
    assert parties["one"].seat([(1, [ADA, BOB]), (2, [ADA, BOB])]) == 1
    told.clear()
    assert parties["two"].seat([(1, [EVE, DAN])]) is None
    parties["one"].rise(1)
    assert told["two"] > 0
    told.clear()
    parties["season"].look()
    assert parties["season"].seat(()) is None  # it has no use for those two
    assert told["one"] > 0
    assert parties["two"].seat([(1, [EVE, DAN])]) == 1  # waits for longer than the second game of the first
    told.clear()
    parties["two"].leave()
    assert seating.taken == 0
    assert told["one"] > 0
    parties["one"].rise(17)  # never sat
