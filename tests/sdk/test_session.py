"""Games over a session: what a bot is given, resuming, repeating, several at once."""

import asyncio
import math
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.running import First, Run, ask
from tests.sdk.stand_in import WAIT, Arena, Match, begin

from arena.v1 import referee_pb2 as pb
from arena_sdk import Bot, Clock, Result

SUPPORT = Path(__file__).parents[1] / "support"


def test_a_bot_knows_its_game(arena: Arena, run: Run) -> None:
    class Knowing(First):
        pass

    run(Knowing)
    stream, match = arena.accept(), Match()
    stream.welcome(c=pb.Option(number=1.4), n=pb.Option(integer=3), t=pb.Option(text="x"), f=pb.Option(flag=True))
    stream.send(game_started=match.started("b", seed=2**64 - 1))
    stream.receive("ready")
    [bot] = Knowing.made
    assert (bot.game, bot.seat, bot.seats) == ("patchwork", "b", {"a": "bot a", "b": "bot b"})
    assert (bot.seed, bot.started) == (2**64 - 1, 1)
    assert bot.options == {"c": 1.4, "n": 3, "t": "x", "f": True}
    stream.goodbye()


def test_the_seed_decides_what_is_random(arena: Arena, run: Run) -> None:
    class Drawing(First):
        pass

    run(Drawing)
    stream = arena.accept()
    stream.welcome()
    for handle, seed in (("1", 5), ("2", 5), ("3", 6)):
        stream.send(game_started=Match(handle).started(seed=seed))
        stream.receive("ready")
    stream.goodbye()
    first, second, third = (bot.drawn for bot in Drawing.made)
    assert first == second != third


@pytest.mark.parametrize(
    ("fields", "ending", "won"),
    [
        ({}, "normal", True),
        ({"ranks": [2, 1]}, "normal", False),
        ({"ranks": [1, 1]}, "normal", None),
        ({"ranks": [2, 1], "ending": pb.ENDING_ILLEGAL_MOVE, "blamed": ["a"], "reason": "x9"}, "illegal_move", False),
        ({"ranks": [], "scores": [], "ending": pb.ENDING_VOID}, "void", None),
    ],
)
def test_a_bot_hears_the_result(
    arena: Arena, run: Run, fields: dict[str, Any], ending: str, *, won: bool | None
) -> None:
    class Hearing(First):
        pass

    running = run(Hearing)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    over = match.over(**fields)
    stream.send(game_over=over)
    stream.send(game_over=over)  # of a game it no longer knows
    stream.goodbye()
    assert running.finish() == 0
    [result] = Hearing.made[0].results
    assert (result.ending, result.won, result.game_id) == (ending, won, "nightly/17")
    assert (result.ranks, result.scores) == (tuple(over.ranks), tuple(over.scores))
    assert (result.blamed, result.reason) == (tuple(over.blamed), over.reason)


def test_the_position_follows_the_plies(arena: Arena, run: Run) -> None:
    class Following(First):
        pass

    run(Following)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    unsent = [match.play(f"a {ask(stream, match).move}")]
    while match.state.to_move == ("b",):
        unsent.append(match.play_first())
    ask(stream, match, *unsent)
    stream.goodbye()
    assert Following.made[0].positions[-1] == match.state.text


def test_a_request_sent_again_is_answered_again_without_thought(arena: Arena, run: Run) -> None:
    class Once(First):
        pass

    run(Once)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    first = ask(stream, match)
    assert ask(stream, match) == first
    later = match.play(f"a {first.move}")
    stale = pb.MoveRequest(handle="h1", seat="a", ply=0)
    while match.state.to_move == ("b",):
        later_ply = match.play_first()
        unsent = [later, later_ply]
    second = ask(stream, match, *unsent)
    stream.send(move_request=stale)
    stream.send(move_request=pb.MoveRequest(handle="unknown", seat="a"))
    assert ask(stream, match) == second  # nothing was said to the stale and the foreign one
    stream.goodbye()
    assert len(Once.made[0].positions) == 2


def test_a_game_goes_on_over_a_new_stream(arena: Arena, run: Run) -> None:
    class Resuming(First):
        loads = 0

        @classmethod
        def load(cls, _options: object) -> None:
            cls.loads += 1

    run(Resuming)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    answer = ask(stream, match)
    stream.fail()
    stream = arena.accept()
    begin(stream, match)
    assert ask(stream, match) == answer
    match.play(f"a {answer.move}")
    while match.state.to_move == ("b",):
        match.play_first()
    stream.responses.put(None)  # the stream ends without a Goodbye: another way to lose it
    stream = arena.accept()
    begin(stream, match)
    assert ask(stream, match).ply == len(match.plies)
    stream.goodbye()
    [bot] = Resuming.made
    assert (bot.started, Resuming.loads, bot.positions[-1]) == (1, 1, match.state.text)


def test_a_new_process_takes_a_game_over(arena: Arena, run: Run) -> None:
    class New(First):
        pass

    match = Match()
    while len(match.plies) < 6 or match.state.to_move != ("a",):
        match.play_first()
    run(New)
    stream = arena.accept()
    begin(stream, match)
    assert ask(stream, match).ply == len(match.plies)
    stream.goodbye()
    assert New.made[0].positions == [match.state.text]


def test_a_move_made_while_the_stream_was_lost(arena: Arena, run: Run) -> None:
    lost, thoughts = threading.Event(), []

    class Thinking(First):
        def choose(self, state: Any, clock: Clock) -> Any:
            thoughts.append(state)
            assert lost.wait(WAIT)
            return super().choose(state, clock)

    run(Thinking)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    stream.send(move_request=match.request())
    stream.fail()
    lost.set()
    stream = arena.accept()
    begin(stream, match)
    assert ask(stream, match).ply == 0
    stream.goodbye()
    assert len(thoughts) == 1


def test_goodbye_may_ask_to_come_again(arena: Arena, run: Run) -> None:
    class Patient(First):
        pass

    running = run(Patient)
    before = time.monotonic()
    arena.accept().goodbye(pb.GOODBYE_CODE_SHUTDOWN, retry_after_ms=200)
    stream = arena.accept()
    assert time.monotonic() - before >= 0.2
    stream.goodbye(redirect=arena.address)
    arena.accept().goodbye()
    assert running.finish() == 0


def test_log_lines_travel_with_the_next_move_within_bounds(arena: Arena, run: Run) -> None:
    class Logging(First):
        def on_start(self) -> None:
            self.log("from the start")

        def choose(self, state: Any, clock: Clock) -> Any:
            self.log("two\nlines")
            self.log("\U0001f9f5" * 10_000 + "\ud800")
            for number in range(100):
                self.log(number)
            return super().choose(state, clock)

    run(Logging)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    move = ask(stream, match)
    assert list(move.log)[:3] == ["from the start", "two", "lines"]
    assert list(move.log)[3:5] == ["\U0001f9f5" * 500, "0"]
    assert len(move.log) == 20
    assert move.ByteSize() < 64 * 1024
    stream.goodbye()


def test_async_methods(arena: Arena, run: Run) -> None:
    class Async(Bot):
        heard: list[str]

        async def on_start(self) -> None:
            self.queue: asyncio.Queue[str] = asyncio.Queue()
            self.task = asyncio.create_task(self.queue.put("still there"))

        async def choose(self, state: Any, clock: Clock) -> Any:  # noqa: ARG002
            self.log(await self.queue.get())
            return state.legal_moves()[0]

        async def on_end(self, result: Result) -> None:
            await asyncio.sleep(0)
            type(self).heard = [result.ending]

    running = run(Async)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    assert list(ask(stream, match).log) == ["still there"]
    stream.send(game_over=match.over())
    stream.goodbye()
    assert running.finish() == 0
    assert Async.heard == ["normal"]


def test_the_clock_is_what_the_arena_says(arena: Arena, run: Run) -> None:
    class Timed(First):
        def choose(self, state: Any, clock: Clock) -> Any:
            time.sleep(0.05)
            self.left, self.budget = clock.left, clock.budget
            return super().choose(state, clock)

    run(Timed)
    stream, match = arena.accept(), Match()
    stream.welcome()
    control = pb.TimeControl(bank_us=60_000_000, increment_us=100_000, limit_us=30_000_000)
    stream.send(game_started=match.started(time_control=control))
    stream.receive("ready")
    before = time.monotonic()
    clock = pb.Clock(left_us=30_000_000, bank_us=50_000_000, opponents_us={"b": 1_500_000})
    move = ask(stream, match, clock=clock)
    [bot] = Timed.made
    assert isinstance(bot, Timed)
    assert bot.clock.opponents == {"b": 1.5}
    assert 25 < bot.left <= 29.95
    assert 0 < bot.budget <= 50 / 25 + 0.08 - 0.05
    assert before + 30 <= bot.clock.deadline <= time.monotonic() + 30
    assert 50_000 <= move.own_us < 5_000_000
    ask_again = match.request(clock=pb.Clock())
    ask_again.ply = 1
    stream.send(move_request=ask_again)
    stream.receive("move")
    assert bot.left == bot.clock.deadline == math.inf
    stream.goodbye()


def test_three_seats_that_move_at_once(arena: Arena, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Third(First):
        def choose(self, state: Any, clock: Clock) -> Any:  # noqa: ARG002
            return state.legal_moves(self.seat)[1]

    monkeypatch.syspath_prepend(SUPPORT)
    run(Third)
    stream, match = arena.accept(), Match(game="tiny", seats=3)
    assert stream.welcome().rules["tiny"] == match.game.rules
    stream.send(game_started=match.started("c"))
    stream.receive("ready")
    assert ask(stream, match, seat="c").move == "paper"
    played = match.play("a rock b rock c paper")
    assert ask(stream, match, played, seat="c").ply == 1
    stream.send(game_over=match.over(ranks=[2, 2, 1], scores=[0, 0, 2]))
    stream.send(game_started=Match("h2").started())
    stream.receive("ready")
    stream.goodbye()
    assert Third.made[0].results[0].won


def test_a_slow_load_comes_before_the_first_ready(arena: Arena, run: Run) -> None:
    loaded = threading.Event()

    class Slow(First):
        @classmethod
        def load(cls, options: Any) -> None:
            assert options == {"n": 2}
            time.sleep(0.3)
            loaded.set()

    run(Slow)
    stream, match = arena.accept(), Match()
    stream.welcome(n=pb.Option(integer=2))
    stream.send(game_started=match.started())
    assert not loaded.is_set()
    stream.receive("ready")
    assert loaded.is_set()
    stream.goodbye()


def test_two_games_at_once(arena: Arena, run: Run) -> None:
    meeting = threading.Barrier(2)

    class Both(First):
        def choose(self, state: Any, clock: Clock) -> Any:
            meeting.wait(WAIT)  # passes only when both games think at the same time
            return super().choose(state, clock)

    running = run(Both, games_at_once=2)
    stream, matches = arena.accept(), [Match("1"), Match("2")]
    stream.welcome()
    for match in matches:
        stream.send(game_started=match.started())
        stream.receive("ready")
    for match in matches:
        stream.send(move_request=match.request())
    assert {stream.receive("move").handle for _ in matches} == {"1", "2"}
    for match in matches:
        stream.send(game_over=match.over())
    stream.goodbye()
    assert running.finish() == 0


def test_a_game_in_a_thread_survives_a_lost_stream(arena: Arena, run: Run) -> None:
    go = threading.Event()

    class Away(First):
        def choose(self, state: Any, clock: Clock) -> Any:
            assert go.wait(WAIT)
            return super().choose(state, clock)

    running = run(Away, games_at_once=2)
    stream, match = arena.accept(), Match()
    begin(stream, match)
    stream.send(move_request=match.request())
    stream.fail()
    stream = arena.accept()
    stream.welcome()
    stream.send(game_started=match.started())
    stream.send(move_request=match.request())
    go.set()
    answers = [stream.requests.get(timeout=WAIT) for _ in range(3)]
    kinds = [answer.WhichOneof("message") for answer in answers if answer]
    assert kinds == ["move", "ready", "move"]  # the first reply counts
    stream.goodbye()
    assert running.finish() == 0
    assert len(Away.made[0].positions) == 1


def test_a_game_that_ended_while_away_is_let_go(arena: Arena, run: Run) -> None:
    class Forgetting(First):
        pass

    run(Forgetting)
    stream = arena.accept()
    begin(stream, Match("1"))
    stream.fail()
    stream = arena.accept()
    begin(stream, Match("2"))
    stream.send(move_request=Match("1").request())
    assert ask(stream, Match("2")).handle == "2"
    stream.goodbye()


def test_an_author_may_make_a_bot_in_a_test() -> None:
    class Taking(First):
        pass

    bot = Taking()
    match = Match()
    bot.log("hello")
    assert str(bot.choose(match.state, Clock(left=0.1))) == str(match.state.legal_moves()[0])
    assert (bot.seat, bot.seed, bot.options, bot.log_lines) == ("a", 0, {}, ["hello"])
